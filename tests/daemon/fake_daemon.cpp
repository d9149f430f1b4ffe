// SPDX-License-Identifier: Apache-2.0
#include "daemon/fake_daemon.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "transport/tcp.hpp"

namespace manymod::signd::test {

FakeDaemon::FakeDaemon(const Folder& folder, std::uint32_t max_outstanding)
    : context_(TlsContext::Side::server,
               TlsFiles{folder.at("ca.pem"), folder.at("server.pem"), folder.at("server.key"), ""}),
      max_outstanding_(max_outstanding),
      listener_(listen_tcp({"127.0.0.1", "0"}, 16)),
      thread_([this] { run(); }) {}

FakeDaemon::~FakeDaemon() {
  stopping_ = true;
  thread_.join();
}

std::string FakeDaemon::address() const {
  return "tcp://127.0.0.1:" + std::to_string(local_port(listener_.get()));
}

std::vector<RequestHeader> FakeDaemon::requests() const {
  const std::scoped_lock lock(mutex_);
  return requests_;
}

void FakeDaemon::run() {
  while (!stopping_) {
    pollfd waited{listener_.get(), POLLIN, 0};
    static_cast<void>(poll(&waited, 1, 1));
    if (ending_.exchange(false)) open_.clear();
    Descriptor accepted(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (accepted) {
      open_.push_back(std::make_unique<Connection>());
      open_.back()->stream = std::make_unique<TlsStream>(context_, std::move(accepted));
      ++connections_;
    }
    for (const auto& connection : open_) serve(*connection);
    std::erase_if(open_, [](const auto& connection) { return connection->ended; });
  }
}

void FakeDaemon::serve(Connection& connection) {
  std::array<std::uint8_t, 4096> bytes;
  for (;;) {
    const Transfer got = connection.stream->receive(bytes);
    if (got.step == Step::ended) connection.ended = true;
    if (got.step != Step::done) break;
    connection.reader.append(ByteSpan(bytes).first(got.bytes));
    while (const auto frame = connection.reader.next()) take(connection, *frame);
  }
  if (!answers || connection.ended) return;
  Bytes out;
  for (const std::uint64_t id : connection.waiting) append_answer(out, id, Status::ok, {});
  connection.waiting.clear();
  send_all(connection, out);
}

void FakeDaemon::take(Connection& connection, const Frame& frame) {
  if (frame.type == FrameType::hello) {
    Welcome welcome;
    welcome.max_outstanding = max_outstanding_;
    welcome.max_input = welcome.max_output = 1024;
    return send_all(connection, encode_frame(FrameType::welcome, encode(welcome)));
  }
  if (frame.type != FrameType::request) {
    connection.ended = true;
    return;
  }
  Bytes input, out;
  const RequestHeader header = decode_request(frame.body, input);
  if (header.key != KeyId{}) {
    connection.waiting.push_back(header.id);
    const std::scoped_lock lock(mutex_);
    requests_.push_back(header);
    return;
  }
  ++probes_;
  if (!shows_life) return;
  append_answer(out, header.id, Status::unknown_key, {});
  send_all(connection, out);
}

void FakeDaemon::send_all(Connection& connection, ByteSpan bytes) {
  while (!bytes.empty() && !connection.ended) {
    const Transfer sent = connection.stream->send(bytes);
    connection.ended = sent.step == Step::ended;
    bytes = bytes.subspan(sent.bytes);
  }
}

}  // namespace manymod::signd::test

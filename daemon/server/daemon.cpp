// SPDX-License-Identifier: Apache-2.0
#include "server/daemon.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "server/log.hpp"
#include "server/metrics.hpp"

namespace manymod::signd {
namespace {

using namespace std::chrono_literals;

constexpr auto kVisit = 10s;  // a visitor's whole time
constexpr int kBacklog = 1024;
constexpr std::uint32_t kLongestEcResult = 160;

[[noreturn]] void fail(const std::string& what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
}

Descriptor checked(int number, const char* what) {
  if (number < 0) fail(what);
  return Descriptor(number);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) fail(path, ENAMETOOLONG);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

// A socket that no process listens on any more is removed; anything else at its path is not.
void remove_stale(const std::string& path, const sockaddr_un& address) {
  struct stat found{};
  if (lstat(path.c_str(), &found) != 0) return;
  if (!S_ISSOCK(found.st_mode)) fail(path, EEXIST);
  const Descriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int connected = connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (connected == 0 || errno != ECONNREFUSED) fail(path, EADDRINUSE);
  unlink(path.c_str());
}

// The welcome of a client with rings, and their memory.
void send_welcome(int socket, const Welcome& sizes, int memory) {
  Bytes frame = encode_frame(FrameType::welcome, encode(sizes));
  iovec part{frame.data(), frame.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(rights), &memory, sizeof memory);
  // Nothing was sent before: there is room for the whole frame.
  if (sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(frame.size())) {
    fail("sending a welcome");
  }
}

std::string name_of(const Peer& peer) {
  return "process " + std::to_string(peer.process) + " of user " + std::to_string(peer.user);
}

}  // namespace

Daemon::Daemon(std::string config_path)
    : config_path_(std::move(config_path)),
      poll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      nudge_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  const Config config = load_config(config_path_);
  limits_ = {config.max_outstanding, std::max(config.max_message, config.max_key_bits / 8),
             std::max(kLongestEcResult, config.max_key_bits / 8)};
  max_connections_ = config.max_connections;
  max_connections_per_user_ = config.max_connections_per_user;
  socket_mode_ = config.socket_mode;
  next_report_ = Clock::now() + config.interval;
  shared_.generation.replace(std::make_shared<const Generation>(config));
  watch(nudge_.get(), EPOLLIN, false);
  listen_on(config.socket);
  for (unsigned i = 0; i < config.readers; ++i) {
    readers_.push_back(std::make_unique<Reader>(shared_, [this](const Peer& peer) { let_go(peer); }));
  }
  log_line(Level::notice, "serves " + std::to_string(config.keys.size()) + " keys at " + config.socket);
}

// Readers end first, so that nothing new reaches a service; each service then answers what it has.
Daemon::~Daemon() {
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
  visitors_.clear();
  readers_.clear();
  retired_.push_back(shared_.generation.replace(nullptr));
  for (const auto& generation : retired_) static_cast<void>(mm_service_close(generation->service().get(), 1));
  while (!retired_.empty()) retire();
}

void Daemon::listen_on(const std::string& path) {
  const sockaddr_un address = address_of(path);
  remove_stale(path, address);
  listener_ = checked(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
  // Nobody connects before the mode is set: the umask keeps others out.
  const mode_t before = umask(0777);
  const int bound = bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  umask(before);
  if (bound != 0) fail(path);
  socket_path_ = path;
  if (chmod(path.c_str(), socket_mode_) != 0 || listen(listener_.get(), kBacklog) != 0) fail(path);
  watch(listener_.get(), EPOLLIN, false);
}

void Daemon::watch(int file, unsigned events, bool known) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = file;
  if (epoll_ctl(poll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, file, &event) != 0) fail("epoll_ctl");
}

void Daemon::stop() noexcept {
  stopping_ = true;
  eventfd_write(nudge_.get(), 1);
}

void Daemon::reload() noexcept {
  reloading_ = true;
  eventfd_write(nudge_.get(), 1);
}

int Daemon::wait_ms() const {
  if (!retired_.empty()) return 20;
  const auto next = visitors_.empty() ? next_report_ : std::min(next_report_, Clock::now() + 1s);
  return left_ms(next);
}

void Daemon::run() {
  std::array<epoll_event, 64> events;
  while (!stopping_) {
    const int found = epoll_wait(poll_.get(), events.data(), events.size(), wait_ms());
    for (int i = 0; i < found; ++i) {
      const int file = events[static_cast<std::size_t>(i)].data.fd;
      if (file == listener_.get()) {
        accept_all();
      } else if (file == nudge_.get()) {
        eventfd_t count = 0;
        eventfd_read(nudge_.get(), &count);
      } else {
        advance(file);
      }
    }
    if (reloading_.exchange(false)) load_again();
    retire();
    end_overdue();
    if (Clock::now() >= next_report_) report();
  }
  report();
}

// ---- connections -----------------------------------------------------------------------------------------

void Daemon::accept_all() {
  for (;;) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      log_line(Level::error, std::string("accept: ") + std::strerror(errno));
      std::this_thread::sleep_for(10ms);  // without descriptors the listener stays ready
      return;
    }
    try {
      admit(std::move(socket));
    } catch (const std::exception& error) {
      log_line(Level::error, std::string("a connection: ") + error.what());
    }
  }
}

void Daemon::admit(Descriptor socket) {
  Peer peer = peer_of(socket.get());
  bool room = false;
  {
    const std::scoped_lock lock(counting_);
    std::size_t& own = connections_[peer.user];
    room = all_connections_ < max_connections_ && own < max_connections_per_user_;
    if (room) {
      ++own;
      ++all_connections_;
    }
  }
  if (!room) {
    ++shared_.counters.refused_connections;
    const Bytes frame = text_frames(FrameType::refusal, "there are too many connections");
    static_cast<void>(send(socket.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    return;
  }
  const int number = socket.get();
  try {
    watch(number, EPOLLIN, false);
    visitors_.try_emplace(number, std::move(socket), peer, Clock::now() + kVisit);
  } catch (...) {
    let_go(peer);
    throw;
  }
}

void Daemon::let_go(const Peer& peer) {
  const std::scoped_lock lock(counting_);
  --all_connections_;
  const auto own = connections_.find(peer.user);
  if (--own->second == 0) connections_.erase(own);
}

void Daemon::advance(int socket) {
  const auto found = visitors_.find(socket);
  if (found == visitors_.end()) return;
  Visitor& visitor = found->second;
  try {
    const Visitor::Next next = visitor.advance(*this);
    if (next != Visitor::Next::close) {
      watch(socket, next == Visitor::Next::read ? EPOLLIN : EPOLLOUT, true);
      return;
    }
  } catch (const ProtocolError& error) {
    ++shared_.counters.protocol_errors;
    log_line(Level::warning, name_of(visitor.peer()) + " is disconnected: " + error.what());
  } catch (const std::exception& error) {
    log_line(Level::error, name_of(visitor.peer()) + ": " + error.what());
  }
  const Peer peer = visitor.peer();
  const bool counted_on = visitor.has_rings();
  visitors_.erase(found);
  if (!counted_on) let_go(peer);
}

void Daemon::end_overdue() {
  const auto now = Clock::now();
  for (auto at = visitors_.begin(); at != visitors_.end();) {
    if (at->second.until() > now) {
      ++at;
      continue;
    }
    let_go(at->second.peer());
    at = visitors_.erase(at);
  }
}

// ---- what visitors ask for -------------------------------------------------------------------------------

Bytes Daemon::keys_for(const Peer& peer) {
  Bytes frames, body;
  const auto flush = [&](bool last) {
    const Bytes frame = encode_frame(FrameType::keys, body, last);
    frames.insert(frames.end(), frame.begin(), frame.end());
    body.clear();
  };
  const auto generation = shared_.generation.get();
  for (const ServedKey& key : generation->keys()) {
    const std::uint32_t allowed = key.allowed(peer);
    if (allowed == 0) continue;
    Bytes entry;
    append(entry, KeyEntry{key.id, allowed, key.name, key.subject_public_key_info});
    if (body.size() + entry.size() > kMaxDaemonBody) flush(false);
    body.insert(body.end(), entry.begin(), entry.end());
  }
  flush(true);
  return frames;
}

Bytes Daemon::metrics_for(const Peer& peer) {
  const auto generation = shared_.generation.get();
  if (!generation->observes(peer))
    return text_frames(FrameType::refusal, "this user may not read the metrics");
  return text_frames(FrameType::metrics, metrics_text(shared_.counters, shared_.uses, *generation));
}

Bytes Daemon::welcome() {
  Welcome sizes = ring_sizes(limits_);
  sizes.request_bytes = sizes.answer_bytes = 0;
  return encode_frame(FrameType::welcome, encode(sizes));
}

// The visitor counts as a connection, which its client goes on to be.
void Daemon::give_rings(Descriptor socket, const Peer& peer) {
  try {
    const Welcome sizes = ring_sizes(limits_);
    const Descriptor memory = make_ring_file(sizes);
    epoll_ctl(poll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
    const auto connection =
        std::make_shared<Connection>(std::move(socket), peer, limits_, sizes, memory.get(), shared_.counters);
    send_welcome(connection->socket(), sizes, memory.get());
    ++shared_.counters.connections;
    readers_[next_reader_++ % readers_.size()]->add(connection);
  } catch (...) {
    let_go(peer);
    throw;
  }
}

// ---- generations -----------------------------------------------------------------------------------------

void Daemon::load_again() {
  try {
    const Config config = load_config(config_path_);
    if (config.max_key_bits / 8 > limits_.max_output) {
      throw std::runtime_error("max_key_bits can be raised by a restart only");
    }
    auto next = std::make_shared<const Generation>(config);
    retired_.push_back(shared_.generation.replace(std::move(next)));
    ++shared_.counters.reloads;
    log_line(Level::notice, "reloaded: serves " + std::to_string(config.keys.size()) + " keys");
  } catch (const std::exception& error) {
    ++shared_.counters.failed_reloads;
    log_line(Level::error, std::string("the reload failed, nothing has changed: ") + error.what());
  }
}

// Requests hold their generation: one that only this list holds has none, and gets no more. It is destroyed
// here, as a service must not be destroyed in its own callback.
void Daemon::retire() {
  std::erase_if(retired_, [](const auto& generation) { return generation.use_count() == 1; });
}

void Daemon::report() {
  const auto generation = shared_.generation.get();
  next_report_ = Clock::now() + generation->config().interval;
  for (const Use& use : shared_.uses.news()) {
    log_line(Level::info, "audit key=" + use.key + " user=" + std::to_string(use.user) +
                              " operation=" + operation_name(static_cast<std::size_t>(use.operation)) +
                              " requests=" + std::to_string(use.accepted) +
                              " denied=" + std::to_string(use.denied));
  }
  const std::string& file = generation->config().metrics_file;
  if (file.empty()) return;
  if (!replace_file(file, metrics_text(shared_.counters, shared_.uses, *generation))) {
    log_line(Level::error, "the metrics cannot be written to " + file);
  }
}

}  // namespace manymod::signd

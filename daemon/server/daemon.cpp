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
#include "server/ring_connection.hpp"
#include "server/stream_connection.hpp"

namespace manymod::signd {
namespace {

using namespace std::chrono_literals;

// How long a connection may be pending; for clients of other hosts [tcp] says it.
constexpr auto kPendingTime = 10s;
constexpr int kBacklog = 1024;
constexpr int kTcpBuffer = 256 * 1024;  // thousands of requests, or of answers

[[noreturn]] void fail(const std::string& what, int error = errno) {
  throw std::system_error(error, std::generic_category(), what);
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

}  // namespace

Daemon::Daemon(std::string config_path)
    : config_path_(std::move(config_path)),
      poll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup_event_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  const Config config = load_config(config_path_);
  limits_ = limits_of(config);
  accounts_.emplace(config.max_connections, config.max_connections_per_user);
  socket_mode_ = config.socket_mode;
  pending_time_of_remote_ = config.tcp.stall;
  is_sandboxed_ = config.sandbox;
  is_cpu_alone_ = config.device == "cpu";
  has_tokens_ = config.has_tokens();
  next_report_ = Clock::now() + config.interval;
  shared_.generation.replace(std::make_shared<const Generation>(config));
  watch(wakeup_event_.get(), EPOLLIN, false);
  listen_on(config.socket);
  listen_on_tcp(config);
  for (unsigned i = 0; i < config.readers; ++i) {
    readers_.push_back(std::make_unique<Reader>(shared_));
  }
  log_line(Level::notice, "serves " + std::to_string(config.keys.size()) + " keys at " + config.socket);
}

// Readers end first, so that nothing new reaches a service; each service then answers what it has.
Daemon::~Daemon() {
  if (!socket_path_.empty()) unlink(socket_path_.c_str());
  pending_.clear();
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

void Daemon::listen_on_tcp(const Config& config) {
  if (config.tcp.listen.empty()) return;
  tcp_listener_ = listen_tcp(parse_endpoint(config.tcp.listen), kBacklog);
  watch(tcp_listener_.get(), EPOLLIN, false);
}

void Daemon::watch(int file, unsigned events, bool known) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = file;
  if (epoll_ctl(poll_.get(), known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, file, &event) != 0) fail("epoll_ctl");
}

void Daemon::stop() noexcept {
  stopping_ = true;
  eventfd_write(wakeup_event_.get(), 1);
}

void Daemon::reload() noexcept {
  reloading_ = true;
  eventfd_write(wakeup_event_.get(), 1);
}

int Daemon::wait_ms() const {
  if (!retired_.empty()) return 20;
  if (pending_.empty()) return left_ms(next_report_);
  const std::chrono::milliseconds look = std::min<std::chrono::milliseconds>(1s, pending_time_of_remote_);
  return left_ms(std::min(next_report_, Clock::now() + look));
}

void Daemon::run() {
  std::array<epoll_event, 64> events;
  while (!stopping_) {
    const int found = epoll_wait(poll_.get(), events.data(), events.size(), wait_ms());
    for (int i = 0; i < found; ++i) {
      const int file = events[static_cast<std::size_t>(i)].data.fd;
      if (file == listener_.get() || file == tcp_listener_.get()) {
        accept_all(file == listener_.get() ? listener_ : tcp_listener_);
      } else if (file == wakeup_event_.get()) {
        eventfd_t count = 0;
        eventfd_read(wakeup_event_.get(), &count);
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

void Daemon::accept_all(const Descriptor& listener) {
  const bool is_remote = &listener == &tcp_listener_;
  // If more connections wait, epoll reports the listener again: a flood of connections must not keep this
  // thread from its other work.
  constexpr int kAtATime = 64;
  for (int i = 0; i < kAtATime; ++i) {
    Descriptor socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) return;
      const int failure = errno;
      shared_.connection_log.line(Level::error,
                                  [&] { return std::string("accept: ") + std::strerror(failure); });
      std::this_thread::sleep_for(10ms);  // without descriptors the listener stays ready
      return;
    }
    try {
      admit(std::move(socket), is_remote);
    } catch (const std::exception& error) {
      shared_.connection_log.line(Level::error, [&] { return std::string("a connection: ") + error.what(); });
    }
  }
}

// Clients that connect and never show a certificate must not keep others out. If unauthenticated
// clients have taken all of their places, the oldest of them is disconnected; if one address has taken all of
// its places, the oldest of that address. Honest clients are not affected, because they show their
// certificate within a short time.
void Daemon::make_room(const Peer& newcomer) {
  const Accounts::Room room = accounts_->room_for(newcomer);
  if (room == Accounts::Room::there) return;
  auto oldest = pending_.end();
  for (auto at = pending_.begin(); at != pending_.end(); ++at) {
    const Peer& peer = at->second.peer();
    if (!peer.is_unauthenticated()) continue;
    if (room == Accounts::Room::full_for_it && peer.principal != newcomer.principal) continue;
    if (oldest == pending_.end() || at->second.until() < oldest->second.until()) oldest = at;
  }
  if (oldest == pending_.end()) return;
  ++shared_.counters.refused_connections;
  pending_.erase(oldest);
}

// A remote client is closed without a message: that would need a TLS handshake, which a refusal is not
// worth.
void Daemon::refuse(int socket, bool is_remote) {
  ++shared_.counters.refused_connections;
  if (is_remote) return;
  const Bytes frame = text_frames(FrameType::refusal, "there are too many connections");
  static_cast<void>(send(socket, frame.data(), frame.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

void Daemon::admit(Descriptor socket, bool is_remote) {
  const int number = socket.get();
  Peer peer = is_remote ? peer_of_address(peer_address(number)) : peer_of_process(number);
  auto context = is_remote ? shared_.generation.get()->tls() : nullptr;
  if (is_remote && context == nullptr) return;  // a reload took [tcp] away
  if (is_remote) make_room(peer);
  Place place = accounts_->admit(peer);
  if (!place) return refuse(number, is_remote);
  watch(number, EPOLLIN, false);
  if (is_remote) {
    set_tcp_options(number);
    limit_tcp_buffers(number, kTcpBuffer);
    pending_.try_emplace(number, std::move(socket), std::move(context), peer, std::move(place),
                         Clock::now() + pending_time_of_remote_);
  } else {
    pending_.try_emplace(number, std::move(socket), peer, std::move(place), Clock::now() + kPendingTime);
  }
}

// Until its certificate is known, the connection counts towards the places of its address.
Place Daemon::recognise(const Peer& peer) {
  Place place = accounts_->admit(peer);
  if (!place) ++shared_.counters.refused_connections;
  return place;
}

void Daemon::advance(int socket) {
  const auto found = pending_.find(socket);
  if (found == pending_.end()) return;
  PendingConnection& connection = found->second;
  try {
    const PendingConnection::Next next = connection.advance(*this);
    if (next != PendingConnection::Next::close) {
      watch(socket, next == PendingConnection::Next::read ? EPOLLIN : EPOLLOUT, true);
      return;
    }
    note_end(connection, nullptr);
  } catch (const ProtocolError& error) {
    ++shared_.counters.protocol_errors;
    note_end(connection, error.what());
  } catch (const std::exception& error) {
    shared_.connection_log.line(Level::error,
                                [&] { return name_of(connection.peer()) + ": " + error.what(); });
  }
  pending_.erase(found);
}

void Daemon::note_end(const PendingConnection& connection, const char* error) {
  if (error != nullptr) {
    shared_.connection_log.line(Level::warning,
                                [&] { return name_of(connection.peer()) + " is disconnected: " + error; });
    return;
  }
  const std::string why = connection.failed_handshake();
  if (why.empty()) return;
  ++shared_.counters.failed_handshakes;
  handshake_log_.line(Level::warning, [&] {
    return "a TLS handshake with " + connection.peer().address + " failed: " + why;
  });
}

void Daemon::end_overdue() {
  const auto now = Clock::now();
  for (auto at = pending_.begin(); at != pending_.end();) {
    if (at->second.until() > now) {
      ++at;
      continue;
    }
    note_end(at->second, nullptr);
    at = pending_.erase(at);
  }
}

// ---- what pending connections ask for --------------------------------------------------------------------

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

Bytes Daemon::welcome() { return encode_frame(FrameType::welcome, encode(welcome_of(limits_))); }

void Daemon::give_rings(Descriptor socket, const Peer& peer, Place place) {
  const Welcome sizes = ring_sizes(limits_);
  const Descriptor memory = make_ring_file(sizes);
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
  const auto connection = std::make_shared<RingConnection>(std::move(socket), peer, std::move(place), limits_,
                                                           sizes, memory.get(), shared_.counters);
  send_welcome(connection->socket(), sizes, memory.get());
  hand_over(connection);
}

void Daemon::give_stream(std::unique_ptr<TlsStream> stream, std::shared_ptr<const TlsContext> context,
                         const Peer& peer, Place place) {
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, stream->socket(), nullptr);
  hand_over(std::make_shared<StreamConnection>(std::move(stream), std::move(context), peer, std::move(place),
                                               limits_, shared_.generation, shared_.counters));
}

void Daemon::hand_over(std::shared_ptr<Connection> connection) {
  ++shared_.counters.connections;
  readers_[next_reader_++ % readers_.size()]->add(std::move(connection));
}

// ---- generations -----------------------------------------------------------------------------------------

void Daemon::load_again() {
  try {
    const Config config = load_config(config_path_);
    if (config.max_key_bytes() > std::min(limits_.max_input, limits_.max_output)) {
      throw std::runtime_error("max_key_bits can be raised by a restart only");
    }
    if (!config.tcp.listen.empty() && !tcp_listener_) {
      throw std::runtime_error("[tcp] can be added by a restart only");
    }
    if (is_sandboxed_ && (config.device == "cpu") != is_cpu_alone_) {
      throw std::runtime_error(
          "with the sandbox of the start, device can be changed from and to cpu by a restart only");
    }
    if (is_sandboxed_ && is_cpu_alone_ && config.has_tokens() && !has_tokens_) {
      throw std::runtime_error(
          "with the sandbox of the start, the first key of a token can be added by a restart only");
    }
    auto next = std::make_shared<const Generation>(config);
    retired_.push_back(shared_.generation.replace(std::move(next)));
    pending_time_of_remote_ = config.tcp.stall;
    next_report_ = std::min(next_report_, Clock::now() + config.interval);
    ++shared_.counters.reloads;
    log_line(Level::notice, "reloaded: serves " + std::to_string(config.keys.size()) + " keys");
  } catch (const std::exception& error) {
    ++shared_.counters.failed_reloads;
    log_line(Level::error, std::string("the reload failed, nothing has changed: ") + error.what());
  }
}

// Each request holds a reference to its generation: a generation that only this list holds has no requests
// and gets no more. It is destroyed here, because a service must not be destroyed in one of its own
// callbacks.
void Daemon::retire() {
  std::erase_if(retired_, [](const auto& generation) { return generation.use_count() == 1; });
}

void Daemon::report() {
  const auto generation = shared_.generation.get();
  next_report_ = Clock::now() + generation->config().interval;
  for (const Use& use : shared_.uses.news()) {
    log_line(Level::info, "audit key=" + use.key + " " + audit_name(use.principal) +
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

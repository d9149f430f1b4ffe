// SPDX-License-Identifier: Apache-2.0
#include "server/reader.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <tuple>

#include "server/log.hpp"

namespace manymod::signd {
namespace {

constexpr std::size_t kSweep = 256;  // requests of one client before the next one's turn
constexpr auto kLookInterval = std::chrono::milliseconds(500);  // for clients that are overdue
constexpr std::size_t kOpenGroups = 16;  // operations and timeouts that one sweep gathers for

void watch(int poll, int file, std::uint32_t events, void* user) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = user;
  if (epoll_ctl(poll, EPOLL_CTL_ADD, file, &event) != 0) {
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }
}

}  // namespace

Reader::Reader(Shared& shared)
    : shared_(shared),
      poll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup_event_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  watch(poll_.get(), wakeup_event_.get(), EPOLLIN, nullptr);
  thread_ = std::thread([this] { run(); });
}

Reader::~Reader() {
  stopping_ = true;
  eventfd_write(wakeup_event_.get(), 1);
  thread_.join();
}

void Reader::add(std::shared_ptr<Connection> connection) {
  {
    const std::scoped_lock lock(mutex_);
    new_.push_back(std::move(connection));
  }
  eventfd_write(wakeup_event_.get(), 1);
}

void Reader::run() {
  while (!stopping_) {
    sweep_all();
    drop_overdue();
    const bool awake = std::ranges::any_of(clients_, [](const auto& client) { return client->awake; });
    const bool watches = next_look_ != Clock::time_point{};
    wait(awake ? 0 : watches ? left_ms(next_look_) : -1);
  }
}

// Only clients of other hosts can be overdue (Connection::is_watched).
void Reader::drop_overdue() {
  const auto now = Clock::now();
  if (now < next_look_) return;
  bool watches = false;
  for (const auto& client : clients_) {
    if (!client->connection->is_watched()) continue;
    watches = true;
    if (const char* const why = client->connection->overdue(now)) drop(*client, why);
  }
  const auto stall = shared_.generation.get()->config().tcp.stall;
  next_look_ = watches ? now + std::min(kLookInterval, stall) : Clock::time_point{};
  std::erase_if(clients_, [](const auto& client) { return client->connection == nullptr; });
}

void Reader::join_new() {
  eventfd_t count = 0;
  eventfd_read(wakeup_event_.get(), &count);
  std::vector<std::shared_ptr<Connection>> joining;
  {
    const std::scoped_lock lock(mutex_);
    joining.swap(new_);
  }
  for (std::shared_ptr<Connection>& connection : joining) {
    try {
      auto client = std::make_unique<Client>(Client{std::move(connection)});
      const Connection& joined = *client->connection;
      watch(poll_.get(), joined.socket(), joined.events(), client.get());
      clients_.push_back(std::move(client));
    } catch (const std::exception& error) {  // no memory
      log_line(Level::error, error.what());
    }
  }
}

void Reader::wait(int limit_ms) {
  std::array<epoll_event, 64> events;
  const int found = epoll_wait(poll_.get(), events.data(), events.size(), limit_ms);
  for (int i = 0; i < found; ++i) {
    if (events[static_cast<std::size_t>(i)].data.ptr == nullptr) {
      join_new();
    } else {
      wake(*static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr));
    }
  }
  std::erase_if(clients_, [](const auto& client) { return client->connection == nullptr; });
}

void Reader::wake(Client& client) {
  client.connection->wake_up();
  client.awake = true;
  if (client.connection->has_ended()) drop(client, nullptr);
}

void Reader::sweep_all() {
  for (const auto& client : clients_) {
    if (!client->awake) continue;
    try {
      sweep(*client);
    } catch (const ProtocolError& error) {
      ++shared_.counters.protocol_errors;
      drop(*client, error.what());
    } catch (const std::exception& error) {  // no memory: the client may come again
      drop(*client, error.what());
    }
  }
  std::erase_if(clients_, [](const auto& client) { return client->connection == nullptr; });
}

void Reader::drop(Client& client, const char* why) {
  if (why != nullptr) {
    shared_.connection_log.line(
        Level::warning, [&] { return name_of(client.connection->peer()) + " is disconnected: " + why; });
  }
  epoll_ctl(poll_.get(), EPOLL_CTL_DEL, client.connection->socket(), nullptr);
  shutdown(client.connection->socket(), SHUT_RDWR);  // answers under way may still hold the connection
  client.connection.reset();
  client.awake = false;
}

void Reader::sweep(Client& client) {
  connection_ = client.connection;
  generation_ = shared_.generation.get();
  const auto now = Clock::now();
  RequestHeader header;
  Bytes input;
  std::size_t taken = 0;
  try {
    while (taken < kSweep && connection_->next(header, input)) {
      handle(header, input, now);
      ++taken;
    }
  } catch (...) {
    end_sweep(*client.connection);
    throw;
  }
  end_sweep(*client.connection);
  if (client.connection->has_ended()) return drop(client, nullptr);
  if (taken == 0 && client.connection->fall_asleep()) client.awake = false;
}

// If memory runs out here, the client is disconnected. Nothing of its requests is left for the next sweep in
// any case.
void Reader::end_sweep(Connection& connection) {
  const auto generation = std::exchange(generation_, nullptr);  // which the uses point into
  const auto uses = std::exchange(uses_, {});
  auto groups = std::exchange(groups_, {});
  connection_.reset();
  connection.publish();
  for (const SweepUse& use : uses) {  // before their answers
    shared_.uses.add(use.key->name, connection.peer().principal, use.operation, use.accepted, use.denied);
  }
  for (auto& group : groups) Group::submit(std::move(group));
}

void Reader::handle(const RequestHeader& header, ByteSpan input, Clock::time_point now) {
  const Status status = group_up(header, input, now);
  if (status == Status::ok) return;
  connection_->answer(
      1, [&](std::size_t) { return std::tuple<std::uint64_t, Status, ByteSpan>{header.id, status, {}}; });
}

// Adds a request to the group of its operation and timeout. `header` is this process's own copy, which the
// client cannot change any more. @return Status::ok if the request is in a group, else its answer
Status Reader::group_up(const RequestHeader& header, ByteSpan input, Clock::time_point now) {
  const Config& config = generation_->config();
  if (!connection_->may_ask(now, config.rate, config.burst)) return Status::busy;
  const ServedKey* const key = generation_->find(header.key);
  if (key == nullptr) return Status::unknown_key;
  const Operation operation = header.scheme.operation;
  if (static_cast<std::size_t>(operation) >= kOperations) return Status::unsupported;
  if ((key->suitable & bit_of(operation)) == 0) return Status::unsupported;
  const bool allowed = (key->allowed(connection_->peer()) & bit_of(operation)) != 0;
  note_use(*key, operation, allowed);
  if (!allowed) return Status::denied;
  const auto served = generation_->operation(header.scheme);
  if (!served) return Status::unsupported;
  const auto fits = [&](const auto& group) { return group->takes(*served, header.timeout_ms); };
  auto group = std::ranges::find_if(groups_, fits);
  if (group == groups_.end()) {
    if (groups_.size() == kOpenGroups) {
      auto oldest = std::move(groups_.front());
      groups_.erase(groups_.begin());  // first: submit() may throw, and end_sweep() submits what is left
      Group::submit(std::move(oldest));
    }
    group = groups_.insert(groups_.end(),
                           std::make_unique<Group>(generation_, connection_, *served, header.timeout_ms));
  }
  (*group)->add(header.id, key->index[static_cast<std::size_t>(served->family)], input);
  return Status::ok;
}

void Reader::note_use(const ServedKey& key, Operation operation, bool accepted) {
  const auto same = [&](const SweepUse& use) { return use.key == &key && use.operation == operation; };
  auto use = std::ranges::find_if(uses_, same);
  if (use == uses_.end()) use = uses_.insert(uses_.end(), {&key, operation, 0, 0});
  ++(accepted ? use->accepted : use->denied);
  if (!generation_->config().audit_requests) return;
  const Peer& peer = connection_->peer();
  const std::string where =
      peer.is_remote ? " address=" + peer.address : " process=" + std::to_string(peer.process);
  log_line(Level::info, "audit request key=" + key.name + " " + audit_name(peer.principal) + where +
                            " operation=" + operation_name(static_cast<std::size_t>(operation)) +
                            (accepted ? " accepted" : " denied"));
}

}  // namespace manymod::signd

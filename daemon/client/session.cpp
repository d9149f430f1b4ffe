// SPDX-License-Identifier: Apache-2.0
#include "client/session.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>
#include <utility>

#include "client/quiet_thread.hpp"

namespace manymod::signd {
namespace {

using namespace std::chrono_literals;

constexpr auto kFirstPause = 5ms, kLongestPause = 100ms;
constexpr auto kTick = 50ms;
constexpr std::size_t kDeliveries = 64;  // answers that are taken under one lock

void write_one(int event) {
  const std::uint64_t one = 1;
  while (write(event, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

// Bytes that are left stay readable, so that the next poll() returns at once.
void read_some(int pipe) {
  std::array<std::uint8_t, 512> bytes;
  while (read(pipe, bytes.data(), bytes.size()) < 0 && errno == EINTR) {
  }
}

std::unique_ptr<Link> link_or_null(const Settings& settings, Clock::time_point limit) {
  try {
    return open_link(settings, limit);
  } catch (const std::exception&) {  // the daemon is away, or refuses
    return nullptr;
  }
}

std::uint32_t slot_of(std::uint64_t id) { return static_cast<std::uint32_t>(id); }

}  // namespace

Session::Session(Settings settings) : settings_(std::move(settings)), process_(getpid()) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  wakeup_read_end_ = Descriptor(ends[0]);
  wakeup_write_end_ = Descriptor(ends[1]);
  noted_ = {NotedDescriptor(), NotedDescriptor(ends[0]), NotedDescriptor(ends[1])};
}

Session::~Session() { close(); }

void Session::close() {
  Lock lock(mutex_);
  closed_ = true;
  wanted_.notify_all();
  write_one(wakeup_write_end_.get());
  if (!thread_.joinable()) return;
  std::thread ending = std::move(thread_);
  lock.unlock();
  // A completion, which runs on this thread, may destroy the client. A thread cannot join itself.
  if (ending.get_id() == std::this_thread::get_id()) {
    ending.detach();
  } else {
    ending.join();
  }
}

// Runs in a forked child, and writes to the child's copy of the memory alone. Only the first caller closes:
// a second one could close a descriptor that another thread has opened under the same number meanwhile.
void Session::close_copies() {
  if (copies_closed_.exchange(true)) return;
  for (const NotedDescriptor& copy : noted_) copy.close_copy();
}

void Session::start_thread(const Lock&) {
  if (thread_.joinable()) return;
  thread_ = quiet_thread([self = shared_from_this()] { self->run(); });
  thread_id_ = thread_.get_id();
}

// ---- requests: on the callers' threads -------------------------------------------------------------------

OutstandingPtr Session::outstanding_of(const Request& request) {
  auto made = std::make_shared<Outstanding>();
  made->header.key = request.key;
  made->header.scheme = request.scheme;
  made->header.input_bytes = static_cast<std::uint32_t>(request.input.size());
  made->header.timeout_ms =
      static_cast<std::uint32_t>(std::clamp<std::int64_t>(request.timeout.count(), 1, UINT32_MAX));
  made->input.assign(request.input.begin(), request.input.end());
  made->deadline = Clock::now() + std::chrono::milliseconds(made->header.timeout_ms);
  return made;
}

void Session::wake(Wakeups&& given) const {
  const Wakeups wakeups = std::move(given);  // so that nobody keeps a link that is lost later
  if (wakeups.daemon) wakeups.daemon->wake_daemon();
  if (wakeups.thread) write_one(wakeup_write_end_.get());
}

Status Session::enter(Lock& lock, const OutstandingPtr& request, Wakeups& wakeups) {
  if (closed_) return Status::cancelled;
  if (request->input.size() > max_input_) return Status::rejected;
  if (live_ >= max_outstanding_) return Status::busy;
  if (!link_ && lost_since_ && Clock::now() < next_attempt_ &&
      Clock::now() - *lost_since_ >= settings_.patience) {
    return Status::unavailable;
  }
  start_thread(lock);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  request->header.id = std::uint64_t{++entered_} << 32 | slot;
  request->encoded = encode(request->header);
  if (link_ && !send(lock, *request, wakeups)) return Status::busy;
  free_.pop_back();
  slots_[slot] = request;
  if (live_ == 0) awaited_since_ = Clock::now();
  ++live_;
  if (!link_) wanted_.notify_all();
  wakeups.thread = wakeups.thread || idle_;
  return Status::ok;
}

bool Session::send(Lock&, Outstanding& request, Wakeups& wakeups) {
  if (!link_->send(request.encoded, request.input)) return false;
  ++request.sends;
  const Link::Published published = link_->publish();
  if (published == Link::Published::asleep) wakeups.daemon = link_;
  if (published == Link::Published::later) wakeups.thread = wakeups.thread || asleep_;
  return true;
}

// Returns copies of the pointers, because callers free slots while they iterate.
std::vector<OutstandingPtr> Session::all_live(const Lock&) const {
  std::vector<OutstandingPtr> live;
  std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(live),
               [](const auto& slot) { return slot != nullptr; });
  return live;
}

void Session::leave(Lock&, const Outstanding& request) {
  const std::uint32_t slot = slot_of(request.header.id);
  slots_[slot].reset();
  free_.push_back(slot);
  --live_;
}

// The slot remains the request's until its answer comes or the connection ends.
void Session::withdraw(Lock& lock, Outstanding& request) {
  request.state = Outstanding::State::withdrawn;
  request.completion = nullptr;
  if (!link_) leave(lock, request);
}

Answer Session::call(const Request& request) {
  const OutstandingPtr own = outstanding_of(request);
  Lock lock(mutex_);
  Wakeups wakeups;
  const Status refused = enter(lock, own, wakeups);
  if (refused != Status::ok) return {refused, {}};
  lock.unlock();
  wake(std::move(wakeups));
  lock.lock();
  const auto answered = [&] { return own->state == Outstanding::State::delivered; };
  if (!own->answered.wait_until(lock, own->deadline, answered)) {
    withdraw(lock, *own);
    return {Status::expired, {}};
  }
  return std::move(own->answer);
}

Ticket Session::submit(const Request& request, Completion completion, int event) {
  const OutstandingPtr own = outstanding_of(request);
  own->completion = std::move(completion);
  own->event = event;
  Ticket ticket;
  ticket.session_ = shared_from_this();
  ticket.request_ = own;
  Lock lock(mutex_);
  Wakeups wakeups;
  const Status refused = enter(lock, own, wakeups);
  if (refused == Status::ok) {
    lock.unlock();
    wake(std::move(wakeups));
    return ticket;
  }
  own->state = Outstanding::State::delivered;
  own->answer = {refused, {}};
  lock.unlock();
  if (event >= 0) {
    write_one(event);
  } else {
    own->completion(std::move(own->answer));
  }
  return ticket;
}

bool Session::cancel(Outstanding& request) {
  Lock lock(mutex_);
  if (request.state == Outstanding::State::waiting) {
    withdraw(lock, request);
    return true;
  }
  if (std::this_thread::get_id() != thread_id_) {
    delivered_.wait(lock, [&] { return request.state != Outstanding::State::delivering; });
  } else if (request.state == Outstanding::State::delivering && !request.begun) {
    // A completion cancels a request that deliver() has not come to yet. Unlike in withdraw(), the slot is
    // free already, or its answer will free it.
    request.state = Outstanding::State::withdrawn;
    request.completion = nullptr;
  }
  return request.state == Outstanding::State::withdrawn;
}

bool Session::take(Outstanding& request, Answer& answer) {
  Lock lock(mutex_);
  if (request.event < 0) return false;
  // The caller may close its descriptor once it has the answer: not before that was written to.
  delivered_.wait(lock, [&] { return request.state != Outstanding::State::delivering; });
  if (request.state != Outstanding::State::delivered || request.taken) return false;
  request.taken = true;
  answer = std::move(request.answer);
  return true;
}

// ---- the thread ------------------------------------------------------------------------------------------

void Session::run() {
  Lock lock(mutex_);
  while (!closed_) {
    if (link_) {
      receive(lock);
      tick(lock);
      if (link_ && !closed_) sleep(lock);
    } else if (live_ != 0) {
      connect(lock);
    } else {
      wanted_.wait(lock);
    }
  }
  lose_link(lock);
  answer_all(lock, Status::cancelled);
}

void Session::connect(Lock& lock) {
  const auto now = Clock::now();
  if (now < next_attempt_) {
    wanted_.wait_until(lock, next_attempt_);
    tick(lock);
    return;
  }
  auto opened = open(lock, now + std::max<Clock::duration>(settings_.patience, kLongestPause));
  if (closed_) return;
  if (!opened) {
    note_failure(lock);
    return;
  }
  link_ = std::move(opened);
  noted_[0] = NotedDescriptor(link_->socket());
  // A probe takes a place, too.
  const std::uint32_t places = link_->welcome().max_outstanding, probes = link_->last_heard() ? 1 : 0;
  max_outstanding_ = std::max(places - probes, 1U);
  max_input_ = link_->welcome().max_input;
  lost_since_.reset();
  pause_ = 0ms;
  resend_all(lock);
}

// Connects on a separate thread, because the resolution of names and the daemon may take long. This thread
// lets requests expire meanwhile.
std::unique_ptr<Link> Session::open(Lock& lock, Clock::time_point limit) {
  std::unique_ptr<Link> opened;
  bool done = false;
  std::thread opening;
  try {
    opening = quiet_thread([&] {
      auto made = link_or_null(settings_, limit);
      const Lock own(mutex_);
      opened = std::move(made);
      done = true;
      wanted_.notify_all();
    });
  } catch (const std::exception&) {  // no thread can be started: this one connects, and requests wait
    lock.unlock();
    opened = link_or_null(settings_, limit);
    lock.lock();
    return opened;
  }
  while (!done) {
    wanted_.wait_for(lock, kTick);
    tick(lock);
  }
  lock.unlock();
  opening.join();
  lock.lock();
  return opened;
}

void Session::note_failure(Lock& lock) {
  const auto now = Clock::now();
  if (!lost_since_) lost_since_ = now;
  pause_ = std::clamp<std::chrono::milliseconds>(2 * pause_, kFirstPause, kLongestPause);
  // Random, so that clients that lost the same daemon at the same time do not all reconnect at the same
  // time.
  next_attempt_ = now + pause_ / 2 + pause_ * static_cast<int>(random_() % 1024) / 2048;
  if (now - *lost_since_ < settings_.patience) return;
  next_attempt_ = now + kLongestPause;
  answer_all(lock, Status::unavailable);
}

void Session::lose_link(Lock& lock) {
  noted_[0] = {};
  link_.reset();
  probing_ = false;
  next_attempt_ = Clock::now();
  // Requests in any other state were answered or withdrawn: their slots are free.
  for (const OutstandingPtr& request : all_live(lock)) {
    if (request->state != Outstanding::State::waiting) leave(lock, *request);
  }
}

void Session::resend_all(Lock& lock) {
  std::vector<OutstandingPtr> refused;
  Wakeups wakeups;
  for (const OutstandingPtr& request : all_live(lock)) {
    const Status status = resend(lock, *request, wakeups);
    if (status == Status::ok) continue;
    request->answer = {status, {}};
    settle(lock, request, refused);
  }
  wake(std::move(wakeups));
  deliver(lock, refused);
}

// Sends the remaining time, rounded up to whole ticks: the daemon puts requests with equal timeouts into one
// batch.
Status Session::resend(Lock& lock, Outstanding& request, Wakeups& wakeups) {
  const auto left = request.deadline - Clock::now();
  if (left <= 0ms) return Status::expired;
  if (request.sends == kMostSends) return Status::unavailable;
  if (request.input.size() > max_input_) return Status::rejected;
  const auto ticks = static_cast<std::uint64_t>((left + kTick - 1ns) / kTick);
  const std::uint64_t left_ms = ticks * std::chrono::milliseconds(kTick).count();
  request.header.timeout_ms =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(request.header.timeout_ms, left_ms));
  request.encoded = encode(request.header);
  return live_ <= max_outstanding_ && send(lock, request, wakeups) ? Status::ok : Status::busy;
}

void Session::receive(Lock& lock) {
  std::vector<OutstandingPtr> answered;
  AnswerHeader header;
  Bytes output;
  try {
    while (answered.size() < kDeliveries && link_->receive(header, output)) {
      const std::uint32_t slot = slot_of(header.id);
      if (slot == kProbeSlot && std::exchange(probing_, false)) continue;
      const OutstandingPtr request = slot < slots_.size() ? slots_[slot] : nullptr;
      if (!request || request->header.id != header.id) throw ProtocolError("an answer to no request");
      if (request->state == Outstanding::State::waiting) {
        request->answer = {header.status, std::move(output)};
      }
      settle(lock, request, answered);
    }
  } catch (const ProtocolError&) {  // what the daemon writes cannot be trusted any more
    lose_link(lock);
  }
  deliver(lock, answered);
}

// Frees the request's slot. A request of call() is answered here; one with a completion or an eventfd is
// appended to `answered` for deliver().
void Session::settle(Lock& lock, const OutstandingPtr& request, std::vector<OutstandingPtr>& answered) {
  leave(lock, *request);
  if (request->state != Outstanding::State::waiting) return;
  if (!request->completion && request->event < 0) {
    request->state = Outstanding::State::delivered;
    request->answered.notify_one();
    return;
  }
  request->state = Outstanding::State::delivering;
  answered.push_back(request);
}

void Session::deliver(Lock& lock, std::vector<OutstandingPtr>& answered) {
  if (answered.empty()) return;
  // Before any completion is called, which may wait for one of these answers.
  for (const OutstandingPtr& request : answered) {
    if (request->event < 0) continue;
    write_one(request->event);
    request->state = Outstanding::State::delivered;
  }
  delivered_.notify_all();
  lock.unlock();
  for (const OutstandingPtr& request : answered) {
    if (request->state != Outstanding::State::delivering) continue;  // or an earlier completion withdrew it
    request->begun = true;
    try {
      request->completion(std::move(request->answer));
    } catch (...) {  // NOLINT(bugprone-empty-catch): no one is there to handle it
    }
    request->completion = nullptr;
  }
  lock.lock();
  for (const OutstandingPtr& request : answered) {
    if (request->begun) request->state = Outstanding::State::delivered;
  }
  delivered_.notify_all();
}

void Session::sleep(Lock& lock) {
  if (!link_->fall_asleep()) return;
  const int limit = idle_ ? -1 : static_cast<int>(std::chrono::milliseconds(kTick).count());
  std::array<pollfd, 2> waited{{{link_->socket(), link_->events(), 0}, {wakeup_read_end_.get(), POLLIN, 0}}};
  asleep_ = true;
  lock.unlock();
  const int found = poll(waited.data(), waited.size(), limit);
  lock.lock();
  asleep_ = false;
  if (waited[1].revents != 0) read_some(wakeup_read_end_.get());
  // If there are no requests and nothing came during a whole tick, the next sleep has no time limit.
  idle_ = found == 0 && live_ == 0;
  if (!link_->wake_up()) lose_link(lock);
}

void Session::tick(Lock& lock) {
  const auto now = Clock::now();
  if (now < next_tick_) return;
  next_tick_ = now + kTick;
  expire(lock, now);
  look_after_link(lock, now);
}

// Finds connections to other hosts that are dead without this side's knowledge. The probe is a request for a
// key that cannot exist: a daemon answers it at once, however long its queue is. Only a missing answer to a
// probe ends the connection, because any other request may take longer than its timeout.
void Session::look_after_link(Lock& lock, Clock::time_point now) {
  const auto heard = link_ ? link_->last_heard() : std::nullopt;
  if (!heard || live_ == 0) return;
  // If no place is free for a probe, wait until the outstanding requests are answered or have expired.
  const bool full = live_ >= link_->welcome().max_outstanding;
  const auto is_awaited = [](const OutstandingPtr& request) {
    return request != nullptr && request->state == Outstanding::State::waiting;
  };
  if (full && std::ranges::any_of(slots_, is_awaited)) return;
  const auto silent_since = std::max(*heard, awaited_since_);
  if (now - silent_since < settings_.silence) return;
  if (probed_ <= silent_since) {
    RequestHeader header;
    header.id = std::uint64_t{++entered_} << 32 | kProbeSlot;
    probing_ = probing_ || (!full && link_->send(encode(header), {}));
    probed_ = now;
  } else if (now - probed_ >= settings_.silence) {
    lose_link(lock);
  }
}

void Session::expire(Lock& lock, Clock::time_point now) {
  std::vector<OutstandingPtr> expired;
  for (const OutstandingPtr& request : slots_) {
    if (!request || request->state != Outstanding::State::waiting || request->deadline > now) continue;
    if (!request->completion && request->event < 0) continue;  // call() waits with the deadline
    request->answer = {Status::expired, {}};
    request->state = Outstanding::State::delivering;
    expired.push_back(request);
  }
  if (!link_) {
    for (const OutstandingPtr& request : expired) leave(lock, *request);
  }
  deliver(lock, expired);
}

void Session::answer_all(Lock& lock, Status status) {
  std::vector<OutstandingPtr> answered;
  for (const OutstandingPtr& request : all_live(lock)) {
    if (request->state == Outstanding::State::waiting) request->answer = {status, {}};
    settle(lock, request, answered);
  }
  deliver(lock, answered);
}

}  // namespace manymod::signd

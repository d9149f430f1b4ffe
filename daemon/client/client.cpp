// SPDX-License-Identifier: Apache-2.0
#include "client/client.hpp"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "client/session.hpp"

namespace manymod::signd {
namespace {

// A connection for frames, to a daemon that may be starting.
FrameLink open_frames(const Settings& settings) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  const auto deadline = Clock::now() + settings.patience;
  for (;;) {
    try {
      return {settings, FrameLink::Purpose::questions, deadline};
    } catch (const std::system_error& error) {
      const bool absent = error.code() == std::errc::connection_refused ||
                          error.code() == std::errc::no_such_file_or_directory;
      if (!absent || Clock::now() + kPause >= deadline) throw;
      std::this_thread::sleep_for(kPause);
    }
  }
}

}  // namespace

/// The session of this process. A child's copies of its parent's sessions are never destroyed: their threads
/// do not exist, and their mutexes may be locked for ever.
struct Client::Sessions {
  explicit Sessions(Settings chosen) : settings(std::move(chosen)) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions() {
    std::shared_ptr<Session>* const own = current.load();
    if (own == nullptr || (*own)->process() != getpid()) return;
    (*own)->close();
    delete own;
  }

  std::shared_ptr<Session> session() {
    std::shared_ptr<Session>* before = current.load();
    if (before != nullptr && (*before)->process() == getpid()) return *before;
    if (before != nullptr) (*before)->close_copies();
    auto made = std::make_unique<std::shared_ptr<Session>>(std::make_shared<Session>(settings));
    if (!current.compare_exchange_strong(before, made.get())) return *before;  // another thread was first
    return *made.release();
  }

  const Settings settings;
  std::atomic<std::shared_ptr<Session>*> current{nullptr};
};

Client::Client(Settings settings) : sessions_(std::make_unique<Sessions>(std::move(settings))) {}
Client::~Client() = default;

std::vector<KeyInfo> Client::keys() const {
  FrameLink link = open_frames(sessions_->settings);
  link.send(FrameType::list);
  std::vector<KeyInfo> keys;
  for (const Bytes& body : link.receive(FrameType::keys)) {
    for (KeyEntry& entry : decode_keys(body)) {
      keys.push_back(
          {entry.id, entry.operations, std::move(entry.name), std::move(entry.subject_public_key_info)});
    }
  }
  return keys;
}

std::string Client::metrics() const {
  FrameLink link = open_frames(sessions_->settings);
  link.send(FrameType::measure);
  std::string text;
  for (const Bytes& body : link.receive(FrameType::metrics)) text.append(body.begin(), body.end());
  return text;
}

Answer Client::call(const Request& request) { return sessions_->session()->call(request); }

Ticket Client::submit(const Request& request, Completion completion) {
  return sessions_->session()->submit(request, std::move(completion), -1);
}

Ticket Client::submit(const Request& request, int event) {
  return sessions_->session()->submit(request, nullptr, event);
}

// In a forked child the parent's requests are not the child's: nothing will be called.
bool Ticket::cancel() {
  if (!session_) return false;
  return session_->process() != getpid() || session_->cancel(*request_);
}

bool Ticket::take(Answer& answer) {
  return session_ && session_->process() == getpid() && session_->take(*request_, answer);
}

}  // namespace manymod::signd

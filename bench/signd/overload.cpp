// SPDX-License-Identifier: Apache-2.0
#include "signd/overload.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace manymod::signd::overload {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// A process of the daemon, killed with its owner.
class Process {
 public:
  explicit Process(const Plan& plan) : id_(fork()) {
    if (id_ != 0) return;
    execl(plan.program.c_str(), plan.program.c_str(), plan.configuration.c_str(), nullptr);
    _exit(127);
  }
  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void end() {
    if (id_ <= 0) return;
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = 0;
  }
  [[nodiscard]] std::uint64_t resident_bytes() const {
    std::ifstream in("/proc/" + std::to_string(id_) + "/statm");
    std::uint64_t all = 0, resident = 0;
    in >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }

 private:
  pid_t id_;
};

KeyId key_named(const Plan& plan) {
  Settings patient = plan.settings;
  patient.patience = 10s;
  for (const KeyInfo& key : Client(patient).keys()) {
    if (key.name == plan.key) return key.id;
  }
  throw std::runtime_error("the daemon has no key " + plan.key + " for this user");
}

/// A client, and what its requests came to.
class Source {
 public:
  Source(const Plan& plan, const KeyId& key) : client_(patient(plan.settings)), input_(32, 0xA5) {
    request_.key = key;
    request_.scheme = plan.scheme;
    request_.input = input_;
    // The first one connects: until then a client does not know how many it may have.
    if (client_.call(request_).status != Status::ok) throw std::runtime_error("the first request failed");
  }

  /// Keep so many requests outstanding until `stop`. @return the number of answers
  std::uint64_t keep_outstanding(std::size_t count, const std::atomic<bool>& stop) {
    std::atomic<std::size_t> active = count;
    std::atomic<std::uint64_t> answers = 0;
    const std::function<void()> next = [&] {
      client_.submit(request_, [&](Answer&& answer) {
        answers += answer.status == Status::ok;
        if (stop) {
          --active;
        } else {
          next();
        }
      });
    };
    for (std::size_t i = 0; i < count; ++i) next();
    while (active != 0) std::this_thread::sleep_for(1ms);
    return answers;
  }

  /// Ask so often a second, for so long, whatever is answered.
  void insist(double rate, double seconds) {
    answered_ = std::vector<std::atomic<std::uint8_t>>(static_cast<std::size_t>(rate * seconds) + 1);
    const auto begin = Clock::now();
    for (double now = 0; now < seconds; now = seconds_since(begin)) {
      const auto due = std::min(answered_.size(), static_cast<std::size_t>(rate * now));
      while (asked_ < due) ask();
      std::this_thread::sleep_for(500us);
    }
  }
  /// Wait until all are answered, or for so long that they will not be.
  void settle() {
    const auto begin = Clock::now();
    while (answers_ < asked_ && seconds_since(begin) < 20) std::this_thread::sleep_for(1ms);
  }
  void add_to(Result& result, std::vector<float>& ok_ms, std::vector<float>& busy_ms) {
    const std::scoped_lock lock(mutex_);
    result.requests += asked_;
    for (std::size_t i = 0; i < asked_; ++i) {
      result.unanswered += answered_[i] == 0;
      result.answered_twice += answered_[i] > 1;
    }
    for (const auto& [status, count] : {std::pair(Status::expired, &result.expired),
                                        {Status::ok, &result.ok},
                                        {Status::busy, &result.busy}}) {
      *count += statuses_[static_cast<std::size_t>(status)];
    }
    for (const std::uint64_t count : statuses_) result.other += count;
    ok_ms.insert(ok_ms.end(), ok_ms_.begin(), ok_ms_.end());
    busy_ms.insert(busy_ms.end(), busy_ms_.begin(), busy_ms_.end());
  }

  /// Have so many requests under way.
  void leave(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ++left_;
      client_.submit(request_, [this](Answer&& answer) {
        lost_ += answer.status != Status::ok;
        --left_;
      });
    }
  }
  /// A request after the daemon's death. @return when it was answered
  Clock::time_point recover() {
    while (client_.call(request_).status != Status::ok) std::this_thread::sleep_for(1ms);
    const auto answered = Clock::now();
    while (left_ != 0) std::this_thread::sleep_for(1ms);
    return answered;
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  static Settings patient(Settings settings) {
    settings.patience = 10s;
    return settings;
  }

  void ask() {
    const std::size_t index = asked_++;
    const auto begin = Clock::now();
    client_.submit(request_, [this, index, begin](Answer&& answer) {
      const float ms = std::chrono::duration<float, std::milli>(Clock::now() - begin).count();
      ++answered_[index];
      {
        const std::scoped_lock lock(mutex_);
        ++statuses_[static_cast<std::size_t>(answer.status)];
        if (answer.status == Status::ok) ok_ms_.push_back(ms);
        if (answer.status == Status::busy) busy_ms_.push_back(ms);
      }
      ++answers_;
    });
  }

  Client client_;
  std::vector<std::uint8_t> input_;
  Request request_;
  std::vector<std::atomic<std::uint8_t>> answered_;  ///< how often, by request
  std::size_t asked_ = 0;
  std::atomic<std::size_t> answers_{0}, left_{0};
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;
  std::array<std::uint64_t, 10> statuses_{};
  std::vector<float> ok_ms_, busy_ms_;
};

using Sources = std::vector<std::unique_ptr<Source>>;

template <class Body>
void on_each(Sources& sources, Body body) {
  std::vector<std::thread> threads;
  for (const auto& source : sources) threads.emplace_back([&body, &source] { body(*source); });
  for (std::thread& thread : threads) thread.join();
}

double quantile(std::vector<float>& times, double q) {
  if (times.empty()) return 0;
  const auto at = std::min(times.size() - 1, static_cast<std::size_t>(q * static_cast<double>(times.size())));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at), times.end());
  return static_cast<double>(times[at]);
}

double capacity_of(const Plan& plan, Sources& sources) {
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> answers = 0;
  const auto begin = Clock::now();
  std::thread clock([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(plan.calm_seconds));
    stop = true;
  });
  on_each(sources, [&](Source& source) { answers += source.keep_outstanding(plan.calm, stop); });
  clock.join();
  return static_cast<double>(answers) / seconds_since(begin);
}

/// Looks at the daemon's memory while its clients insist.
void watch_memory(const Plan& plan, const Process& daemon, const std::atomic<bool>& stop, Result& result) {
  const auto begin = Clock::now();
  while (!stop) {
    result.last_bytes = daemon.resident_bytes();
    result.most_bytes = std::max(result.most_bytes, result.last_bytes);
    if (result.early_bytes == 0 && seconds_since(begin) > plan.seconds / 10) {
      result.early_bytes = result.last_bytes;
    }
    std::this_thread::sleep_for(20ms);
  }
}

void insist(const Plan& plan, const Process& daemon, Sources& sources, Result& result) {
  std::atomic<bool> stop = false;
  std::thread watch([&] { watch_memory(plan, daemon, stop, result); });
  const double rate = plan.factor * result.capacity / static_cast<double>(sources.size());
  const auto begin = Clock::now();
  on_each(sources, [&](Source& source) { source.insist(rate, plan.seconds); });
  const double elapsed = seconds_since(begin);
  on_each(sources, [](Source& source) { source.settle(); });
  stop = true;
  watch.join();
  std::vector<float> ok_ms, busy_ms;
  for (const auto& source : sources) source->add_to(result, ok_ms, busy_ms);
  result.other -= result.ok + result.busy + result.expired;
  result.offered = static_cast<double>(result.requests) / elapsed;
  result.served = static_cast<double>(result.ok) / elapsed;
  result.ok_p50_ms = quantile(ok_ms, 0.5);
  result.ok_p99_ms = quantile(ok_ms, 0.99);
  result.busy_p50_ms = quantile(busy_ms, 0.5);
  result.busy_p99_ms = quantile(busy_ms, 0.99);
  result.busy_max_ms = quantile(busy_ms, 1);
}

void die_and_recover(const Plan& plan, std::unique_ptr<Process>& daemon, Sources& sources, Result& result) {
  for (const auto& source : sources) source->leave(16);
  const auto death = Clock::now();
  daemon->end();
  daemon = std::make_unique<Process>(plan);
  std::mutex mutex;
  on_each(sources, [&](Source& source) {
    const std::chrono::duration<double, std::milli> taken = source.recover() - death;
    const std::scoped_lock lock(mutex);
    result.recovery_ms = std::max(result.recovery_ms, taken.count());
    result.lost += source.lost();
  });
}

}  // namespace

Result run(const Plan& plan) {
  auto daemon = std::make_unique<Process>(plan);
  const KeyId key = key_named(plan);
  Sources sources;
  for (std::size_t i = 0; i < plan.clients; ++i) sources.push_back(std::make_unique<Source>(plan, key));
  Result result;
  result.capacity = capacity_of(plan, sources);
  insist(plan, *daemon, sources, result);
  die_and_recover(plan, daemon, sources, result);
  sources.clear();  // before the daemon, for which they would wait
  return result;
}

}  // namespace manymod::signd::overload

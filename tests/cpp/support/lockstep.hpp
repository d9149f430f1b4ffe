// SPDX-License-Identifier: Apache-2.0
// Runs device code on the host: the lanes of one or several groups of threads, a warp or (lockstep_block.hpp)
// a block, take turns on one host thread and exchange values at the same calls as on the device.
//
// LockstepGroup<kThreads> replaces cuda::ThreadGroup<kThreads> (arch/cuda/thread_group.cuda.hpp). Each lane
// is a fiber. At a shuffle, ballot or sync a lane deposits its value, lets the other lanes of the warp run up
// to the same call, and then reads the values of its group. If lanes arrive at different calls, they have
// diverged. That is undefined behaviour on the device and an error here, as it is if a lane ends while others
// wait. Groups of one lane exchange nothing, on the device too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <type_traits>

namespace manymod::test {

/// Thrown if lanes diverge.
class LockstepError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// A call at which all lanes of a warp synchronize.
struct SyncPoint {
  std::uint64_t ordinal = 0;  ///< counts the lane's synchronizations, from 1
  const char* operation = "";
  const char* file = "";
  int line = 0;
  unsigned size = 0;  ///< bytes of the value
};

/// The lanes of a warp and the values they exchange.
class Lockstep {
 public:
  static constexpr unsigned kMaxLanes = 640;
  static constexpr std::size_t kMaxValue = 8;
  using Value = std::array<std::byte, kMaxValue>;

  [[nodiscard]] unsigned lanes() const { return lanes_; }

  /// Runs `body` once for each lane number below `lanes`. Throws what a lane has thrown, or LockstepError.
  static void run(unsigned lanes, const std::function<void(Lockstep&, unsigned)>& body);

  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  /// Deposits `value` and returns when all lanes have deposited theirs.
  void synchronize(unsigned lane, SyncPoint point, const Value& value);
  /// The value that `lane` deposited at the last synchronization of `reader`.
  [[nodiscard]] const Value& value(unsigned reader, unsigned lane) const;

  /// synchronize() with a value of type T.
  template <class T>
  void synchronize_with(unsigned lane, const char* operation, const T& value, const char* file, int line) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxValue);
    Value bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    synchronize(lane, {0, operation, file, line, sizeof(T)}, bytes);
  }
  /// value() as a T.
  template <class T>
  [[nodiscard]] T read(unsigned reader, unsigned lane) const {
    T result;
    std::memcpy(&result, value(reader, lane).data(), sizeof(T));
    return result;
  }

 private:
  struct Fibers;
  struct Deposit {
    SyncPoint point;
    Value value{};
  };

  Lockstep(Fibers& fibers, unsigned lanes) : fibers_(fibers), lanes_(lanes) {}

  [[nodiscard]] const Deposit& deposit(unsigned lane, std::uint64_t ordinal) const {
    return deposits_[ordinal % 2][lane];
  }

  Fibers& fibers_;
  unsigned lanes_;
  std::array<std::uint64_t, kMaxLanes> sync_counts_{};
  // Deposits of each lane's last two synchronizations: a lane that runs ahead deposits its next value before
  // the last lanes have read the current one.
  std::array<std::array<Deposit, kMaxLanes>, 2> deposits_{};
};

/// The group that device code sees: one object per lane, that of lane `lane` of the warp. See
/// cuda::ThreadGroup.
template <unsigned kThreads>
class LockstepGroup {
  static_assert(kThreads >= 1 && kThreads <= 32 && (kThreads & (kThreads - 1)) == 0);

 public:
  static constexpr unsigned kSize = kThreads;

  LockstepGroup(Lockstep& lockstep, unsigned lane)
      : lockstep_(&lockstep), lane_(lane), first_(lane / kThreads * kThreads) {}

  [[nodiscard]] unsigned lane() const { return lane_ - first_; }

  template <class T>
  T shuffle(T value, unsigned source, const char* file = __builtin_FILE(),
            int line = __builtin_LINE()) const {
    if constexpr (kSize == 1) return value;
    lockstep_->synchronize_with(lane_, "shuffle", value, file, line);
    return lockstep_->read<T>(lane_, first_ + source % kSize);
  }
  template <class T>
  T from_above(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    return shuffle(value, lane() + 1, file, line);
  }
  template <class T>
  T from_below(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    return shuffle(value, lane() + kSize - 1, file, line);
  }

  [[nodiscard]] std::uint32_t ballot(bool condition, const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) const {
    if constexpr (kSize == 1) return condition ? 1 : 0;
    lockstep_->synchronize_with(lane_, "ballot", condition, file, line);
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < kSize; ++lane) {
      bits |= static_cast<std::uint32_t>(lockstep_->read<bool>(lane_, first_ + lane)) << lane;
    }
    return bits;
  }

  [[nodiscard]] bool any_in_warp(bool condition, const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE()) const {
    if constexpr (kSize == 1) return condition;
    lockstep_->synchronize_with(lane_, "any_in_warp", condition, file, line);
    bool any = false;
    for (unsigned lane = 0; lane < lockstep_->lanes(); ++lane) any |= lockstep_->read<bool>(lane_, lane);
    return any;
  }

  void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    if constexpr (kSize > 1) lockstep_->synchronize_with(lane_, "sync", false, file, line);
  }

 private:
  Lockstep* lockstep_;
  unsigned lane_;   // of the warp
  unsigned first_;  // the group's lane 0
};

/// Calls body(group) for each lane of a group of kThreads threads.
template <unsigned kThreads, class Body>
void run_lockstep(Body body) {
  Lockstep::run(kThreads, [&body](Lockstep& lockstep, unsigned lane) {
    body(LockstepGroup<kThreads>(lockstep, lane));
  });
}

/// Calls body(group, index) for each lane of groups 0 .. groups - 1 of kThreads threads, which make up a
/// warp: code that lets some of them skip an exchange diverges. On input: groups kThreads <= 32.
template <unsigned kThreads, class Body>
void run_lockstep_warp(unsigned groups, Body body) {
  Lockstep::run(groups * kThreads, [&body](Lockstep& lockstep, unsigned lane) {
    body(LockstepGroup<kThreads>(lockstep, lane), lane / kThreads);
  });
}

}  // namespace manymod::test

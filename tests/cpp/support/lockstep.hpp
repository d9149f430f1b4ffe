// SPDX-License-Identifier: Apache-2.0
// Device code on the host: a group of threads whose lanes take turns on one host thread and exchange values
// where the device's would.
//
// LockstepGroup<kThreads> stands for cuda::ThreadGroup<kThreads> (arch/cuda/thread_group.cuda.hpp). Each lane
// is a fiber. At a shuffle, ballot or sync a lane leaves its value, lets the others run up to theirs, and
// then reads. Lanes that meet at different calls have diverged, which is undefined on the device and an error
// here; so are lanes that end while others wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <type_traits>

namespace manymod::test {

/// Lanes that did not keep together.
class LockstepError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Where all lanes of a group meet.
struct MeetingPoint {
  std::uint64_t ordinal = 0;  ///< of the lane's meeting points, from 1
  const char* operation = "";
  const char* file = "";
  int line = 0;
  unsigned size = 0;  ///< bytes of the value
};

/// The lanes of one group and their exchange.
class Lockstep {
 public:
  static constexpr unsigned kMaxLanes = 32;
  static constexpr std::size_t kMaxValue = 8;
  using Value = std::array<std::byte, kMaxValue>;

  /// Run `body` once for each lane number below `lanes`. Throws what a lane threw, or LockstepError.
  static void run(unsigned lanes, const std::function<void(Lockstep&, unsigned)>& body);

  Lockstep(const Lockstep&) = delete;
  Lockstep& operator=(const Lockstep&) = delete;

  /// Leave `value` and come back when all lanes have left theirs.
  void meet(unsigned lane, MeetingPoint point, const Value& value);
  /// What `lane` left at the point where `reader` has just met it.
  [[nodiscard]] const Value& value(unsigned reader, unsigned lane) const;

  template <class T>
  void meet_with(unsigned lane, const char* operation, const T& value, const char* file, int line) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxValue);
    Value bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    meet(lane, {0, operation, file, line, sizeof(T)}, bytes);
  }
  template <class T>
  [[nodiscard]] T read(unsigned reader, unsigned lane) const {
    T result;
    std::memcpy(&result, value(reader, lane).data(), sizeof(T));
    return result;
  }

 private:
  struct Fibers;
  struct Left {
    MeetingPoint point;
    Value value{};
  };

  Lockstep(Fibers& fibers, unsigned lanes) : fibers_(fibers), lanes_(lanes) {}

  [[nodiscard]] const Left& left(unsigned lane, std::uint64_t ordinal) const {
    return left_[ordinal % 2][lane];
  }

  Fibers& fibers_;
  unsigned lanes_;
  std::array<std::uint64_t, kMaxLanes> met_{};
  // Of a lane's last two points: one that runs ahead leaves its next value before the last ones have read
  // this one.
  std::array<std::array<Left, kMaxLanes>, 2> left_{};
};

template <unsigned kThreads>
class LockstepGroup {
  static_assert(kThreads >= 1 && kThreads <= Lockstep::kMaxLanes && (kThreads & (kThreads - 1)) == 0);

 public:
  static constexpr unsigned kSize = kThreads;

  LockstepGroup(Lockstep& lockstep, unsigned lane) : lockstep_(&lockstep), lane_(lane) {}

  [[nodiscard]] unsigned lane() const { return lane_; }

  template <class T>
  T shuffle(T value, unsigned source, const char* file = __builtin_FILE(),
            int line = __builtin_LINE()) const {
    if constexpr (kSize == 1) return value;
    lockstep_->meet_with(lane_, "shuffle", value, file, line);
    return lockstep_->read<T>(lane_, source % kSize);
  }
  template <class T>
  T from_above(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    return shuffle(value, lane_ + 1, file, line);
  }
  template <class T>
  T from_below(T value, const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    return shuffle(value, lane_ + kSize - 1, file, line);
  }

  [[nodiscard]] std::uint32_t ballot(bool condition, const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) const {
    if constexpr (kSize == 1) return condition ? 1 : 0;
    lockstep_->meet_with(lane_, "ballot", condition, file, line);
    std::uint32_t bits = 0;
    for (unsigned lane = 0; lane < kSize; ++lane) {
      bits |= static_cast<std::uint32_t>(lockstep_->read<bool>(lane_, lane)) << lane;
    }
    return bits;
  }

  void sync(const char* file = __builtin_FILE(), int line = __builtin_LINE()) const {
    if constexpr (kSize > 1) lockstep_->meet_with(lane_, "sync", false, file, line);
  }

 private:
  Lockstep* lockstep_;
  unsigned lane_;
};

/// Call body(group) for each lane of a group of kThreads threads.
template <unsigned kThreads, class Body>
void run_lockstep(Body body) {
  Lockstep::run(kThreads, [&body](Lockstep& lockstep, unsigned lane) {
    body(LockstepGroup<kThreads>(lockstep, lane));
  });
}

}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// A device multiplier of one shape on the host, for the tests that all device techniques share.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "repr/word_memory.hpp"
#include "support/device_values.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {

/// The content of guards.
inline constexpr std::uint32_t kGuardWord = 0x5afe5afe;

/// A technique's multiplier with `threads` threads per instance and `per_thread` digits per thread.
template <template <class, unsigned> class Technique, unsigned threads, unsigned per_thread>
struct DeviceShape {
  static constexpr unsigned kThreads = threads;
  using Group = LockstepGroup<threads>;
  using Multiplier = Technique<Group, per_thread>;
  static constexpr unsigned kWords = Multiplier::kWords;
  /// Relative time of a multiplication on the host. Exchanges among lanes are the most expensive part.
  static constexpr unsigned kCost = threads == 1 ? kWords / 8 + 1 : kWords * threads;
};

/// The name of a shape in messages of GoogleTest: 4threads_64words.
struct DeviceShapeNames {
  template <class Shape>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's
    return std::to_string(Shape::kThreads) + "threads_" + std::to_string(Shape::kWords) + "words";
  }
};

/// Columns of words, one for each lane, with guard words around each.
class GuardedColumns {
 public:
  GuardedColumns(unsigned lanes, std::size_t words)
      : lanes_(lanes), words_(words), memory_((words + 2) * stride(), kGuardWord) {}

  [[nodiscard]] unsigned stride() const { return 2 * lanes_; }
  [[nodiscard]] std::uint32_t* column(unsigned lane) {
    return memory_.data() + stride() + 2 * std::size_t{lane};
  }
  [[nodiscard]] bool guards_intact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const std::size_t row = i / stride();
      const bool guard = i % 2 == 1 || row == 0 || row > words_;
      if (guard && memory_[i] != kGuardWord) return false;
    }
    return true;
  }

 private:
  unsigned lanes_;
  std::size_t words_;
  Words memory_;
};

/// Words to write to, with guard words before and after.
class GuardedResult {
 public:
  explicit GuardedResult(std::size_t words) : memory_(words + 2 * kGuards, kGuardWord) {}
  [[nodiscard]] std::uint32_t* data() { return memory_.data() + kGuards; }
  [[nodiscard]] Words words() const { return {memory_.begin() + kGuards, memory_.end() - kGuards}; }
  [[nodiscard]] bool guards_intact() const {
    const auto intact = [](std::uint32_t word) { return word == kGuardWord; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuards, intact) &&
           std::all_of(memory_.end() - kGuards, memory_.end(), intact);
  }

 private:
  static constexpr std::ptrdiff_t kGuards = 8;
  Words memory_;
};

/// Calls body(multiplier, group) in every lane. @return true if no lane wrote outside of its working memory
template <class Shape, class Body>
bool with_multiplier(const Words& n, Body body) {
  GuardedColumns memory(Shape::kThreads, Shape::Multiplier::kSharedWords);
  run_lockstep<Shape::kThreads>([&](typename Shape::Group group) {
    const LaneMemory own{memory.column(group.lane()), memory.stride()};
    const WordSource source{n.data(), static_cast<unsigned>(n.size())};
    const typename Shape::Multiplier multiplier(group, own, source);
    body(multiplier, group);
  });
  return memory.guards_intact();
}

inline WordSource source_of(const Words& a) { return {a.data(), static_cast<unsigned>(a.size())}; }

/// The number to which all lanes of a group write their parts.
inline WordSink sink_of(GuardedResult& r, std::size_t words) {
  return {r.data(), static_cast<unsigned>(words)};
}

}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// What a fuzzing harness makes of its input: choices, numbers and arrays. An input that is used up gives
// zeros, so that every input is a valid one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

namespace manymod::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// Stop the program unless `condition` holds: the fuzzer then keeps the input.
inline void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

/// Set by a program that lets allocations of the library fail: whether some have failed since it was last
/// asked on this thread, so that a call may report it.
inline bool (*allocations_failed)() = nullptr;

/// Whether a call had the status that says so, and it is true.
inline bool ran_out_of_memory(bool says_so) {
  if (allocations_failed == nullptr) return false;
  const bool failed = allocations_failed();
  return says_so && failed;
}

class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }

  /// A number below `bound`; 0 once the input is used up. In: 0 < bound <= 65536.
  std::size_t below(std::size_t bound) {
    const std::size_t high = bound > 256 ? byte() : 0;
    return (high << 8 | byte()) % bound;
  }

  /// True for one of `n` values of a byte; false once the input is used up.
  bool one_in(std::size_t n) { return byte() % n == n - 1; }

  template <class T>
  const T& among(std::span<const T> values) {
    return values[below(values.size())];
  }

  /// At most `longest` bytes of the input.
  Bytes bytes(std::size_t longest) {
    const std::size_t wanted = below(longest + 1);
    const std::size_t size = std::min(wanted, rest_.size());
    const Bytes taken(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(size));
    rest_ = rest_.subspan(size);
    return taken;
  }

  Bytes all_the_rest() {
    const Bytes taken(rest_.begin(), rest_.end());
    rest_ = {};
    return taken;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// Pseudorandom limbs (SplitMix64) from a seed of the input, so that short inputs make long numbers; biased
/// to edges.
class LimbSource {
 public:
  explicit LimbSource(std::uint64_t seed) : state_(seed) {}

  std::uint64_t random() {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = (state_ ^ (state_ >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  std::uint64_t limb() {
    switch (random() % 8) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0};
      case 2:
        return std::uint64_t{1} << random() % 64;
      case 3:
        return ~std::uint64_t{0} << random() % 64;
      case 4:
        return random() % 4;
      default:
        return random();
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace manymod::fuzz

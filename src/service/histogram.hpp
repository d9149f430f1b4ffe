// SPDX-License-Identifier: Apache-2.0
// Quantiles of many times in little memory: counts of logarithmic buckets, eight to an octave.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace manymod::service {

class Histogram {
 public:
  void add(std::chrono::nanoseconds time, std::uint64_t times = 1) {
    const std::uint64_t ns = time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
    counts_[bucket(ns)] += times;
    total_ += times;
    max_ = std::max(max_, ns);
  }

  /// An upper bound of the quantile, 0 <= share <= 1, at most 9/8 of it and at most max(); 0 without times.
  [[nodiscard]] std::uint64_t quantile(double share) const {
    const double wanted = std::ceil(share * static_cast<double>(total_));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      below += counts_[i];
      if (below != 0 && static_cast<double>(below) >= wanted) return std::min(max_, last_of(i));
    }
    return max_;
  }
  [[nodiscard]] std::uint64_t max() const { return max_; }

 private:
  static constexpr unsigned kBits = 3;  ///< 2^kBits buckets an octave
  static constexpr std::size_t kBuckets = (64 - kBits + 1) << kBits;

  /// Numbers below 2^(kBits+1) have buckets of their own.
  static std::size_t bucket(std::uint64_t ns) {
    const unsigned width = static_cast<unsigned>(std::bit_width(ns));
    if (width <= kBits + 1) return ns;
    const unsigned shift = width - kBits - 1;
    return (std::size_t{shift} << kBits) + (ns >> shift);
  }
  static std::uint64_t last_of(std::size_t bucket) {
    if (bucket < (2U << kBits)) return bucket;
    const unsigned shift = static_cast<unsigned>(bucket >> kBits) - 1;
    const std::uint64_t leading = (bucket & ((1U << kBits) - 1)) + (1U << kBits);
    return ((leading + 1) << shift) - 1;
  }

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t total_ = 0, max_ = 0;
};

}  // namespace manymod::service

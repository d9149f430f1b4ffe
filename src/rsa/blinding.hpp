// SPDX-License-Identifier: Apache-2.0
// Blinding pairs of one key, kept between uses.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rsa/arithmetic.hpp"

namespace manymod::rsa {

/// A pair is squared after each use, so that all numbers are multiplied by unlike factors, and dropped after
/// kUses. Whoever needs one takes it out: threads share none.
class BlindingStock {
 public:
  static constexpr unsigned kUses = 128;

  BlindingStock() { pairs_.reserve(kKept); }

  /// One that was given back, if there is one.
  [[nodiscard]] std::optional<BlindingPair> take();
  void give_back(BlindingPair pair) noexcept;

 private:
  static constexpr std::size_t kKept = 64;

  std::mutex mutex_;  ///< never waited for, as a fork may have left it locked for ever
  std::vector<BlindingPair> pairs_;
  long pid_ = 0;  ///< of the process that the pairs are of: a forked child makes its own
};

/// Pairs of one thread, for row after row or, by LaneArithmetic, as many rows as there are lanes after as
/// many.
template <class Arithmetic>
class Blinder {
 public:
  Blinder(BlindingStock& stock, const Arithmetic& arithmetic)
      : stock_(stock), arithmetic_(arithmetic), pair_(taken_or_fresh()) {}
  ~Blinder() { stock_.give_back(std::move(pair_)); }
  Blinder(const Blinder&) = delete;
  Blinder& operator=(const Blinder&) = delete;

  /// Valid until the next call.
  const BlindingPair& next(Limb* scratch) {
    if (pair_.uses_left == 0) {
      pair_ = arithmetic_.fresh_pair(BlindingStock::kUses);
    } else if (pair_.uses_left < BlindingStock::kUses) {
      arithmetic_.square(pair_, scratch);
    }
    --pair_.uses_left;
    return pair_;
  }

 private:
  BlindingStock& stock_;
  const Arithmetic& arithmetic_;
  BlindingPair pair_;

  BlindingPair taken_or_fresh() {
    std::optional<BlindingPair> kept = stock_.take();
    return kept ? std::move(*kept) : arithmetic_.fresh_pair(BlindingStock::kUses);
  }
};

}  // namespace manymod::rsa

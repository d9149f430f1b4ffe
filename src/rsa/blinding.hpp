// SPDX-License-Identifier: Apache-2.0
// Blinding pairs of a key that are kept between calls.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "rsa/arithmetic.hpp"

namespace manymod::rsa {

/// The blinding pairs of one key that no thread uses at the moment. A pair is squared after each use, so that
/// every number is multiplied by a different factor, and discarded after kUses uses. A thread takes a pair
/// out while it uses it: no pair is shared. Thread-safe.
class BlindingStock {
 public:
  static constexpr unsigned kUses = 128;

  BlindingStock() { pairs_.reserve(kKept); }

  /// A pair that was given back, if there is one.
  [[nodiscard]] std::optional<BlindingPair> take();
  /// Keep `pair` for the next take(), unless its uses are exhausted or the stock is full.
  void give_back(BlindingPair pair) noexcept;

 private:
  static constexpr std::size_t kKept = 64;

  std::mutex mutex_;  ///< only tried, never waited for: a fork may have left it locked forever
  std::vector<BlindingPair> pairs_;
  long pid_ = 0;  ///< the process that computed the pairs; a forked child must not use them
};

/// Blinding pairs for one thread, which takes one per row, or with LaneArithmetic one per group of lanes()
/// rows. The pair is given back to the stock on destruction.
template <class Arithmetic>
class Blinder {
 public:
  Blinder(BlindingStock& stock, const Arithmetic& arithmetic)
      : stock_(stock), arithmetic_(arithmetic), pair_(taken_or_fresh()) {}
  ~Blinder() { stock_.give_back(std::move(pair_)); }
  Blinder(const Blinder&) = delete;
  Blinder& operator=(const Blinder&) = delete;

  /// The next pair, valid until the next call. `scratch`: as for Arithmetic::square.
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

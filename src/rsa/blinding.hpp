// SPDX-License-Identifier: Apache-2.0
// Blinding pairs of one key, kept between uses.
#pragma once

#include <mutex>
#include <vector>

#include "rsa/arithmetic.hpp"

namespace manymod::rsa {

/// A pair is squared after each use, so that all numbers are multiplied by unlike factors, and dropped after
/// kUses. Whoever needs one takes it out: threads share none.
class BlindingStock {
 public:
  static constexpr unsigned kUses = 128;

  BlindingStock() { pairs_.reserve(kKept); }

  /// One that was given back, else a fresh one.
  [[nodiscard]] BlindingPair take(const PrivateArithmetic& arithmetic);
  void give_back(BlindingPair pair) noexcept;

 private:
  static constexpr std::size_t kKept = 64;

  std::mutex mutex_;  ///< never waited for, as a fork may have left it locked for ever
  std::vector<BlindingPair> pairs_;
  long pid_ = 0;  ///< of the process that the pairs are of: a forked child makes its own
};

/// Pairs for row after row of one thread.
class Blinder {
 public:
  Blinder(BlindingStock& stock, const PrivateArithmetic& arithmetic)
      : stock_(stock), arithmetic_(arithmetic), pair_(stock.take(arithmetic)) {}
  ~Blinder() { stock_.give_back(std::move(pair_)); }
  Blinder(const Blinder&) = delete;
  Blinder& operator=(const Blinder&) = delete;

  /// Valid until the next call.
  const BlindingPair& next(Limb* scratch);

 private:
  BlindingStock& stock_;
  const PrivateArithmetic& arithmetic_;
  BlindingPair pair_;
};

}  // namespace manymod::rsa

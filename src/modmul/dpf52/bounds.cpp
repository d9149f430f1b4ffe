// SPDX-License-Identifier: Apache-2.0
// Compiled for the baseline instruction set. The instruction-set specific files call these functions in
// VERIFY builds only.
#include "modmul/dpf52/bounds.hpp"

#include <cmath>

namespace manymod::dpf52 {
namespace {

// An integer in [0, 2^52]. False for NaN.
bool is_digit(double x) { return x >= 0 && x <= 0x1p52 && x == std::trunc(x); }

}  // namespace

bool satisfies_bounds(double a, double b) { return is_digit(a) && is_digit(b); }

bool columns_fit(std::size_t digits) {
  constexpr Limb kProduct = Limb{1} << kDigitBits;       // bound of a high or low product
  constexpr Limb kCarry = Limb{1} << (64 - kDigitBits);  // bound of the carry from the column below
  constexpr Limb kRoundUp = kProduct - 1;                // Lemma 5
  return digits <= (~Limb{0} - kCarry - kRoundUp) / (4 * kProduct);
}

bool exact_digits(const Limb* words, std::size_t count) {
  Limb all = 0;
  for (std::size_t i = 0; i < count; ++i) all |= words[i];
  return all >> kDigitBits == 0;
}

}  // namespace manymod::dpf52

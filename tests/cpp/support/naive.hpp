// SPDX-License-Identifier: Apache-2.0
// Slow big-integer arithmetic that shares no code with the library: 32-bit digits, schoolbook product,
// bit-by-bit remainder. Also a generator of integers at edges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace naive {

using Limbs = std::vector<std::uint64_t>;
using Digits = std::vector<std::uint32_t>;

/// Conversion between limbs and 32-bit digits; limbs() gives `count` limbs.
inline Digits digits(std::span<const std::uint64_t> limbs) {
  Digits out;
  for (const std::uint64_t limb : limbs) {
    out.push_back(static_cast<std::uint32_t>(limb));
    out.push_back(static_cast<std::uint32_t>(limb >> 32));
  }
  return out;
}

inline Limbs limbs(const Digits& digits, std::size_t count) {
  Limbs out(count, 0);
  for (std::size_t i = 0; i < digits.size() && i / 2 < count; ++i) {
    out[i / 2] |= std::uint64_t{digits[i]} << (32 * (i % 2));
  }
  return out;
}

/// a b in a.size() + b.size() digits.
Digits multiply(const Digits& a, const Digits& b);

/// a >= b; sizes may differ.
bool at_least(const Digits& a, const Digits& b);

/// a mod n in n.size() + 1 digits, by shifting in one bit after the other and subtracting n where possible.
Digits remainder(const Digits& a, const Digits& n);

/// a b mod n, in as many limbs as n has.
inline Limbs multiply_mod(const Limbs& a, const Limbs& b, const Limbs& n) {
  return limbs(remainder(multiply(digits(a), digits(b)), digits(n)), n.size());
}

/// a mod n, in as many limbs as n has.
inline Limbs reduce(const Limbs& a, const Limbs& n) {
  return limbs(remainder(digits(a), digits(n)), n.size());
}

/// base^exponent mod n, in as many limbs as n has.
inline Limbs power_mod(const Limbs& base, const Limbs& exponent, const Limbs& n) {
  Limbs one(n.size(), 0);
  one[0] = 1;
  Limbs result = reduce(one, n);
  for (std::size_t bit = 64 * exponent.size(); bit-- > 0;) {
    result = multiply_mod(result, result, n);
    if ((exponent[bit / 64] >> (bit % 64) & 1) != 0) result = multiply_mod(result, base, n);
  }
  return result;
}

/// Generates limbs that cause long carries: zeros, all ones, single bits, runs of ones, and uniformly random
/// ones.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : engine_(seed) {}

  /// A random number below `bound`.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

  std::uint64_t limb() {
    switch (below(6)) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0};
      case 2:
        return std::uint64_t{1} << below(64);
      case 3:
        return ~std::uint64_t{0} << below(64);
      default:
        return engine_();
    }
  }

  /// A number of `size` limbs.
  Limbs number(std::size_t size) {
    Limbs out(size);
    for (std::uint64_t& value : out) value = limb();
    return out;
  }

  /// An odd number above 1 whose top limb is not 0.
  Limbs odd_modulus(std::size_t size) {
    Limbs out = number(size);
    out.front() |= 1;
    if (out.back() <= 1) out.back() = size == 1 ? 3 : std::uint64_t{1} << below(64);
    return out;
  }

  /// A number below n; often 0 or n - 1.
  Limbs residue(const Limbs& n) {
    switch (below(8)) {
      case 0:
        return Limbs(n.size(), 0);
      case 1: {
        Limbs top = n;
        --top[0];
        return top;
      }
      default:
        return reduce(number(n.size()), n);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace naive

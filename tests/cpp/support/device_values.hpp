// SPDX-License-Identifier: Apache-2.0
// Reference values for tests of device multipliers, in 32-bit words: residues by schoolbook products and
// division, and numbers and moduli at edges.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "modmul/division.hpp"
#include "support/naive.hpp"

namespace manymod::test {

using Words = naive::Digits;

/// `value` in `count` words.
inline Words word_number(std::uint64_t value, std::size_t count) {
  Words words(count, 0);
  words[0] = static_cast<std::uint32_t>(value);
  if (count > 1) words[1] = static_cast<std::uint32_t>(value >> 32);
  return words;
}

/// 2^exponent in `count` words.
inline Words power_of_two(std::size_t exponent, std::size_t count) {
  Words words(count, 0);
  words.at(exponent / 32) = std::uint32_t{1} << (exponent % 32);
  return words;
}

/// The number of words up to the highest nonzero one, at least 1.
inline std::size_t significant_words(const Words& a) {
  std::size_t count = a.size();
  while (count > 1 && a[count - 1] == 0) --count;
  return count;
}

/// a in `count` words: truncated, or extended by zeros.
inline Words sized(Words a, std::size_t count) {
  a.resize(count, 0);
  return a;
}

/// Residues modulo an odd n > 1, in as many words as n is given in. R = 2^radix_bits.
class MontgomeryOracle {
 public:
  MontgomeryOracle(const Words& n, unsigned radix_bits) : size_(n.size()) {
    naive::Limbs limbs = limbs_of(sized(n, significant_words(n)));
    divisor_.assign(limbs);
    radix_ = reduce(power_of_two(radix_bits, radix_bits / 32 + 1));
    inverse_radix_ = power(word_halved(n), radix_bits);
  }

  [[nodiscard]] Words reduce(const Words& a) const {
    const naive::Limbs u = limbs_of(a);
    naive::Limbs r(divisor_.limbs());
    std::vector<std::uint64_t> scratch(Divisor::scratch_limbs(u.size()));
    divisor_.remainder_var(r, u, scratch.data());
    return sized(naive::digits(r), size_);
  }
  [[nodiscard]] Words times(const Words& a, const Words& b) const { return reduce(naive::multiply(a, b)); }
  /// a b / R mod n.
  [[nodiscard]] Words montgomery(const Words& a, const Words& b) const {
    return times(times(a, b), inverse_radix_);
  }
  [[nodiscard]] Words to_montgomery(const Words& a) const { return times(a, radix_); }
  [[nodiscard]] Words from_montgomery(const Words& a) const { return times(a, inverse_radix_); }
  [[nodiscard]] Words power(const Words& base, std::uint64_t exponent) const {
    return power(base, word_number(exponent, 2));
  }
  [[nodiscard]] Words power(const Words& base, const Words& exponent) const {
    Words result = reduce(word_number(1, 1));
    for (std::size_t bit = 32 * exponent.size(); bit-- > 0;) {
      result = times(result, result);
      if ((exponent[bit / 32] >> (bit % 32) & 1) != 0) result = times(result, base);
    }
    return result;
  }

 private:
  std::size_t size_;
  Divisor divisor_;
  Words radix_;          // R mod n
  Words inverse_radix_;  // 1/R mod n

  static naive::Limbs limbs_of(const Words& a) { return naive::limbs(a, (a.size() + 1) / 2); }

  // (n + 1) / 2 = 1/2 mod n.
  static Words word_halved(const Words& n) {
    Words half(n.size());
    for (std::size_t i = 0; i < n.size(); ++i) {
      half[i] = (n[i] >> 1) | (i + 1 < n.size() ? n[i + 1] << 31 : 0);
    }
    for (std::uint32_t& word : half) {
      if (++word != 0) break;
    }
    return half;
  }
};

/// A number of `count` words by the generator of edge patterns.
inline Words edge_words(naive::Generator& generate, std::size_t count) {
  return sized(naive::digits(generate.number((count + 1) / 2)), count);
}

/// The number whose bits [first, end) are 1 and all others 0.
inline Words run_of_ones(std::size_t first, std::size_t end, std::size_t count) {
  Words words(count, 0);
  for (std::size_t bit = first; bit < end; ++bit) words[bit / 32] |= std::uint32_t{1} << (bit % 32);
  return words;
}

/// Odd moduli above 1 of up to `count` words with extreme lengths, reductions and quotients, and `random`
/// more.
inline std::vector<Words> edge_moduli(naive::Generator& generate, std::size_t count, unsigned random) {
  const std::size_t bits = 32 * count;
  std::vector<Words> moduli{
      word_number(3, count),                                 // much shorter than the shape
      word_number(0xffffffffu, count),                       //
      run_of_ones(0, bits, count),                           // quotient words of all ones
      run_of_ones(0, bits - 1, count),                       //
      run_of_ones(32, bits, count),                          // low word 1 after setting the lowest bit
      power_of_two(bits - 1, count),                         // top bit alone
      power_of_two(bits - 32, count),                        // top word 1
      run_of_ones(bits - 32, bits, count),                   // top word all ones
      run_of_ones(bits / 3, 2 * bits / 3, count),            //
      sized(edge_words(generate, (count + 1) / 2), count)};  // half as long as the shape
  for (unsigned i = 0; i < random; ++i) {
    Words n = edge_words(generate, count);
    if (i % 3 == 1) n[0] = 1;
    if (i % 3 == 2) n[count - 1] = 1;
    moduli.push_back(n);
  }
  for (Words& n : moduli) {
    n[0] |= 1;
    if (significant_words(n) == 1 && n[0] == 1) n[0] = 5;
  }
  return moduli;
}

/// Numbers with as many words as n, some of them n or more, that give extreme products and carries, and
/// `random` more.
inline std::vector<Words> edge_operands(naive::Generator& generate, const Words& n, unsigned random) {
  const std::size_t count = n.size();
  const std::size_t bits = 32 * count;
  Words below = n;
  --below[0];
  std::vector<Words> operands{word_number(0, count),
                              word_number(1, count),
                              below,
                              n,
                              run_of_ones(0, bits, count),
                              power_of_two(bits - 1, count),
                              power_of_two(generate.below(bits), count)};
  const std::size_t first = generate.below(bits);
  operands.push_back(run_of_ones(first, first + 1 + generate.below(bits - first), count));
  for (unsigned i = 0; i < random; ++i) operands.push_back(edge_words(generate, count));
  return operands;
}

}  // namespace manymod::test

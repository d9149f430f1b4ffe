// SPDX-License-Identifier: Apache-2.0
// The constants of residue number systems taken apart, and moduli by small loops that share no code with
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "modmul/rns/constants.hpp"
#include "support/naive.hpp"

namespace manymod::rns {

using naive::Digits;

inline std::uint64_t product_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return a % m * (b % m) % m;
}

inline std::uint64_t power_mod(std::uint64_t a, std::uint64_t exponent, std::uint64_t m) {
  std::uint64_t r = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) r = product_mod(r, a, m);
    a = product_mod(a, a, m);
  }
  return r;
}

inline std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t m) { return power_mod(a % m, m - 2, m); }

inline std::uint64_t remainder_of(const Digits& x, std::uint64_t m) {
  std::uint64_t r = 0;
  for (std::size_t i = x.size(); i-- > 0;) r = (r << 32 | x[i]) % m;
  return r;
}

/// The channels of both bases, and what they make.
struct Moduli {
  explicit Moduli(unsigned bits) {
    for (unsigned i = 0; i < bases_of(bits).channels; ++i) {
      b.push_back(channel_of_b(i));
      a.push_back(channel_of_a(i));
    }
  }
  std::vector<std::uint64_t> b, a;

  static Digits product(const std::vector<std::uint64_t>& moduli, std::size_t but = SIZE_MAX) {
    Digits x{1};
    for (std::size_t i = 0; i < moduli.size(); ++i) {
      if (i != but) x = naive::multiply(x, {static_cast<std::uint32_t>(moduli[i])});
    }
    return x;
  }
  static std::uint64_t product_mod_m(const std::vector<std::uint64_t>& moduli, std::uint64_t m,
                                     std::size_t but = SIZE_MAX) {
    std::uint64_t x = 1;
    for (std::size_t i = 0; i < moduli.size(); ++i) x = i == but ? x : product_mod(x, moduli[i], m);
    return x;
  }
  [[nodiscard]] std::uint64_t kappa(std::size_t i) const {
    return product_mod(std::uint64_t{1} << 32, inverse_mod(product_mod_m(b, a[i]), a[i]), a[i]);
  }
};

/// A matrix of a block.
struct MatrixView {
  MatrixShape shape;
  const std::byte* bytes;

  [[nodiscard]] std::uint32_t digit(unsigned word, unsigned p, unsigned target, unsigned byte) const {
    return std::to_integer<std::uint32_t>(bytes[matrix_offset(shape, word, p, target, byte)]);
  }
  [[nodiscard]] std::uint64_t entry(unsigned word, unsigned p, unsigned target) const {
    std::uint64_t value = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      value |= std::uint64_t{digit(word, p, target, byte)} << 8 * byte;
    return value;
  }
  /// S_0 .. S_3 of the words' bytes.
  [[nodiscard]] std::array<std::uint64_t, 4> sums(const std::vector<std::uint32_t>& words,
                                                  unsigned target) const {
    std::array<std::uint64_t, 4> s{};
    for (unsigned v = 0; v < words.size(); ++v) {
      for (unsigned p = 0; p < 4; ++p) {
        for (unsigned byte = 0; byte < 4; ++byte)
          s[byte] += (words[v] >> 8 * p & 255) * digit(v, p, target, byte);
      }
    }
    return s;
  }
  [[nodiscard]] std::uint64_t total(const std::vector<std::uint32_t>& words, unsigned target) const {
    const std::array<std::uint64_t, 4> s = sums(words, target);
    return s[0] + (s[1] << 8) + (s[2] << 16) + (s[3] << 24);
  }
};

struct Block {
  unsigned bits;
  Sizes sizes;
  std::vector<std::byte> bytes;

  Block(unsigned width, std::vector<std::byte> block)
      : bits(width), sizes(sizes_of(width)), bytes(std::move(block)) {}
  explicit Block(unsigned width) : Block(width, base_constants(width)) {}

  [[nodiscard]] Channel b(unsigned j) const { return channel(j); }
  [[nodiscard]] Channel a(unsigned i) const { return channel(sizes.channels() + i); }
  /// What Sizes::set_up_at says of these channels.
  [[nodiscard]] std::uint32_t set_up_b(unsigned j) const { return set_up(j); }
  [[nodiscard]] std::uint32_t set_up_a(unsigned i) const { return set_up(sizes.channels() + i); }
  [[nodiscard]] MatrixView to_a() const { return {sizes.extension(), bytes.data() + sizes.to_a()}; }
  [[nodiscard]] MatrixView to_b() const { return {sizes.extension(), bytes.data() + sizes.to_b()}; }
  [[nodiscard]] MatrixView into_b() const { return {sizes.input(), bytes.data() + sizes.into_b()}; }
  [[nodiscard]] MatrixView into_a() const { return {sizes.input(), bytes.data() + sizes.into_a()}; }
  [[nodiscard]] MatrixView out() const { return {sizes.output(), bytes.data() + sizes.out()}; }

 private:
  template <class T>
  [[nodiscard]] T part(std::size_t begin, unsigned index) const {
    T value{};
    std::memcpy(&value, bytes.data() + begin + index * sizeof value, sizeof value);
    return value;
  }
  [[nodiscard]] Channel channel(unsigned index) const { return part<Channel>(sizes.channels_at(), index); }
  [[nodiscard]] std::uint32_t set_up(unsigned index) const {
    return part<std::uint32_t>(sizes.set_up_at(), index);
  }
};

/// Words along K: the coordinates, then their rank as the Cox estimates it.
inline std::vector<std::uint32_t> with_rank(std::vector<std::uint32_t> xi, std::uint32_t offset) {
  std::uint32_t sum = offset;
  for (const std::uint32_t x : xi) sum += x >> 15;
  xi.push_back(sum >> 16);
  return xi;
}
inline constexpr std::uint32_t kOffsetOfA = 1u << 15;

}  // namespace manymod::rns

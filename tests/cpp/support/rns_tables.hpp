// SPDX-License-Identifier: Apache-2.0
// Readers of the constants of residue number systems, and an independent computation of the moduli and
// factors by small loops that share no code with the library.
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

/// a b mod m. On input: m < 2^32.
inline std::uint64_t product_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return a % m * (b % m) % m;
}

/// a^exponent mod m.
inline std::uint64_t power_mod(std::uint64_t a, std::uint64_t exponent, std::uint64_t m) {
  std::uint64_t r = 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) r = product_mod(r, a, m);
    a = product_mod(a, a, m);
  }
  return r;
}

/// 1 / a mod m, for a prime m.
inline std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t m) { return power_mod(a % m, m - 2, m); }

/// x mod m.
inline std::uint64_t remainder_of(const Digits& x, std::uint64_t m) {
  std::uint64_t r = 0;
  for (std::size_t i = x.size(); i-- > 0;) r = (r << 32 | x[i]) % m;
  return r;
}

/// The primes of both bases of a width, and values derived from them.
struct Moduli {
  explicit Moduli(unsigned bits) {
    for (unsigned i = 0; i < bases_of(bits).channels; ++i) {
      b.push_back(channel_of_b(i));
      a.push_back(channel_of_a(i));
    }
  }
  std::vector<std::uint64_t> b, a;

  /// The product of the moduli, without number `except` if given.
  static Digits product(const std::vector<std::uint64_t>& moduli, std::size_t except = SIZE_MAX) {
    Digits x{1};
    for (std::size_t i = 0; i < moduli.size(); ++i) {
      if (i != except) x = naive::multiply(x, {static_cast<std::uint32_t>(moduli[i])});
    }
    return x;
  }
  /// That product modulo m.
  static std::uint64_t product_mod_m(const std::vector<std::uint64_t>& moduli, std::uint64_t m,
                                     std::size_t except = SIZE_MAX) {
    std::uint64_t x = 1;
    for (std::size_t i = 0; i < moduli.size(); ++i) x = i == except ? x : product_mod(x, moduli[i], m);
    return x;
  }
  /// kappa_i = 2^32 / M_B mod a_i.
  [[nodiscard]] std::uint64_t kappa(std::size_t i) const {
    return product_mod(std::uint64_t{1} << 32, inverse_mod(product_mod_m(b, a[i]), a[i]), a[i]);
  }

  /// The factors of byte p of word i of an operand: v(i, p) = 2^(8p) / (kappa_i A_i) mod a_i in A, and 2^(8p)
  /// in B.
  using ByteFactors = std::vector<std::array<std::uint64_t, 4>>;
  [[nodiscard]] ByteFactors byte_factors_of_a() const {
    ByteFactors factors;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::uint64_t u = inverse_mod(product_mod(kappa(i), product_mod_m(a, a[i], i), a[i]), a[i]);
      factors.emplace_back();
      for (unsigned p = 0; p < 4; ++p) factors[i][p] = product_mod(u, std::uint64_t{1} << 8 * p, a[i]);
    }
    return factors;
  }
  [[nodiscard]] ByteFactors byte_factors_of_b() const {
    return ByteFactors(b.size(), {1, 1 << 8, 1 << 16, 1 << 24});
  }
};

inline std::uint32_t byte_of(std::uint32_t word, unsigned p) { return word >> 8 * p & 255; }

/// One of the matrices of a block.
struct MatrixView {
  MatrixShape shape;
  const std::byte* bytes;

  /// Byte `byte` of an entry.
  [[nodiscard]] std::uint32_t digit(unsigned word, unsigned p, unsigned target, unsigned byte) const {
    return std::to_integer<std::uint32_t>(bytes[matrix_offset(shape, word, p, target, byte)]);
  }
  /// The entry for byte p of a word and a target.
  [[nodiscard]] std::uint64_t entry(unsigned word, unsigned p, unsigned target) const {
    std::uint64_t value = 0;
    for (unsigned byte = 0; byte < 4; ++byte)
      value |= std::uint64_t{digit(word, p, target, byte)} << 8 * byte;
    return value;
  }
  /// The sums S_0 .. S_3 of one target for an operand's words.
  [[nodiscard]] std::array<std::uint64_t, 4> sums(const std::vector<std::uint32_t>& words,
                                                  unsigned target) const {
    std::array<std::uint64_t, 4> s{};
    for (unsigned v = 0; v < words.size(); ++v) {
      for (unsigned p = 0; p < 4; ++p) {
        for (unsigned byte = 0; byte < 4; ++byte) s[byte] += byte_of(words[v], p) * digit(v, p, target, byte);
      }
    }
    return s;
  }
  /// S_0 + 2^8 S_1 + 2^16 S_2 + 2^24 S_3.
  [[nodiscard]] std::uint64_t total(const std::vector<std::uint32_t>& words, unsigned target) const {
    const std::array<std::uint64_t, 4> s = sums(words, target);
    return s[0] + (s[1] << 8) + (s[2] << 16) + (s[3] << 24);
  }
};

/// The constants of a width, of the bases alone or of a shared modulus, with typed access.
struct Block {
  unsigned bits;
  ConstantsLayout sizes;
  std::vector<std::byte> bytes;

  Block(unsigned width, std::vector<std::byte> block)
      : bits(width), sizes(sizes_of(width)), bytes(std::move(block)) {}
  explicit Block(unsigned width) : Block(width, base_constants(width)) {}

  // The following are indexed by place; the first place of a channel has the channel's number.

  [[nodiscard]] StoredChannel b(unsigned j) const { return channel(j); }
  [[nodiscard]] StoredChannel a(unsigned i) const { return channel(sizes.places() + i); }
  /// The weight of byte p of residue i of A in the rank, in units of 2^-16.
  [[nodiscard]] std::uint32_t weight(unsigned i, unsigned p) const {
    return byte_of(a(i).factor, p) + 256 * byte_of(a(i).companion, p);
  }
  /// The words at ConstantsLayout::set_up_at().
  [[nodiscard]] std::uint32_t set_up_b(unsigned j) const { return set_up(j); }
  [[nodiscard]] std::uint32_t set_up_a(unsigned i) const { return set_up(sizes.places() + i); }
  /// The words at ConstantsLayout::negatives_at(): those of B, then as many of A.
  [[nodiscard]] std::vector<std::uint32_t> negatives() const {
    std::vector<std::uint32_t> words;
    for (unsigned i = 0; i < 2 * sizes.negative_words(); ++i) {
      words.push_back(part<std::uint32_t>(sizes.negatives_at(), i));
    }
    return words;
  }
  [[nodiscard]] MatrixView b_to_a() const { return {sizes.extension(), bytes.data() + sizes.b_to_a()}; }
  [[nodiscard]] MatrixView a_to_b() const { return {sizes.extension(), bytes.data() + sizes.a_to_b()}; }
  [[nodiscard]] MatrixView words_to_b() const { return {sizes.input(), bytes.data() + sizes.words_to_b()}; }
  [[nodiscard]] MatrixView words_to_a() const { return {sizes.input(), bytes.data() + sizes.words_to_a()}; }
  [[nodiscard]] MatrixView out() const { return {sizes.output(), bytes.data() + sizes.out()}; }

 private:
  template <class T>
  [[nodiscard]] T part(std::size_t begin, unsigned index) const {
    T value{};
    std::memcpy(&value, bytes.data() + begin + index * sizeof value, sizeof value);
    return value;
  }
  [[nodiscard]] StoredChannel channel(unsigned index) const {
    return part<StoredChannel>(sizes.channels_at(), index);
  }
  [[nodiscard]] std::uint32_t set_up(unsigned index) const {
    return part<std::uint32_t>(sizes.set_up_at(), index);
  }
};

/// The largest errors of the rank of residues in A, and the part of M_A that is left for elements (`room`),
/// in units of 2^-48 (docs/rns/theory.md, "Bytes as coordinates").
struct RankErrors {
  static constexpr unsigned kBits = 48;
  static constexpr std::uint64_t kHalf = std::uint64_t{1} << (kBits - 1);
  std::uint64_t under = 0, over = 0;

  explicit RankErrors(const Block& block) {
    const Moduli moduli(block.bits);
    const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
    for (unsigned i = 0; i < moduli.a.size(); ++i) {
      for (unsigned p = 0; p < 4; ++p) {
        const std::uint64_t v = factors[i][p] << 16, estimate = block.weight(i, p) * moduli.a[i];
        under += most(p) * scaled(v > estimate ? v - estimate : 0, moduli.a[i]);
        over += most(p) * scaled(estimate > v ? estimate - v : 0, moduli.a[i]);
      }
    }
    under += std::uint64_t{4} << (kBits - 8);  // the fractions that four threads drop
  }
  /// With the offset of one half, an estimate for elements below room M_A is below the next integer.
  [[nodiscard]] std::uint64_t room() const { return kHalf - over; }

 private:
  static std::uint64_t most(unsigned p) { return byte_of(0x7fffffff, p); }
  // 2^48 x / (2^16 m), rounded up.
  static std::uint64_t scaled(std::uint64_t x, std::uint64_t m) { return ((x << 32) + m - 1) / m; }
};

/// c: every element is below c N, c = 2 lambda n, for coordinates in B below lambda = 2 moduli.
constexpr std::uint32_t element_bound(const ConstantsLayout& sizes) { return 4 * sizes.channels; }

/// The words of channels by place, for one of a thread quad's two instances: in a split channel quad the
/// places of the other instance have zeros.
inline std::vector<std::uint32_t> by_place(const ConstantsLayout& sizes, std::vector<std::uint32_t> words,
                                           unsigned instance = 0) {
  if (sizes.is_split()) words.insert(words.end() - std::ptrdiff_t{2} * instance, 2, 0);
  return words;
}

/// The words along K of an extension from B: the coordinates by place, then their rank as the Cox estimates
/// it.
inline std::vector<std::uint32_t> with_rank(std::vector<std::uint32_t> xi, const ConstantsLayout& sizes,
                                            unsigned instance = 0) {
  std::uint32_t sum = 0;
  for (const std::uint32_t x : xi) sum += x >> 15;
  xi = by_place(sizes, std::move(xi), instance);
  xi.push_back(sum >> 16);
  return xi;
}

/// The words along K of an extension from A: the residues as they are stored, by place, then their rank. Each
/// thread of a thread quad drops the fraction of its own sum.
inline std::vector<std::uint32_t> with_rank(std::vector<std::uint32_t> w, const Block& block,
                                            unsigned instance = 0) {
  w = by_place(block.sizes, std::move(w), instance);
  std::uint64_t low[4] = {}, sum = 128;
  for (unsigned place = 0; place < w.size(); ++place) {
    const StoredChannel channel = block.a(place);
    for (unsigned p = 0; p < 4; ++p) {
      low[place % 4] += std::uint64_t{byte_of(w[place], p)} * byte_of(channel.factor, p);
      sum += std::uint64_t{byte_of(w[place], p)} * byte_of(channel.companion, p);
    }
  }
  for (const std::uint64_t of_thread : low) sum += of_thread >> 8;
  w.push_back(static_cast<std::uint32_t>(sum >> 8));
  return w;
}

}  // namespace manymod::rns

// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "arch/cuda/stream_shape.hpp"
#include "modmul/rns/channel_field.hpp"
#include "modmul/rns/form.hpp"
#include "support/naive.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {
namespace {

using naive::Generator;
using naive::Limbs;

TEST(RnsConstants, PrimesAreTheLargestBelowTwoTo31) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 31;
  constexpr std::uint64_t kBegin = kEnd - (1 << 14);
  std::vector<bool> composite(kEnd - kBegin);
  for (std::uint64_t d = 2; d * d < kEnd; ++d) {
    for (std::uint64_t x = (kBegin + d - 1) / d * d; x < kEnd; x += d) composite[x - kBegin] = true;
  }
  std::vector<std::uint32_t> largest;
  for (std::uint64_t x = kEnd; x-- > kBegin && largest.size() < std::size(kPrimes);) {
    if (!composite[x - kBegin]) largest.push_back(static_cast<std::uint32_t>(x));
  }
  const auto b = largest.begin() + kMostChannels;
  std::stable_partition(b, largest.end(), [](std::uint32_t p) { return p % 4 == 3; });
  EXPECT_TRUE(std::equal(largest.begin(), largest.end(), std::begin(kPrimes), std::end(kPrimes)));
  EXPECT_EQ(std::size(kPrimes), 2 * kMostChannels);
}

TEST(RnsConstants, QuotientsOfChannelFields) {
  Generator draw(76);
  for (const std::uint32_t m : {3u, 5u, 65537u, kPrimes[0], kPrimes[kMostChannels], kPrimes[543]}) {
    const ChannelField field(m);
    std::vector<std::uint32_t> values{0, 1, 2, m / 2, m / 2 + 1, m - 2, m - 1};
    for (unsigned i = 0; i < 200; ++i) values.push_back(static_cast<std::uint32_t>(draw.limb() % m));
    for (const std::uint32_t a : values) ASSERT_EQ(field.quotient(a), (std::uint64_t{a} << 32) / m) << a;
  }
}

class RnsConstantsOfAllWidths : public testing::TestWithParam<unsigned> {};

TEST_P(RnsConstantsOfAllWidths, ChannelsAreThoseOfTheBases) {
  const unsigned n = bases_of(GetParam()).channels;
  ASSERT_LE(n, kMostChannels);
  EXPECT_EQ(n % 2, 0u);
  for (unsigned i = 0; i < n; ++i) {
    EXPECT_EQ(channel_of_a(i), kPrimes[i]);
    EXPECT_EQ(channel_of_b(i), kPrimes[kMostChannels + i]);
  }
}

void expect_coordinate(const StoredChannel& channel, std::uint64_t factor) {
  EXPECT_EQ(channel.factor, factor);
  EXPECT_EQ(channel.companion, (factor << 32) / channel.modulus);
}

/// Expects a channel of B with roots. @return its root, which is a factor of the entry of the matrix from A
/// for source 0
std::uint64_t expect_root(const StoredChannel& channel, std::uint64_t entry, std::uint64_t without_root,
                          std::uint64_t to_coordinate) {
  const std::uint64_t m = channel.modulus;
  const std::uint64_t root = product_mod(entry, inverse_mod(without_root, m), m);
  const bool positive = channel.factor == 1;
  EXPECT_EQ(channel.factor, positive ? 1u : ~0u);
  EXPECT_EQ(channel.companion, positive ? 0 : 2 * m);
  EXPECT_EQ(product_mod(root, root, m), positive ? to_coordinate : m - to_coordinate);
  return root;
}

TEST_P(RnsConstantsOfAllWidths, ChannelsOfTheBases) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
  for (unsigned place = 0; place < block.sizes.places(); ++place) {
    const unsigned i = block.sizes.channel(place);
    const StoredChannel in_b = block.b(place);
    const StoredChannel in_a = block.a(place);
    ASSERT_EQ(in_b.modulus, moduli.b[i]);
    ASSERT_EQ(in_a.modulus, moduli.a[i]);
    ASSERT_EQ(in_b.modulus * in_b.negative_inverse, ~0u);
    ASSERT_EQ(in_a.modulus * in_a.negative_inverse, ~0u);
    const std::uint64_t radix = std::uint64_t{1} << 32;
    const std::uint64_t cofactor = Moduli::product_mod_m(moduli.b, in_b.modulus, i);
    expect_coordinate(in_b, 0);
    EXPECT_EQ(block.set_up_b(place),
              in_b.modulus - product_mod(radix, inverse_mod(cofactor, in_b.modulus), in_b.modulus));
    const std::uint64_t kappa = moduli.kappa(i);
    EXPECT_EQ(block.set_up_a(place), product_mod(kappa, radix, in_a.modulus));
    const auto weight = [&](unsigned p) {
      return std::min<std::uint64_t>(((factors[i][p] << 17) + in_a.modulus) / (2 * moduli.a[i]), 0xffff);
    };
    for (unsigned p = 0; p < 4; ++p) EXPECT_EQ(block.weight(place, p), weight(p));
  }
}

/// The negatives of places 4 q + t, for four q that begin with a multiple of 4, are contiguous.
TEST_P(RnsConstantsOfAllWidths, NegativesOfModuli) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const unsigned places = block.sizes.places(), words = block.sizes.negative_words();
  EXPECT_EQ(words, (places + 15) / 16 * 16);
  EXPECT_EQ(block.sizes.negatives_at() % 16, 0u);
  EXPECT_EQ(block.sizes.negatives_at() + 8 * std::size_t{words}, block.sizes.b_to_a());
  const std::vector<std::uint32_t> negatives = block.negatives();
  for (unsigned word = 0; word < words; ++word) {
    const unsigned q = word / 16 * 4 + word % 4, t = word / 4 % 4, place = 4 * q + t;
    const unsigned i = block.sizes.channel(place);
    const std::uint64_t radix = std::uint64_t{1} << 32;
    EXPECT_EQ(negatives[word], place < places ? radix - moduli.b[i] : 0);
    EXPECT_EQ(negatives[words + word], place < places ? radix - moduli.a[i] : 0);
    EXPECT_EQ(ConstantsLayout::negative_index(place), word);
  }
}

/// Expects every entry of `matrix` from `source` to `target`, times `scales`, in all places of channels,
/// where `factors` are those of the source words' bytes; words behind the rank are 0.
void expect_extension(const MatrixView& matrix, const ConstantsLayout& sizes,
                      const std::vector<std::uint64_t>& source, const Moduli::ByteFactors& factors,
                      const std::vector<std::uint64_t>& target, const std::vector<std::uint64_t>& scales) {
  for (unsigned place = 0; place < sizes.places(); ++place) {
    const unsigned i = sizes.channel(place);
    const std::uint64_t m = target[i];
    for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
      const bool of_channel = v < sizes.places();
      std::uint64_t word = 0;
      if (of_channel) word = Moduli::product_mod_m(source, m, sizes.channel(v));
      if (v == sizes.places()) word = m - Moduli::product_mod_m(source, m);
      word = product_mod(word, scales[i], m);
      for (unsigned p = 0; p < 4; ++p) {
        const std::uint64_t factor = of_channel ? factors[sizes.channel(v)][p] : std::uint64_t{1} << 8 * p;
        ASSERT_EQ(matrix.entry(v, p, place), product_mod(word, factor, m)) << v << ' ' << p << ' ' << place;
      }
    }
  }
}

TEST_P(RnsConstantsOfAllWidths, ExtensionMatrices) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const ConstantsLayout& sizes = block.sizes;
  const std::vector<std::uint64_t> ones(sizes.channels, 1);
  expect_extension(block.b_to_a(), sizes, moduli.b, moduli.byte_factors_of_b(), moduli.a, ones);
  expect_extension(block.a_to_b(), sizes, moduli.a, moduli.byte_factors_of_a(), moduli.b, ones);
}

/// Expects the column of an input matrix for a target m in a place: 2^(32 v + 8 p) scale.
void expect_input(const MatrixView& matrix, unsigned words, std::uint64_t m, unsigned place,
                  std::uint64_t scale) {
  std::uint64_t expected = scale;
  for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
    for (unsigned p = 0; p < 4; ++p, expected = expected * 256 % m) {
      ASSERT_EQ(matrix.entry(v, p, place), v < words ? expected : 0);
    }
  }
}

TEST_P(RnsConstantsOfAllWidths, InputMatrices) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  for (unsigned place = 0; place < block.sizes.places(); ++place) {
    const unsigned i = block.sizes.channel(place);
    expect_input(block.words_to_b(), block.sizes.words, moduli.b[i], place, 1);
    expect_input(block.words_to_a(), block.sizes.words, moduli.a[i], place, moduli.kappa(i));
  }
}

/// -x mod 2^(32 words).
Digits negated(Digits x, std::size_t words) {
  x.resize(words, 0);
  std::uint64_t carry = 1;
  for (std::uint32_t& digit : x) {
    carry += ~digit;
    digit = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return x;
}

/// Expects row p of word v to have the bytes of x.
void expect_output(const MatrixView& out, unsigned v, unsigned p, Digits x) {
  x.resize(out.shape.target_quads * 4, 0);
  for (unsigned w = 0; w < x.size(); ++w) ASSERT_EQ(out.entry(v, p, w), x[w]) << v << ' ' << p << ' ' << w;
}

TEST_P(RnsConstantsOfAllWidths, OutputMatrix) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const MatrixView out = block.out();
  const Moduli::ByteFactors factors = moduli.byte_factors_of_a();
  ASSERT_EQ(out.shape.target_quads, block.sizes.output_quads());
  const Digits rank = negated(Moduli::product(moduli.a), 4 * block.sizes.output_quads());
  for (unsigned v = 0; v < 8 * out.shape.steps; ++v) {
    const bool of_residue = v < block.sizes.places(), of_rank = v == block.sizes.rank_word();
    const unsigned i = block.sizes.channel(v);
    const Digits word = of_residue ? Moduli::product(moduli.a, i) : of_rank ? rank : Digits{0};
    for (unsigned p = 0; p < 4; ++p) {
      const std::uint64_t factor = of_residue ? factors[i][p] : std::uint64_t{1} << 8 * p;
      expect_output(out, v, p, naive::multiply(word, {static_cast<std::uint32_t>(factor)}));
    }
  }
}

/// Expects the rows and columns of a split channel quad to be repeated for both instances of a thread quad.
void expect_same_in_second_places(const Block& block) {
  const ConstantsLayout& sizes = block.sizes;
  const std::vector<std::uint32_t> negatives = block.negatives();
  const auto same_channel = [](const StoredChannel& x, const StoredChannel& y) {
    return std::memcmp(&x, &y, sizeof x) == 0;
  };
  const auto same = [](const MatrixView& matrix, unsigned v, unsigned i, unsigned other_v, unsigned other_i) {
    for (unsigned p = 0; p < 4; ++p) {
      if (matrix.entry(v, p, i) != matrix.entry(other_v, p, other_i)) return false;
    }
    return true;
  };
  for (unsigned second = sizes.channels; second < sizes.places(); ++second) {
    const unsigned first = second - 2;
    EXPECT_TRUE(same_channel(block.b(second), block.b(first)));
    EXPECT_TRUE(same_channel(block.a(second), block.a(first)));
    EXPECT_EQ(block.set_up_b(second), block.set_up_b(first));
    EXPECT_EQ(block.set_up_a(second), block.set_up_a(first));
    const unsigned negative = ConstantsLayout::negative_index(second),
                   first_negative = ConstantsLayout::negative_index(first);
    for (const unsigned base : {0u, sizes.negative_words()}) {
      EXPECT_EQ(negatives[base + negative], negatives[base + first_negative]);
    }
    for (const MatrixView& matrix :
         {block.b_to_a(), block.a_to_b(), block.words_to_a(), block.words_to_b()}) {
      for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
        ASSERT_TRUE(same(matrix, v, second, v, first)) << v << ' ' << second;
      }
    }
    for (const MatrixView& matrix : {block.b_to_a(), block.a_to_b(), block.out()}) {
      for (unsigned i = 0; i < 4 * matrix.shape.target_quads; ++i) {
        ASSERT_TRUE(same(matrix, second, i, first, i)) << second << ' ' << i;
      }
    }
  }
}

TEST_P(RnsConstantsOfAllWidths, SecondPlacesAreAsTheFirst) {
  const ConstantsLayout sizes = sizes_of(GetParam());
  EXPECT_EQ(sizes.places(), (sizes.channels + 3) / 4 * 4);
  EXPECT_EQ(sizes.is_split(), sizes.places() == sizes.channels + 2);
  for (unsigned place = 0; place < sizes.places(); ++place) {
    EXPECT_EQ(sizes.channel(place), place < sizes.channels ? place : place - 2);
  }
  Generator draw(82);
  expect_same_in_second_places(Block(GetParam()));
  const Limbs n = draw.odd_modulus(GetParam() / 64);
  expect_same_in_second_places(Block(GetParam(), modulus_constants(GetParam(), n)));
}

TEST_P(RnsConstantsOfAllWidths, SquaredRadix) {
  const Digits radix = Moduli::product(Moduli(GetParam()).b);
  Digits expected = naive::multiply(radix, radix);
  while (expected.back() == 0) expected.pop_back();
  EXPECT_EQ(squared_radix(GetParam()), expected);
}

TEST(RnsConstants, UnknownWidthsAreRefused) {
  for (const unsigned bits : {0u, 511u, 1000u, 16384u})
    EXPECT_THROW(base_constants(bits), std::invalid_argument);
  EXPECT_THROW(modulus_constants(512, Limbs(9, 1)), std::invalid_argument);
}

/// The CRC-32 of IEEE 802.3.
std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t r = ~0u;
  for (const std::byte byte : bytes) {
    r ^= std::to_integer<std::uint32_t>(byte);
    for (unsigned bit = 0; bit < 8; ++bit) r = r >> 1 ^ (0xedb88320u & (0 - (r & 1)));
  }
  return ~r;
}

struct Checksum {
  unsigned bits;
  unsigned less;  ///< the shared modulus is 2^bits less this; 0: no modulus is shared
  std::uint32_t crc;
};

/// Of reference/modmul/rns/layout.py; tests/python/test_reference_rns_layout.py computes them.
constexpr Checksum kChecksums[] = {
    {512, 0, 0xa374bfe9u},  {512, 5, 0x8da09bb2u},  {1024, 0, 0x83bc9f55u}, {1024, 5, 0xea111514u},
    {1536, 0, 0x2d8ac226u}, {1536, 5, 0x6ab8c68bu}, {2048, 0, 0x61621300u}, {2048, 5, 0x513de3bbu},
    {3072, 0, 0xd4567774u}, {3072, 5, 0x2ecdf240u}, {4096, 0, 0xcba21ad3u}, {4096, 5, 0xca30aaedu},
    {6144, 0, 0xe4971f9cu}, {6144, 5, 0x495ce8cbu}, {8192, 0, 0xedee1de3u}, {8192, 5, 0xd75e8f99u},
};

TEST(RnsConstants, BytesOfTheReference) {
  for (const Checksum& row : kChecksums) {
    Limbs n(row.bits / 64, ~Limb{0});
    n[0] -= row.less - 1;
    const std::vector<std::byte> block =
        row.less == 0 ? base_constants(row.bits) : modulus_constants(row.bits, n);
    EXPECT_EQ(crc32(block), row.crc) << row.bits << ' ' << row.less;
  }
}

TEST_P(RnsConstantsOfAllWidths, SharedModulusDiffersInItsPartsOnly) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  Generator draw(74);
  const Limbs n = draw.odd_modulus(GetParam() / 64);
  const Block of_n(GetParam(), modulus_constants(GetParam(), n));
  ASSERT_EQ(of_n.bytes.size(), block.bytes.size());
  std::vector<std::uint64_t> scales, roots;
  for (unsigned i = 0; i < block.sizes.channels; ++i) {
    const std::uint64_t m = moduli.a[i];
    const std::uint64_t k = moduli.kappa(i);
    scales.push_back(product_mod(product_mod(remainder_of(naive::digits(n), m), k, m), k, m));
    const StoredChannel b = of_n.b(i);
    const std::uint64_t divisor = product_mod(remainder_of(naive::digits(n), b.modulus),
                                              Moduli::product_mod_m(moduli.b, b.modulus, i), b.modulus);
    const std::uint64_t inverse = inverse_mod(divisor, b.modulus);
    EXPECT_EQ(b.modulus, moduli.b[i]);
    EXPECT_EQ(b.negative_inverse, block.b(i).negative_inverse);
    const std::uint64_t to_coordinate = b.modulus - product_mod(std::uint64_t{1} << 32, inverse, b.modulus);
    if (block.sizes.has_roots()) {
      roots.push_back(
          expect_root(b, of_n.a_to_b().entry(0, 0, i), block.a_to_b().entry(0, 0, i), to_coordinate));
    } else {
      expect_coordinate(b, to_coordinate);
      roots.push_back(1);
    }
    expect_input(of_n.words_to_b(), block.sizes.words, b.modulus, i, roots.back());
  }
  const ConstantsLayout& sizes = block.sizes;
  expect_extension(of_n.b_to_a(), sizes, moduli.b, moduli.byte_factors_of_b(), moduli.a, scales);
  expect_extension(of_n.a_to_b(), sizes, moduli.a, moduli.byte_factors_of_a(), moduli.b, roots);
  const auto expect_same = [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
    EXPECT_TRUE(
        std::equal(of_n.bytes.begin() + first, of_n.bytes.begin() + last, block.bytes.begin() + first));
  };
  // The channels of A, the set-up constants and the negatives, and everything behind the matrices into B.
  expect_same(sizes.places() * sizeof(StoredChannel), sizes.b_to_a());
  expect_same(sizes.words_to_a(), sizes.bytes());
}

TEST_P(RnsConstantsOfAllWidths, ModuliThatAreNotPrimeToBAreRefused) {
  const std::size_t limbs = GetParam() / 64;
  const Moduli moduli(GetParam());
  Generator draw(75);
  EXPECT_TRUE(modulus_constants(GetParam(), Limbs(limbs, 0)).empty());
  EXPECT_TRUE(modulus_constants(GetParam(), Limbs()).empty());
  for (const std::size_t j : {std::size_t{0}, std::size_t{1}, moduli.b.size() - 1}) {
    Digits factor = naive::digits(draw.odd_modulus(limbs));
    factor.pop_back();
    const auto times = [&](std::uint64_t m) {
      return naive::limbs(naive::multiply(factor, {static_cast<std::uint32_t>(m)}), limbs);
    };
    EXPECT_TRUE(modulus_constants(GetParam(), times(moduli.b[j])).empty());
    EXPECT_TRUE(modulus_constants(GetParam(), Limbs{moduli.b[j]}).empty());
    EXPECT_FALSE(modulus_constants(GetParam(), times(moduli.a[j])).empty());
  }
  EXPECT_FALSE(modulus_constants(GetParam(), Limbs{1}).empty());
}

/// A kernel whose tiles have up to kMost channel quads finds those of all steps where StreamShape tells.
template <unsigned kBits, unsigned kMost>
void expect_tiles() {
  constexpr ConstantsLayout kSizes = sizes_of(kBits);
  constexpr cuda::Tiles kTiles{kSizes.quads(), kMost};
  using Shape = cuda::StreamShape<2, kSizes.steps(), kTiles>;
  constexpr std::size_t kQuad = MatrixShape::kQuadBytes;
  Generator draw(77);
  std::vector<std::byte> before;
  while (before.size() < kSizes.bytes()) before.push_back(static_cast<std::byte>(draw.below(256)));
  std::vector<std::byte> after = before;
  order_by_tiles(kBits, kTiles, after);
  const auto at = [](std::vector<std::byte>& bytes, std::size_t i) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(i);
  };
  EXPECT_TRUE(std::equal(after.begin(), at(after, kSizes.b_to_a()), before.begin()));
  EXPECT_TRUE(std::equal(at(after, kSizes.words_to_b()), after.end(), at(before, kSizes.words_to_b())));
  std::size_t end = 0;
  for (unsigned tile = 0; tile < Shape::kTiles; ++tile) {
    ASSERT_EQ(Shape::begin(tile), end);
    end += Shape::bytes(tile);
    ASSERT_LE(Shape::bytes(tile), Shape::kBufferBytes);
    const std::size_t matrix = tile < Shape::kTilesPerMatrix ? kSizes.b_to_a() : kSizes.a_to_b();
    const unsigned quads = Shape::quads(tile);
    ASSERT_LE(quads, kMost);
    ASSERT_TRUE(quads == kSizes.quads() / Shape::kTilesPerMatrix ||
                quads == kSizes.quads() / Shape::kTilesPerMatrix + 1);
    for (unsigned i = 0; i < kSizes.steps() * quads; ++i) {
      const std::size_t from = std::size_t{i / quads} * kSizes.quads() + Shape::first(tile) + i % quads;
      const auto found = at(after, kSizes.b_to_a() + Shape::begin(tile) + i * kQuad);
      ASSERT_TRUE(std::equal(found, found + kQuad, at(before, matrix + from * kQuad))) << tile << ' ' << i;
    }
  }
  EXPECT_EQ(end, 2 * kSizes.extension().bytes());
  EXPECT_EQ(before == after, Shape::kTilesPerMatrix == 1);
}

TEST(RnsConstants, OrderByTiles) {
  expect_tiles<512, 1>();
  expect_tiles<512, 2>();
  expect_tiles<512, 3>();
  expect_tiles<512, 4>();
  expect_tiles<512, 5>();
  expect_tiles<512, 9>();
  expect_tiles<1536, 7>();
  expect_tiles<2048, 9>();
  expect_tiles<3072, 4>();
  expect_tiles<3072, 9>();
  expect_tiles<4096, 4>();
  expect_tiles<4096, 6>();
  expect_tiles<4096, 34>();
  expect_tiles<6144, 2>();
  expect_tiles<8192, 3>();
}

/// As few tiles as possible, of nearly equal sizes.
TEST(RnsConstants, TilesOfAllSizes) {
  for (unsigned quads = 1; quads <= kMostChannels / 4; ++quads) {
    for (unsigned most = 1; most <= 9; ++most) {
      const cuda::Tiles tiles{quads, most};
      const unsigned count = tiles.count();
      ASSERT_TRUE(count * most >= quads && (count - 1) * most < quads);
      ASSERT_EQ(tiles.first(0), 0u);
      ASSERT_EQ(tiles.first(count), quads);
      for (unsigned p = 0; p < count; ++p) {
        ASSERT_GE(tiles.size(p), quads / count);
        ASSERT_LE(tiles.size(p), (quads + count - 1) / count);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsConstantsOfAllWidths,
                         testing::Values(512, 1024, 1536, 2048, 3072, 4096, 6144, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns

// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/constants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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
  EXPECT_EQ(n % 4, 0u);
  for (unsigned i = 0; i < n; ++i) {
    EXPECT_EQ(channel_of_a(i), kPrimes[i]);
    EXPECT_EQ(channel_of_b(i), kPrimes[kMostChannels + i]);
  }
}

void expect_coordinate(const Channel& channel, std::uint64_t factor) {
  EXPECT_EQ(channel.to_coordinate, factor);
  EXPECT_EQ(channel.companion, (factor << 32) / channel.modulus);
}

/// A channel of B with the root that entry 0 of its matrix from A, of source 0, has as a factor.
std::uint64_t expect_root(const Channel& channel, std::uint64_t entry, std::uint64_t cofactor,
                          std::uint64_t to_coordinate) {
  const std::uint64_t m = channel.modulus;
  const std::uint64_t root = product_mod(entry, inverse_mod(cofactor, m), m);
  const bool positive = channel.to_coordinate == 1;
  EXPECT_EQ(channel.to_coordinate, positive ? 1u : ~0u);
  EXPECT_EQ(channel.companion, positive ? 0 : 2 * m);
  EXPECT_EQ(product_mod(root, root, m), positive ? to_coordinate : m - to_coordinate);
  return root;
}

TEST_P(RnsConstantsOfAllWidths, ChannelsOfTheBases) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    const Channel in_b = block.b(i);
    const Channel in_a = block.a(i);
    ASSERT_EQ(in_b.modulus, moduli.b[i]);
    ASSERT_EQ(in_a.modulus, moduli.a[i]);
    ASSERT_EQ(in_b.modulus * in_b.negative_inverse, ~0u);
    ASSERT_EQ(in_a.modulus * in_a.negative_inverse, ~0u);
    const std::uint64_t radix = std::uint64_t{1} << 32;
    const std::uint64_t cofactor = Moduli::product_mod_m(moduli.b, in_b.modulus, i);
    expect_coordinate(in_b, 0);
    EXPECT_EQ(block.set_up_b(i),
              in_b.modulus - product_mod(radix, inverse_mod(cofactor, in_b.modulus), in_b.modulus));
    const std::uint64_t kappa = moduli.kappa(i);
    EXPECT_EQ(block.set_up_a(i), product_mod(kappa, radix, in_a.modulus));
    const std::uint64_t divisor =
        product_mod(kappa, Moduli::product_mod_m(moduli.a, in_a.modulus, i), in_a.modulus);
    expect_coordinate(in_a, inverse_mod(divisor, in_a.modulus));
  }
}

/// Every entry of `matrix` from `source` to `target`, times `scales`; words behind the rank are 0.
void expect_extension(const MatrixView& matrix, const std::vector<std::uint64_t>& source,
                      const std::vector<std::uint64_t>& target, const std::vector<std::uint64_t>& scales) {
  for (unsigned i = 0; i < target.size(); ++i) {
    const std::uint64_t m = target[i];
    for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
      std::uint64_t expected = 0;
      if (v < source.size()) expected = product_mod(Moduli::product_mod_m(source, m, v), scales[i], m);
      if (v == source.size()) expected = product_mod(m - Moduli::product_mod_m(source, m), scales[i], m);
      for (unsigned p = 0; p < 4; ++p, expected = expected * 256 % m) {
        ASSERT_EQ(matrix.entry(v, p, i), expected) << v << ' ' << p << ' ' << i;
      }
    }
  }
}

TEST_P(RnsConstantsOfAllWidths, ExtensionMatrices) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const std::vector<std::uint64_t> ones(block.sizes.channels(), 1);
  expect_extension(block.to_a(), moduli.b, moduli.a, ones);
  expect_extension(block.to_b(), moduli.a, moduli.b, ones);
}

/// The column of an input matrix for a target m: 2^(32 v + 8 p) scale.
void expect_input(const MatrixView& matrix, unsigned words, std::uint64_t m, unsigned target,
                  std::uint64_t scale) {
  std::uint64_t expected = scale;
  for (unsigned v = 0; v < 8 * matrix.shape.steps; ++v) {
    for (unsigned p = 0; p < 4; ++p, expected = expected * 256 % m) {
      ASSERT_EQ(matrix.entry(v, p, target), v < words ? expected : 0);
    }
  }
}

TEST_P(RnsConstantsOfAllWidths, InputMatrices) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    expect_input(block.into_b(), block.sizes.words, moduli.b[i], i, 1);
    expect_input(block.into_a(), block.sizes.words, moduli.a[i], i, moduli.kappa(i));
  }
}

TEST_P(RnsConstantsOfAllWidths, OutputMatrix) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const MatrixView out = block.out();
  const unsigned bytes = 16 * block.sizes.output_fours();
  for (unsigned v = 0; v < 8 * out.shape.steps; ++v) {
    Digits x(1, 0);
    if (v < moduli.a.size()) x = Moduli::product(moduli.a, v);
    if (v == moduli.a.size()) {
      x = Moduli::product(moduli.a);
      x.resize(bytes / 4, 0);
      std::uint64_t carry = 1;
      for (std::uint32_t& digit : x) {
        carry += ~digit;
        digit = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    x.resize(std::max<std::size_t>(x.size(), bytes / 4), 0);
    for (unsigned p = 0; p < 4; ++p) {
      for (unsigned i = 0; i < bytes; ++i) {
        const std::uint32_t expected = i < p ? 0 : x[(i - p) / 4] >> 8 * ((i - p) % 4) & 255;
        ASSERT_EQ(out.digit(v, p, i / 4, i % 4), expected) << v << ' ' << p << ' ' << i;
      }
    }
  }
}

/// For bytes up to 255, and those of a rank up to so much: the largest S_b, and a remainder's q.
struct LargestSums {
  std::uint64_t sum[4] = {};

  LargestSums(const MatrixView& matrix, unsigned target, unsigned full_words, std::uint32_t rank) {
    for (unsigned v = 0; v <= full_words && v < 8 * matrix.shape.steps; ++v) {
      for (unsigned p = 0; p < 4; ++p) {
        const std::uint64_t most = v < full_words ? 255 : std::min(rank >> 8 * p, 255u);
        for (unsigned byte = 0; byte < 4; ++byte) sum[byte] += most * matrix.digit(v, p, target, byte);
      }
    }
  }
  /// S_2 + 2^8 S_3 + S_1 / 2^8
  [[nodiscard]] std::uint64_t high() const { return sum[2] + (sum[3] << 8) + (sum[1] >> 8); }
};

void expect_range_of_remainder(std::uint64_t low, std::uint64_t high, std::uint64_t m) {
  const std::uint64_t delta = (std::uint64_t{1} << 31) - m;
  ASSERT_LE(low + (high >> 15) * delta, (std::uint64_t{1} << 31) - 2 * delta) << m;
}

/// The rank of coordinates below `halves` / 2 moduli.
std::uint32_t largest_rank(const std::vector<std::uint64_t>& base, std::uint32_t offset, unsigned halves) {
  std::vector<std::uint32_t> xi;
  for (const std::uint64_t m : base) xi.push_back(static_cast<std::uint32_t>((halves * m - 1) / 2));
  return with_rank(xi, offset).back();
}

TEST_P(RnsConstantsOfAllWidths, RemaindersAreInRange) {
  const Block block(GetParam());
  const Moduli moduli(GetParam());
  const unsigned n = block.sizes.channels();
  const std::uint32_t rank_b = largest_rank(moduli.b, 0, 4);
  const std::uint32_t rank_a = largest_rank(moduli.a, kOffsetOfA, 3);
  EXPECT_LT(std::max(rank_a, rank_b), 1u << 16);
  const bool narrow = Form{.fours = n / 4, .words = block.sizes.words}.narrow_sums();
  const auto expect = [&](const MatrixView& matrix, const std::vector<std::uint64_t>& target, unsigned words,
                          std::uint32_t rank, bool extension) {
    for (unsigned i = 0; i < n; ++i) {
      const LargestSums most(matrix, i, words, rank);
      for (const std::uint64_t sum : most.sum) ASSERT_LT(sum, std::uint64_t{1} << 31);
      expect_range_of_remainder(most.sum[0], most.high(), target[i]);
      ASSERT_TRUE(most.high() >> 32 == 0 || !(narrow && extension));
    }
  };
  expect(block.to_a(), moduli.a, n, rank_b, true);
  expect(block.to_b(), moduli.b, n, rank_a, true);
  expect(block.into_a(), moduli.a, block.sizes.words, 0, false);
  expect(block.into_b(), moduli.b, block.sizes.words, 0, false);
}

/// Whatever entries below 2^31 a modulus makes: T < 2^31 times the sum of the coordinates' and the rank's
/// bytes.
TEST_P(RnsConstantsOfAllWidths, RemaindersAreInRangeForAnyModulus) {
  const Moduli moduli(GetParam());
  const auto n = static_cast<unsigned>(moduli.a.size());
  const auto expect = [&](const std::vector<std::uint64_t>& target, std::uint32_t rank) {
    const std::uint64_t bytes = 1020 * std::uint64_t{n} + (rank & 255) + 255 * (rank >> 8);
    for (const std::uint64_t m : target) expect_range_of_remainder(255 * bytes, bytes * (m - 1) >> 16, m);
    const Form form{.fours = n / 4, .words = GetParam() / 32};
    EXPECT_EQ(form.narrow_sums(), bytes <= std::uint64_t{1} << 17);
  };
  expect(moduli.a, largest_rank(moduli.b, 0, 4));
  // Matrices into B have a modulus in them if there are roots, those of numbers fewer bytes.
  if (sizes_of(GetParam()).has_roots()) expect(moduli.b, largest_rank(moduli.a, kOffsetOfA, 3));
  EXPECT_LE(GetParam() / 8, 4 * n);
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

/// Of IEEE 802.3.
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
  unsigned less;  ///< the shared modulus is 2^bits less that; 0: none is shared
  std::uint32_t crc;
};

/// Of reference/rns_layout.py; tests/python/test_reference_rns_tensor.py computes them.
constexpr Checksum kChecksums[] = {
    {512, 0, 0x273ec7e7u},  {512, 5, 0x70975e4au},  {1024, 0, 0xd6662479u}, {1024, 5, 0xc2b514bau},
    {1536, 0, 0x23580c75u}, {1536, 5, 0xe4312fadu}, {2048, 0, 0xa4006b16u}, {2048, 5, 0x91f018d1u},
    {3072, 0, 0xda795b9bu}, {3072, 5, 0x1a3d7268u}, {4096, 0, 0x11a64ca6u}, {4096, 5, 0x69c0b464u},
    {6144, 0, 0x42f22b74u}, {6144, 5, 0xd64f4732u}, {8192, 0, 0x7f8e245cu}, {8192, 5, 0x1ac0724bu},
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
  for (unsigned i = 0; i < block.sizes.channels(); ++i) {
    const std::uint64_t m = moduli.a[i];
    const std::uint64_t k = moduli.kappa(i);
    scales.push_back(product_mod(product_mod(remainder_of(naive::digits(n), m), k, m), k, m));
    const Channel b = of_n.b(i);
    const std::uint64_t divisor = product_mod(remainder_of(naive::digits(n), b.modulus),
                                              Moduli::product_mod_m(moduli.b, b.modulus, i), b.modulus);
    const std::uint64_t inverse = inverse_mod(divisor, b.modulus);
    EXPECT_EQ(b.modulus, moduli.b[i]);
    EXPECT_EQ(b.negative_inverse, block.b(i).negative_inverse);
    const std::uint64_t to_coordinate = b.modulus - product_mod(std::uint64_t{1} << 32, inverse, b.modulus);
    if (block.sizes.has_roots()) {
      roots.push_back(expect_root(b, of_n.to_b().entry(0, 0, i), block.to_b().entry(0, 0, i), to_coordinate));
    } else {
      expect_coordinate(b, to_coordinate);
      roots.push_back(1);
    }
    expect_input(of_n.into_b(), block.sizes.words, b.modulus, i, roots.back());
  }
  expect_extension(of_n.to_a(), moduli.b, moduli.a, scales);
  expect_extension(of_n.to_b(), moduli.a, moduli.b, roots);
  const auto expect_same = [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<std::ptrdiff_t>(begin), last = static_cast<std::ptrdiff_t>(end);
    EXPECT_TRUE(
        std::equal(of_n.bytes.begin() + first, of_n.bytes.begin() + last, block.bytes.begin() + first));
  };
  // The channels of A and what is for setting up, and all behind the matrices into B.
  expect_same(block.sizes.channels() * sizeof(Channel), block.sizes.to_a());
  expect_same(block.sizes.into_a(), block.sizes.bytes());
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

/// A kernel whose product takes up to kMost fours finds those of all steps where StreamShape says.
template <unsigned kBits, unsigned kMost, bool kEven = false>
void expect_pieces() {
  constexpr Sizes kSizes = sizes_of(kBits);
  constexpr cuda::Pieces kPieces{kSizes.fours, kMost, kEven};
  using Shape = cuda::StreamShape<2, kSizes.steps(), kPieces>;
  constexpr std::size_t kFour = MatrixShape::kFourBytes;
  Generator draw(77);
  std::vector<std::byte> before;
  while (before.size() < kSizes.bytes()) before.push_back(static_cast<std::byte>(draw.below(256)));
  std::vector<std::byte> after = before;
  order_by_pieces(kBits, kPieces, after);
  const auto at = [](std::vector<std::byte>& bytes, std::size_t i) {
    return bytes.begin() + static_cast<std::ptrdiff_t>(i);
  };
  EXPECT_TRUE(std::equal(after.begin(), at(after, kSizes.to_a()), before.begin()));
  EXPECT_TRUE(std::equal(at(after, kSizes.into_b()), after.end(), at(before, kSizes.into_b())));
  std::size_t end = 0;
  for (unsigned piece = 0; piece < Shape::kPieces; ++piece) {
    ASSERT_EQ(Shape::begin(piece), end);
    end += Shape::bytes(piece);
    ASSERT_LE(Shape::bytes(piece), Shape::kBufferBytes);
    const std::size_t matrix = piece < Shape::kPiecesOfOne ? kSizes.to_a() : kSizes.to_b();
    const unsigned fours = Shape::fours(piece);
    ASSERT_GE(fours, kEven ? kPieces.fours / kPieces.count() : 1);
    for (unsigned i = 0; i < kSizes.steps() * fours; ++i) {
      const std::size_t from = std::size_t{i / fours} * kSizes.fours + Shape::first(piece) + i % fours;
      const auto found = at(after, kSizes.to_a() + Shape::begin(piece) + i * kFour);
      ASSERT_TRUE(std::equal(found, found + kFour, at(before, matrix + from * kFour))) << piece << ' ' << i;
    }
  }
  EXPECT_EQ(end, 2 * kSizes.extension().bytes());
  EXPECT_EQ(before == after, Shape::kPiecesOfOne == 1);
}

TEST(RnsConstants, OrderByPieces) {
  expect_pieces<512, 1>();
  expect_pieces<512, 2>();
  expect_pieces<512, 3>();
  expect_pieces<512, 5>();
  expect_pieces<512, 9>();
  expect_pieces<512, 2, true>();
  expect_pieces<512, 3, true>();
  expect_pieces<512, 5, true>();
  expect_pieces<3072, 4>();
  expect_pieces<3072, 4, true>();
  expect_pieces<4096, 4>();
  expect_pieces<4096, 4, true>();
  expect_pieces<4096, 34>();
  expect_pieces<6144, 2>();
  expect_pieces<8192, 3>();
}

INSTANTIATE_TEST_SUITE_P(Widths, RnsConstantsOfAllWidths,
                         testing::Values(512, 1024, 1536, 2048, 3072, 4096, 6144, 8192),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace manymod::rns

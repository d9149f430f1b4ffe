// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/constants.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "modmul/rns/base_fields.hpp"
#include "modmul/rns/byte_matrix.hpp"
#include "modmul/rns/channel_field.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"
#include "repr/words.hpp"

namespace manymod::rns {

namespace {

// Whether every channel of B for which kernels use roots is 3 modulo 4, so that -1 is a non-residue.
constexpr bool has_all_roots() {
  for (unsigned j = 0; j < kMaxRootedChannels; ++j) {
    if (channel_of_b(j) % 4 != 3) return false;
  }
  return true;
}
static_assert(has_all_roots());

using Words = std::vector<std::uint32_t>;

/// For each channel of A, entry p is v(i, p) = 2^(8p) / (kappa_i A_i) mod a_i, the factor of byte p of a
/// stored residue.
using ByteFactors = std::vector<WordEntries>;

/// The fields of both bases of a width.
struct BaseFields {
  Base b, a;

  explicit BaseFields(const BasePair& pair) {
    for (unsigned i = 0; i < pair.channels; ++i) {
      b.fields.emplace_back(channel_of_b(i));
      a.fields.emplace_back(channel_of_a(i));
    }
  }
};

// kappa = 2^32 / M_B modulo a prime of A, in Montgomery form.
std::uint32_t kappa(const Base& b, const ChannelField& field) {
  return field.multiply(field.inverse(product_of(b, field)), field.radix());
}

// x 2^(8p) mod m for p = 0 .. 3, in the form that x has. On input: x < m.
WordEntries byte_multiples(const ChannelField& field, std::uint32_t x, std::uint32_t form_of_256) {
  WordEntries entries{x};
  for (unsigned p = 1; p < 4; ++p) entries[p] = field.multiply(entries[p - 1], form_of_256);
  return entries;
}

// Calls use(place) for each place of a channel (layout.hpp).
template <class Use>
void for_places(const ConstantsLayout& sizes, unsigned channel, Use use) {
  use(channel);
  if (sizes.is_split() && channel + 2 >= sizes.channels) use(channel + 2);
}

// The columns of a matrix whose target is one channel, in all places of the channel.
class TargetColumns {
 public:
  TargetColumns(MatrixWriter& matrix, const ConstantsLayout& sizes, unsigned channel)
      : matrix_(matrix), sizes_(sizes), channel_(channel) {}

  /// Writes the entries of one word along K.
  void put_word(unsigned word, const WordEntries& entries) const {
    for_places(sizes_, channel_, [&](unsigned target) { matrix_.put(word, target, entries); });
  }
  /// Writes the entries of a source channel into the words of all its places.
  void put_source(unsigned channel, const WordEntries& entries) const {
    for_places(sizes_, channel, [&](unsigned place) { put_word(place, entries); });
  }
  /// Writes the entries of the rank word.
  void put_rank(const WordEntries& entries) const { put_word(sizes_.rank_word(), entries); }
  /// Words of a number that is converted into residues.
  [[nodiscard]] unsigned words() const { return sizes_.words; }

 private:
  MatrixWriter& matrix_;
  const ConstantsLayout& sizes_;
  unsigned channel_;
};

// Fills one target's columns of the extension from B: B_j 2^(8p) scale mod m, and for the rank -M_B 2^(8p)
// scale. On input: scale < m.
void fill_from_b(const TargetColumns& columns, const Base& b, const ChannelField& field,
                 std::uint32_t scale) {
  const std::uint32_t form_of_256 = field.form(256);
  const Cofactors cofactors(b, field, scale);
  cofactors.for_each([&](unsigned j, std::uint32_t cofactor) {
    columns.put_source(j, byte_multiples(field, cofactor, form_of_256));
  });
  columns.put_rank(byte_multiples(field, field.negate(cofactors.product()), form_of_256));
}

// Fills one target's columns of the extension from A: v(i, p) A_i scale mod m, and for the rank -M_A 2^(8p)
// scale. On input: scale < m.
void fill_from_a(const TargetColumns& columns, const Base& a, const ByteFactors& factors,
                 const ChannelField& field, std::uint32_t scale) {
  const Cofactors cofactors(a, field, scale);
  cofactors.for_each([&](unsigned i, std::uint32_t cofactor) {
    const std::uint32_t form = field.form(cofactor);
    WordEntries entries{};
    // v(i, p) < a_i < 2^32 and form < m: their product is below 2^32 m.
    for (unsigned p = 0; p < 4; ++p) entries[p] = field.multiply(factors[i][p], form);
    columns.put_source(i, entries);
  });
  columns.put_rank(byte_multiples(field, field.negate(cofactors.product()), field.form(256)));
}

// Fills one target's columns of an input matrix: 2^(32w + 8p) scale mod m. On input: scale < m.
void fill_input(const TargetColumns& columns, const ChannelField& field, std::uint32_t scale) {
  const std::uint32_t form_of_256 = field.form(256);
  for (unsigned w = 0; w < columns.words(); ++w) {
    columns.put_word(w, byte_multiples(field, scale, form_of_256));
    scale = field.multiply(scale, field.radix());
  }
}

// x 2^(8p) mod 2^(32 words) for p = 0 .. 3.
std::array<Words, 4> byte_multiples(const Words& x) {
  std::array<Words, 4> multiples;
  for (unsigned p = 0; p < 4; ++p) {
    multiples[p] = x;
    words::multiply_by(multiples[p], std::uint32_t{1} << 8 * p);
  }
  return multiples;
}

// Fills the rows of one word of the output matrix: byte p of the word is multiplied by rows[p].
void fill_output(MatrixWriter& matrix, unsigned word, const std::array<Words, 4>& rows) {
  for (unsigned w = 0; w < rows[0].size(); ++w) {
    matrix.put(word, w, {rows[0][w], rows[1][w], rows[2][w], rows[3][w]});
  }
}

// Fills the output matrix: v(i, p) A_i and, for the rank, -M_A 2^(8p), modulo 2^(32 C) (layout.hpp).
void fill_output(MatrixWriter matrix, const ConstantsLayout& sizes, const Base& a,
                 const ByteFactors& factors) {
  Words product(std::size_t{4} * sizes.output_quads(), 0);
  product[0] = 1;
  for (const ChannelField& field : a.fields) words::multiply_by(product, field.modulus());
  for (unsigned i = 0; i < a.size(); ++i) {
    std::array<Words, 4> rows;
    rows.fill(divided_exactly(product, a.fields[i]));
    for (unsigned p = 0; p < 4; ++p) words::multiply_by(rows[p], factors[i][p]);
    for_places(sizes, i, [&](unsigned place) { fill_output(matrix, place, rows); });
  }
  fill_output(matrix, sizes.rank_word(), byte_multiples(negated(product)));
}

// v(i, p) for all channels of A.
ByteFactors byte_factors(const BaseFields& bases) {
  ByteFactors factors;
  for (unsigned i = 0; i < bases.a.size(); ++i) {
    const ChannelField& field = bases.a.fields[i];
    const std::uint32_t divisor = field.multiply(kappa(bases.b, field), product_of(bases.a, field, i));
    const std::uint32_t factor = field.multiply(field.inverse(divisor), 1);
    factors.push_back(byte_multiples(field, factor, field.form(256)));
  }
  return factors;
}

// -1 / B_j mod b_j, in Montgomery form.
std::uint32_t negated_inverse_cofactor(const Base& b, unsigned j) {
  const ChannelField& field = b.fields[j];
  return field.negate(field.inverse(product_of(b, field, j)));
}

// A channel of B with the factor that turns s into a coordinate, which is given in Montgomery form.
StoredChannel channel_with_factor(const ChannelField& field, std::uint32_t form_of_factor) {
  const std::uint32_t factor = field.multiply(form_of_factor, 1);
  return {field.modulus(), field.negative_inverse(), factor, field.quotient(factor)};
}

// v / m in units of 2^-16, rounded to nearest and limited to two bytes. On input: v < m.
std::uint32_t weight(std::uint32_t v, std::uint32_t m) {
  const std::uint64_t rounded = ((std::uint64_t{v} << 16) + m / 2) / m;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(rounded, 0xffff));
}

// A channel of A with the weights of bytes in the rank, from v(i, p).
StoredChannel channel_with_weights(const ChannelField& field, const WordEntries& factors) {
  StoredChannel channel{field.modulus(), field.negative_inverse()};
  for (unsigned p = 0; p < 4; ++p) {
    const std::uint32_t w = weight(factors[p], field.modulus());
    channel.factor |= (w & 0xff) << 8 * p;
    channel.companion |= w >> 8 << 8 * p;
  }
  return channel;
}

// Stores number `index` of an array of channels, or of words, without assuming alignment.
void put_channel(std::byte* channels, unsigned index, const StoredChannel& channel) {
  std::memcpy(channels + index * sizeof channel, &channel, sizeof channel);
}

void put_word(std::byte* words, unsigned index, std::uint32_t word) {
  std::memcpy(words + index * sizeof word, &word, sizeof word);
}

// Number `index` of an array of words.
std::uint32_t word_at(const std::byte* words, unsigned index) {
  std::uint32_t word = 0;
  std::memcpy(&word, words + index * sizeof word, sizeof word);
  return word;
}

// The constants of a width's bases, and the byte factors, which the constants of a modulus need besides.
struct BaseConstants {
  std::vector<std::byte> block;
  ByteFactors factors;
};

BaseConstants build_base_constants(unsigned bits) {
  const BaseFields bases(bases_of(bits));
  const Base& b = bases.b;
  const Base& a = bases.a;
  const ConstantsLayout sizes = sizes_of(bits);
  std::vector<std::byte> block(sizes.bytes());
  MatrixWriter b_to_a(sizes.extension(), block.data() + sizes.b_to_a());
  MatrixWriter a_to_b(sizes.extension(), block.data() + sizes.a_to_b());
  MatrixWriter words_to_b(sizes.input(), block.data() + sizes.words_to_b());
  MatrixWriter words_to_a(sizes.input(), block.data() + sizes.words_to_a());
  std::byte* const channels = block.data() + sizes.channels_at();
  std::byte* const set_up = block.data() + sizes.set_up_at();
  std::byte* const negatives = block.data() + sizes.negatives_at();
  ByteFactors factors = byte_factors(bases);
  for (unsigned i = 0; i < sizes.channels; ++i) {
    const ChannelField& in_b = b.fields[i];
    const ChannelField& in_a = a.fields[i];
    const std::uint32_t k = kappa(b, in_a);
    const std::uint32_t inverse_cofactor = negated_inverse_cofactor(b, i);
    for_places(sizes, i, [&](unsigned place) {
      put_channel(channels, place, {in_b.modulus(), in_b.negative_inverse()});
      put_channel(channels, sizes.places() + place, channel_with_weights(in_a, factors[i]));
      put_word(set_up, place, inverse_cofactor);
      put_word(set_up, sizes.places() + place, k);
      put_word(negatives, ConstantsLayout::negative_index(place), 0 - in_b.modulus());
      put_word(negatives, sizes.negative_words() + ConstantsLayout::negative_index(place),
               0 - in_a.modulus());
    });
    fill_from_b({b_to_a, sizes, i}, b, in_a, 1);
    fill_from_a({a_to_b, sizes, i}, a, factors, in_b, 1);
    fill_input({words_to_b, sizes, i}, in_b, 1);
    fill_input({words_to_a, sizes, i}, in_a, in_a.multiply(k, 1));
  }
  fill_output(MatrixWriter(sizes.output(), block.data() + sizes.out()), sizes, a, factors);
  return {std::move(block), std::move(factors)};
}

// The constants of a width's bases, built on first use and cached. The constants of a shared modulus are a
// copy with some parts replaced. Thread-safe.
const BaseConstants& cached_base_constants(unsigned bits) {
  constexpr std::size_t kWidths = std::size(kBasePairs);
  static std::array<std::once_flag, kWidths> built;
  static std::array<BaseConstants, kWidths> cached;
  const auto row = static_cast<std::size_t>(&bases_of(bits) - kBasePairs);
  std::call_once(built[row], [&] { cached[row] = build_base_constants(bits); });
  return cached[row];
}

// N in Montgomery form. Going through the words from the least significant one computes N / 2^(32 words) mod
// m: with r <= m + 1 and a word below 2^32, (r + word + q m) / 2^32 < (2^32 + m + 1 + 2^32 m) / 2^32, which
// is at most m + 1 again. Constant-time in N.
std::uint32_t form_of(std::span<const Limb> n, const ChannelField& field) {
  std::uint64_t r = 0;
  for (const Limb limb : n) {
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint64_t t = r + static_cast<std::uint32_t>(limb >> (32 * half));
      const std::uint32_t q = static_cast<std::uint32_t>(t) * field.negative_inverse();
      r = (t + std::uint64_t{q} * field.modulus()) >> 32;
    }
  }
  std::uint32_t scale =
      field.radix();  // 2^(32 words) in Montgomery form; after the loop times 2^32 once more
  for (std::size_t w = 0; w < 2 * n.size(); ++w) scale = field.multiply(scale, field.radix());
  return field.multiply(static_cast<std::uint32_t>(r), scale);
}

/// A square root of x or of -x, and the sign, 1 or -1 modulo 2^32, of the one that it is a root of.
struct SignedRoot {
  std::uint32_t root, sign;
};

// The signed root of x, with x and the root in Montgomery form. On input: m = 3 modulo 4. x^((m + 1) / 4) has
// the square x x^((m - 1) / 2), which is x or -x. Constant-time in x.
SignedRoot signed_root(const ChannelField& field, std::uint32_t x) {
  const std::uint32_t root = field.power(x, (field.modulus() + 1) / 4);
  const auto is_square = static_cast<std::uint32_t>(word::is_zero_bit(field.multiply(root, root) ^ x));
  return {root, 2 * is_square - 1};
}

// Stores what turns s = x y / 2^32 into coordinates in B, c_j = -2^32 / (N B_j) mod b_j: in the channels of B
// or, with roots, as signs there and as factors in the matrices into B. @return 1 if N is not prime to M_B,
// else 0. Constant-time in N.
std::uint64_t put_coordinate_factors(const ConstantsLayout& sizes, std::byte* block, const BaseFields& bases,
                                     const ByteFactors& factors, std::span<const Limb> n) {
  MatrixWriter a_to_b(sizes.extension(), block + sizes.a_to_b());
  MatrixWriter words_to_b(sizes.input(), block + sizes.words_to_b());
  std::uint64_t divides = 0;
  for (unsigned j = 0; j < sizes.channels; ++j) {
    const ChannelField& field = bases.b.fields[j];
    const std::uint32_t inverse = field.inverse(form_of(n, field));
    divides |= word::is_zero_bit(inverse);
    const std::uint32_t factor = field.multiply(inverse, word_at(block + sizes.set_up_at(), j));
    const std::uint32_t c = field.multiply(factor, field.radix());
    StoredChannel channel = channel_with_factor(field, c);
    if (sizes.has_roots()) {
      const SignedRoot found = signed_root(field, c);
      channel.factor = found.sign;
      channel.companion = 2 * field.modulus() & (0 - (found.sign >> 31));
      const std::uint32_t rho = field.multiply(found.root, 1);
      fill_from_a({a_to_b, sizes, j}, bases.a, factors, field, rho);
      fill_input({words_to_b, sizes, j}, field, rho);
    }
    for_places(sizes, j, [&](unsigned place) { put_channel(block + sizes.channels_at(), place, channel); });
  }
  return divides;
}

// Fills the matrix from B to A with the factor N kappa^2. Constant-time in N.
void fill_scaled_extension(MatrixWriter b_to_a, const ConstantsLayout& sizes, const BaseFields& bases,
                           const std::byte* set_up, std::span<const Limb> n) {
  for (unsigned i = 0; i < sizes.channels; ++i) {
    const ChannelField& field = bases.a.fields[i];
    const std::uint32_t k = word_at(set_up, sizes.places() + i);
    const std::uint32_t scale = field.multiply(field.multiply(form_of(n, field), k), k);
    fill_from_b({b_to_a, sizes, i}, bases.b, field, field.multiply(scale, 1));
  }
}

// @return the block, or an empty vector after wiping it if N is not prime to M_B. That one bit is public;
// nothing else that depends on a secret modulus decides a branch in this file. Not inlined, so that the check
// under valgrind can name this function in its suppression.
[[gnu::noinline]] std::vector<std::byte> unless_refused(std::uint64_t divides, std::vector<std::byte> block) {
  if (divides == 0) return block;
  wipe_bytes(block.data(), block.size());
  return {};
}

}  // namespace

std::vector<std::byte> base_constants(unsigned bits) { return cached_base_constants(bits).block; }

std::vector<std::byte> modulus_constants(unsigned bits, std::span<const Limb> n) {
  const ConstantsLayout sizes = sizes_of(bits);
  if (n.size() > sizes.words / 2) throw std::invalid_argument("modulus too long for its bases");
  const BaseFields bases(bases_of(bits));
  const BaseConstants& cached = cached_base_constants(bits);
  SecretArray<std::byte> block(cached.block);
  std::byte* const first = block.data();
  const std::uint64_t divides = put_coordinate_factors(sizes, first, bases, cached.factors, n);
  fill_scaled_extension(MatrixWriter(sizes.extension(), first + sizes.b_to_a()), sizes, bases,
                        first + sizes.set_up_at(), n);
  return unless_refused(divides, block.release());
}

void order_by_tiles(unsigned bits, const cuda::Tiles& tiles, std::span<std::byte> constants) {
  const ConstantsLayout sizes = sizes_of(bits);
  const std::size_t bytes = sizes.extension().bytes();
  for (const std::size_t at : {sizes.b_to_a(), sizes.a_to_b()}) {
    const std::span<const std::byte> matrix = constants.subspan(at, bytes);
    const SecretArray<std::byte> before(std::vector<std::byte>(matrix.begin(), matrix.end()));
    std::byte* to = constants.data() + at;
    for (unsigned tile = 0; tile < tiles.count(); ++tile) {
      const unsigned first = tiles.first(tile);
      const std::size_t row = tiles.size(tile) * std::size_t{MatrixShape::kQuadBytes};
      for (unsigned step = 0; step < sizes.steps(); ++step, to += row) {
        std::memcpy(
            to, before.all().data() + (std::size_t{step} * sizes.quads() + first) * MatrixShape::kQuadBytes,
            row);
      }
    }
  }
}

std::vector<std::uint32_t> squared_radix(unsigned bits) {
  Words moduli;
  for (unsigned j = 0; j < bases_of(bits).channels; ++j) moduli.push_back(channel_of_b(j));
  return words::squared_product(moduli);
}

}  // namespace manymod::rns

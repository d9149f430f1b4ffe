// SPDX-License-Identifier: Apache-2.0
#include "modmul/rns/constants.hpp"

#include <array>
#include <cstring>
#include <iterator>
#include <mutex>
#include <utility>

#include "modmul/rns/byte_matrix.hpp"
#include "modmul/rns/channel_field.hpp"
#include "repr/limbs.hpp"
#include "repr/words.hpp"

namespace manymod::rns {

namespace {

// Whether -1 is no square in any channel of B where kernels take it for so.
constexpr bool roots_are_there() {
  for (unsigned j = 0; j < 4 * kMaxRootedFours; ++j) {
    if (channel_of_b(j) % 4 != 3) return false;
  }
  return true;
}
static_assert(roots_are_there());

using Words = std::vector<std::uint32_t>;

/// One of the two bases.
struct Base {
  std::vector<ChannelField> fields;

  [[nodiscard]] unsigned size() const { return static_cast<unsigned>(fields.size()); }
};

struct BaseFields {
  Base b, a;

  explicit BaseFields(const BasePair& pair) {
    for (unsigned i = 0; i < pair.channels; ++i) {
      b.fields.emplace_back(channel_of_b(i));
      a.fields.emplace_back(channel_of_a(i));
    }
  }
};

/// Words that are zeroed at the end: what depends on a modulus.
class SecretWords {
 public:
  explicit SecretWords(std::size_t size) : words_(size) {}
  SecretWords(const SecretWords&) = delete;
  SecretWords& operator=(const SecretWords&) = delete;
  ~SecretWords() { wipe_bytes(words_.data(), words_.size() * sizeof(std::uint32_t)); }

  std::uint32_t& operator[](std::size_t i) { return words_[i]; }
  const std::uint32_t& operator[](std::size_t i) const { return words_[i]; }

 private:
  Words words_;
};

// Bytes that are zeroed at the end, unless they are moved from: what depends on a modulus.
struct SecretBlock {
  std::vector<std::byte> bytes;

  explicit SecretBlock(std::vector<std::byte> begun) : bytes(std::move(begun)) {}
  SecretBlock(const SecretBlock&) = delete;
  SecretBlock& operator=(const SecretBlock&) = delete;
  ~SecretBlock() { wipe_bytes(bytes.data(), bytes.size()); }
};

// In Montgomery form of `field`: the product of a base's moduli, but for one where `but` is its index.
std::uint32_t product_of(const Base& base, const ChannelField& field, unsigned but = ~0u) {
  std::uint32_t product = field.one();
  for (unsigned i = 0; i < base.size(); ++i) {
    if (i != but) product = field.multiply(product, field.form(base.fields[i].modulus()));
  }
  return product;
}

// kappa = 2^32 / M_B in Montgomery form.
std::uint32_t kappa(const Base& b, const ChannelField& field) {
  return field.multiply(field.inverse(product_of(b, field)), field.radix());
}

// x 2^(8p) mod m for p = 0 .. 3.
WordEntries byte_multiples(const ChannelField& field, std::uint32_t x, std::uint32_t form_of_256) {
  WordEntries entries{x};
  for (unsigned p = 1; p < 4; ++p) entries[p] = field.multiply(entries[p - 1], form_of_256);
  return entries;
}

// One target's columns of an extension from `source`: M_j 2^(8p) scale mod m and, for the rank, -M 2^(8p)
// scale.
void fill_extension(MatrixWriter& matrix, const Base& source, unsigned target, const ChannelField& field,
                    std::uint32_t scale) {
  const unsigned n = source.size();
  const std::uint32_t form_of_256 = field.form(256);
  SecretWords behind(n + 1);  // scale times the product of the moduli from j on
  behind[n] = scale;
  for (unsigned j = n; j-- > 0;) {
    behind[j] = field.multiply(behind[j + 1], field.form(source.fields[j].modulus()));
  }
  std::uint32_t before = field.one();
  for (unsigned j = 0; j < n; ++j) {
    matrix.put(j, target, byte_multiples(field, field.multiply(before, behind[j + 1]), form_of_256));
    before = field.multiply(before, field.form(source.fields[j].modulus()));
  }
  matrix.put(n, target, byte_multiples(field, field.negate(behind[0]), form_of_256));
}

// One target's columns of an input matrix: 2^(32w + 8p) scale mod m.
void fill_input(MatrixWriter& matrix, unsigned words, unsigned target, const ChannelField& field,
                std::uint32_t scale) {
  const std::uint32_t form_of_256 = field.form(256);
  for (unsigned w = 0; w < words; ++w) {
    matrix.put(w, target, byte_multiples(field, scale, form_of_256));
    scale = field.multiply(scale, field.radix());
  }
}

// x / m mod 2^(32 words), m odd: word by word from the low end, as Jebelean's exact division.
Words divided(Words x, const ChannelField& field) {
  const std::uint32_t inverse = 0 - field.negative_inverse();
  std::uint64_t borrow = 0;
  for (std::uint32_t& word : x) {
    const std::uint64_t rest = std::uint64_t{word} - borrow;
    word = static_cast<std::uint32_t>(rest) * inverse;
    borrow = (std::uint64_t{word} * field.modulus() >> 32) + (rest >> 63);
  }
  return x;
}

Words negated(Words x) {
  std::uint32_t carry = 1;
  for (std::uint32_t& word : x) {
    word = ~word + carry;
    carry &= static_cast<std::uint32_t>(word == 0);
  }
  return x;
}

// A coordinate's rows of the output matrix: bytes of x 2^(8p).
void fill_output(MatrixWriter& matrix, unsigned row, const Words& x) {
  for (unsigned w = 0; w < x.size(); ++w) {
    const std::uint64_t two = std::uint64_t{x[w]} << 32 | (w > 0 ? x[w - 1] : 0);
    WordEntries entries;
    for (unsigned p = 0; p < 4; ++p) entries[p] = static_cast<std::uint32_t>(two >> (32 - 8 * p));
    matrix.put(row, w, entries);
  }
}

void fill_output(MatrixWriter matrix, const Base& a, unsigned words) {
  Words product(words, 0);
  product[0] = 1;
  for (const ChannelField& field : a.fields) words::multiply_by(product, field.modulus());
  for (unsigned i = 0; i < a.size(); ++i) fill_output(matrix, i, divided(product, a.fields[i]));
  fill_output(matrix, a.size(), negated(product));
}

// In Montgomery form: -1 / B_j.
std::uint32_t negated_inverse_cofactor(const Base& b, unsigned j) {
  const ChannelField& field = b.fields[j];
  return field.negate(field.inverse(product_of(b, field, j)));
}

// The channel of `field` with a factor, which is in Montgomery form, to coordinates.
Channel channel_of(const ChannelField& field, std::uint32_t form_of_factor) {
  const std::uint32_t factor = field.multiply(form_of_factor, 1);
  return {field.modulus(), field.negative_inverse(), factor, field.quotient(factor)};
}

void put_channel(std::byte* channels, unsigned index, const Channel& channel) {
  std::memcpy(channels + index * sizeof channel, &channel, sizeof channel);
}

void put_word(std::byte* words, unsigned index, std::uint32_t word) {
  std::memcpy(words + index * sizeof word, &word, sizeof word);
}

std::uint32_t word_at(const std::byte* words, unsigned index) {
  std::uint32_t word = 0;
  std::memcpy(&word, words + index * sizeof word, sizeof word);
  return word;
}

std::vector<std::byte> made_base_constants(unsigned bits) {
  const BaseFields bases(bases_of(bits));
  const Base& b = bases.b;
  const Base& a = bases.a;
  const Sizes sizes = sizes_of(bits);
  std::vector<std::byte> block(sizes.bytes());
  MatrixWriter to_a(sizes.extension(), block.data() + sizes.to_a());
  MatrixWriter to_b(sizes.extension(), block.data() + sizes.to_b());
  MatrixWriter into_b(sizes.input(), block.data() + sizes.into_b());
  MatrixWriter into_a(sizes.input(), block.data() + sizes.into_a());
  std::byte* const channels = block.data() + sizes.channels_at();
  std::byte* const set_up = block.data() + sizes.set_up_at();
  for (unsigned i = 0; i < b.size(); ++i) {
    const ChannelField& in_b = b.fields[i];
    const ChannelField& in_a = a.fields[i];
    const std::uint32_t k = kappa(b, in_a);
    put_channel(channels, i, {in_b.modulus(), in_b.negative_inverse()});
    put_channel(channels, b.size() + i,
                channel_of(in_a, in_a.inverse(in_a.multiply(k, product_of(a, in_a, i)))));
    put_word(set_up, i, negated_inverse_cofactor(b, i));
    put_word(set_up, b.size() + i, k);
    fill_extension(to_a, b, i, in_a, 1);
    fill_extension(to_b, a, i, in_b, 1);
    fill_input(into_b, sizes.words, i, in_b, 1);
    fill_input(into_a, sizes.words, i, in_a, in_a.multiply(k, 1));
  }
  fill_output(MatrixWriter(sizes.output(), block.data() + sizes.out()), a, 4 * sizes.output_fours());
  return block;
}

// Made once for each width and kept: shared moduli differ from it in part.
const std::vector<std::byte>& kept_base_constants(unsigned bits) {
  constexpr std::size_t kWidths = std::size(kBasePairs);
  static std::array<std::once_flag, kWidths> made;
  static std::array<std::vector<std::byte>, kWidths> kept;
  const auto row = static_cast<std::size_t>(&bases_of(bits) - kBasePairs);
  std::call_once(made[row], [&] { kept[row] = made_base_constants(bits); });
  return kept[row];
}

// N in Montgomery form. Word by word from the low end N / 2^(32 words) mod m: with r <= m + 1 and a word
// below 2^32, (r + word + q m) / 2^32 < (2^32 + m + 1 + 2^32 m) / 2^32, so that it is at most m + 1 again.
std::uint32_t form_of(std::span<const Limb> n, const ChannelField& field) {
  std::uint64_t r = 0;
  for (const Limb limb : n) {
    for (unsigned half = 0; half < 2; ++half) {
      const std::uint64_t t = r + static_cast<std::uint32_t>(limb >> (32 * half));
      const std::uint32_t q = static_cast<std::uint32_t>(t) * field.negative_inverse();
      r = (t + std::uint64_t{q} * field.modulus()) >> 32;
    }
  }
  std::uint32_t scale = field.radix();  // 2^(32 words) in Montgomery form, times 2^32 at the end
  for (std::size_t w = 0; w < 2 * n.size(); ++w) scale = field.multiply(scale, field.radix());
  return field.multiply(static_cast<std::uint32_t>(r), scale);
}

/// A root of a number or of its negative, and the sign of that: 1 or -1.
struct SignedRoot {
  std::uint32_t root, sign;
};

// In Montgomery form, for m = 3 modulo 4. x^((m + 1) / 4) has the square x x^((m - 1) / 2), which is x or -x.
SignedRoot signed_root(const ChannelField& field, std::uint32_t x) {
  const std::uint32_t root = field.power(x, (field.modulus() + 1) / 4);
  const auto is_square = static_cast<std::uint32_t>(word::is_zero_bit(field.multiply(root, root) ^ x));
  return {root, 2 * is_square - 1};
}

// What coordinates in B are made with, c_j = -2^32 / (N B_j) mod b_j: in its channels, or, with roots, in the
// matrices into B. Returns 1 if N is not prime to M_B, else 0.
std::uint64_t put_to_coordinates(const Sizes& sizes, std::byte* block, const BaseFields& bases,
                                 std::span<const Limb> n) {
  MatrixWriter to_b(sizes.extension(), block + sizes.to_b());
  MatrixWriter into_b(sizes.input(), block + sizes.into_b());
  std::uint64_t divides = 0;
  for (unsigned j = 0; j < bases.b.size(); ++j) {
    const ChannelField& field = bases.b.fields[j];
    const std::uint32_t inverse = field.inverse(form_of(n, field));
    divides |= word::is_zero_bit(inverse);
    const std::uint32_t factor = field.multiply(inverse, word_at(block + sizes.set_up_at(), j));
    const std::uint32_t c = field.multiply(factor, field.radix());
    Channel channel = channel_of(field, c);
    if (sizes.has_roots()) {
      const SignedRoot found = signed_root(field, c);
      channel.to_coordinate = found.sign;
      channel.companion = 2 * field.modulus() & (0 - (found.sign >> 31));
      const std::uint32_t rho = field.multiply(found.root, 1);
      fill_extension(to_b, bases.a, j, field, rho);
      fill_input(into_b, sizes.words, j, field, rho);
    }
    put_channel(block + sizes.channels_at(), j, channel);
  }
  return divides;
}

// The matrix from B to A with N kappa^2 in it.
void fill_scaled_extension(MatrixWriter to_a, const BaseFields& bases, const std::byte* set_up,
                           std::span<const Limb> n) {
  for (unsigned i = 0; i < bases.a.size(); ++i) {
    const ChannelField& field = bases.a.fields[i];
    const std::uint32_t k = word_at(set_up, bases.b.size() + i);
    const std::uint32_t scale = field.multiply(field.multiply(form_of(n, field), k), k);
    fill_extension(to_a, bases.b, i, field, field.multiply(scale, 1));
  }
}

// The block, or none if N is not prime to M_B: that is public, and nothing else that depends on a secret
// modulus is decided here. Not inlined, so that tests can tell.
[[gnu::noinline]] std::vector<std::byte> unless_refused(std::uint64_t divides, std::vector<std::byte> block) {
  if (divides == 0) return block;
  wipe_bytes(block.data(), block.size());
  return {};
}

}  // namespace

std::vector<std::byte> base_constants(unsigned bits) { return kept_base_constants(bits); }

std::vector<std::byte> modulus_constants(unsigned bits, std::span<const Limb> n) {
  const Sizes sizes = sizes_of(bits);
  if (n.size() > sizes.words / 2) throw std::invalid_argument("modulus too long for its bases");
  const BaseFields bases(bases_of(bits));
  SecretBlock block(kept_base_constants(bits));
  std::byte* const first = block.bytes.data();
  const std::uint64_t divides = put_to_coordinates(sizes, first, bases, n);
  fill_scaled_extension(MatrixWriter(sizes.extension(), first + sizes.to_a()), bases,
                        first + sizes.set_up_at(), n);
  return unless_refused(divides, std::move(block.bytes));
}

void order_by_pieces(unsigned bits, const cuda::Pieces& pieces, std::span<std::byte> constants) {
  const Sizes sizes = sizes_of(bits);
  const std::size_t bytes = sizes.extension().bytes();
  for (const std::size_t at : {sizes.to_a(), sizes.to_b()}) {
    const std::span<const std::byte> matrix = constants.subspan(at, bytes);
    const SecretBlock before(std::vector<std::byte>(matrix.begin(), matrix.end()));
    std::byte* to = constants.data() + at;
    for (unsigned piece = 0; piece < pieces.count(); ++piece) {
      const unsigned first = pieces.first(piece);
      const std::size_t row = pieces.size(piece) * std::size_t{MatrixShape::kFourBytes};
      for (unsigned step = 0; step < sizes.steps(); ++step, to += row) {
        std::memcpy(to,
                    before.bytes.data() + (std::size_t{step} * sizes.fours + first) * MatrixShape::kFourBytes,
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

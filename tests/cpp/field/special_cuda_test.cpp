// SPDX-License-Identifier: Apache-2.0
#include "field/special.cuda.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "field/fused.hpp"
#include "support/device_field.hpp"

namespace manymod::test {
namespace {

template <class Prime>
struct Backend {
  using Field = field::SpecialField<Prime>;
  static_assert(field::Field<Field>);
  static constexpr std::size_t kCost = 2;
  static constexpr std::size_t kLimbs = (Field::kWords + 1) / 2;

  static std::string missing() { return ""; }
  static naive::Limbs prime() {
    naive::Limbs p(kLimbs, 0);
    for (unsigned j = 0; j < Field::kWords; ++j) p[j / 2] |= Limb{Prime::word(j)} << (32 * (j % 2));
    return p;
  }
  static std::size_t max_bits() { return bit_length(prime()); }
  static std::size_t max_load_bits(std::size_t /*bits*/) { return 64 * kLimbs; }
  static std::size_t instances(std::size_t /*bits*/) { return 1; }
  static std::size_t radix_bits(std::size_t /*bits*/) { return Field::kRadixBits; }
  static naive::Limbs bound(const naive::Limbs& /*n*/, std::size_t /*bits*/, unsigned /*m*/) {
    return power_of_two_limbs(Field::kBoundBits, Field::kBoundBits / 64 + 1);
  }

  struct Io {
    const Field& f;
    FieldOutputs& outputs;
    using Element = typename Field::Element;

    void load(Element& r, const std::vector<naive::Limbs>& x) { f.from_limbs(r, words(x[0])); }
    void set_raw(Element& r, const std::vector<naive::Limbs>& x, unsigned m) {
      f.load(r, words(x[0]));
      field::Rules::set(r, m);
    }
    void store(std::size_t i, const Element& a) {
      naive::Limbs& r = outputs.numbers[i][0];
      f.to_limbs(integers::WordsOut(r.data(), static_cast<unsigned>(r.size())), a);
    }
    void flag(std::size_t i, std::uint32_t mask) {
      outputs.flags[i][0] = mask == 0 ? 0 : mask == ~std::uint32_t{0} ? 1 : -2;
    }
  };

  template <class Body>
  static void with_field(const std::vector<naive::Limbs>& /*n*/, std::size_t /*bits*/, FieldOutputs& outputs,
                         Body body) {
    const Field f;
    Io io{f, outputs};
    body(f, io);
  }

  static integers::Words words(const naive::Limbs& x) { return {x.data(), static_cast<unsigned>(x.size())}; }
};

using Backends = testing::Types<Backend<special_primes::Curve25519>, Backend<special_primes::Secp256k1>,
                                Backend<special_primes::P256>, Backend<special_primes::Sm2>,
                                Backend<special_primes::P384>, Backend<special_primes::P521>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Special, FieldContract, Backends);

/// Numbers of 2 kWords words, such as digests that are longer than the prime.
template <class Prime>
void check_wide_numbers() {
  using Field = field::SpecialField<Prime>;
  const Field f;
  naive::Generator generate(5);
  for (unsigned round = 0; round < 200; ++round) {
    naive::Limbs x = round == 0 ? naive::Limbs(Field::kWords, ~Limb{0}) : generate.number(Field::kWords);
    naive::Limbs r(Backend<Prime>::kLimbs);
    typename Field::Element a;
    f.from_limbs(a, Backend<Prime>::words(x));
    f.to_limbs(integers::WordsOut(r.data(), static_cast<unsigned>(r.size())), a);
    ASSERT_EQ(r, naive::reduce(x, Backend<Prime>::prime())) << round;
  }
}

TEST(SpecialField, NumbersOfTwiceTheLength) {
  check_wide_numbers<special_primes::Curve25519>();
  check_wide_numbers<special_primes::Secp256k1>();
  check_wide_numbers<special_primes::P256>();
  check_wide_numbers<special_primes::Sm2>();
  check_wide_numbers<special_primes::P384>();
  check_wide_numbers<special_primes::P521>();
}

/// Products of numbers whose words are all ones or 0, where carries run farthest.
template <class Prime>
void check_runs_of_ones() {
  constexpr unsigned kWords = Prime::kWords;
  for (unsigned pattern = 0; pattern < 4096; ++pattern) {
    std::uint32_t a[kWords], b[kWords], t[2 * kWords];
    naive::Limbs x(Backend<Prime>::kLimbs, 0), y = x;
    for (unsigned j = 0; j < kWords; ++j) {
      a[j] = pattern >> (j % 6) & 1 ? ~std::uint32_t{0} : 0;
      b[j] = pattern >> (6 + j % 6) & 1 ? ~std::uint32_t{0} : 0;
      x[j / 2] |= Limb{a[j]} << (32 * (j % 2));
      y[j / 2] |= Limb{b[j]} << (32 * (j % 2));
    }
    const naive::Limbs product = naive::limbs(naive::multiply(naive::digits(x), naive::digits(y)), kWords);
    const naive::Limbs squared = naive::limbs(naive::multiply(naive::digits(x), naive::digits(x)), kWords);
    const auto as_limbs = [&] {
      naive::Limbs r(kWords, 0);
      for (unsigned j = 0; j < 2 * kWords; ++j) r[j / 2] |= Limb{t[j]} << (32 * (j % 2));
      return r;
    };
    ASSERT_EQ(special_primes::multiply<kWords>(t, a, b), 0U) << pattern;
    ASSERT_EQ(as_limbs(), product) << pattern;
    ASSERT_EQ(special_primes::square<kWords>(t, a), 0U) << pattern;
    ASSERT_EQ(as_limbs(), squared) << pattern;
  }
}

TEST(SpecialField, ProductsOfRunsOfOnes) {
  check_runs_of_ones<special_primes::P256>();
  check_runs_of_ones<special_primes::P384>();
  check_runs_of_ones<special_primes::P521>();
}

/// A number below B: of words that are random, 0, all ones or near these, so that sums and differences are
/// often near multiples of B and of p.
template <class Prime>
naive::Limbs edge_number(naive::Generator& generate) {
  naive::Limbs x(Backend<Prime>::kLimbs, 0);
  const std::uint64_t kind = generate.below(4);
  for (unsigned j = 0; j < Prime::kWords; ++j) {
    const auto near = static_cast<std::uint32_t>(generate.below(7)) - 3;
    const std::uint64_t choice = kind == 3 ? 3 : generate.below(kind == 0 ? 4 : 3);
    const std::uint32_t word = choice == 0   ? near
                               : choice == 1 ? near >> 31
                               : choice == 2 ? Prime::word(j)
                                             : static_cast<std::uint32_t>(generate.number(1)[0]);
    x[j / 2] |= Limb{word} << (32 * (j % 2));
  }
  return x;
}

/// What field/fused.hpp computes, with operands anywhere below B, in the sequence of products that a doubling
/// has: each of them follows the one before.
template <class Prime>
void check_combinations() {
  using Field = field::SpecialField<Prime>;
  using Element = typename Field::Element;
  const Field f;
  const naive::Limbs p = Backend<Prime>::prime();
  const NaiveField plain(p);
  naive::Generator generate(7);
  for (unsigned round = 0; round < (kBriefTests ? 1000 : 4000); ++round) {
    SCOPED_TRACE(round);
    Element in[4], out[6];
    NaiveField::Element x[4], y[6];
    for (unsigned i = 0; i < 4; ++i) {
      const naive::Limbs raw = edge_number<Prime>(generate);
      f.load(in[i], Backend<Prime>::words(raw));
      x[i] = {naive::reduce(raw, p), 1};
      if (Field::kRadixBits != 0) {
        x[i].value = montgomery_product(raw, naive::Limbs{1, 0, 0, 0}, p, Field::kRadixBits);
      }
    }
    field::mul_sub(f, out[0], in[0], in[1], in[2], in[3]);
    field::mul_sub_sqr(f, out[1], in[0], in[1], in[2]);
    field::sub_twice(f, out[2], out[3], in[0], in[1]);
    field::sub_and_twice(f, out[4], out[5], in[0], in[1], in[2]);
    field::mul_sub(plain, y[0], x[0], x[1], x[2], x[3]);
    field::mul_sub_sqr(plain, y[1], x[0], x[1], x[2]);
    field::sub_twice(plain, y[2], y[3], x[0], x[1]);
    field::sub_and_twice(plain, y[4], y[5], x[0], x[1], x[2]);
    for (unsigned i = 0; i < 6; ++i) {
      naive::Limbs r(Backend<Prime>::kLimbs);
      f.to_limbs(integers::WordsOut(r.data(), static_cast<unsigned>(r.size())), out[i]);
      ASSERT_EQ(r, y[i].value) << i;
    }
  }
}

TEST(SpecialField, CombinationsOfProductsAndSums) {
  check_combinations<special_primes::Curve25519>();
  check_combinations<special_primes::Secp256k1>();
  check_combinations<special_primes::P256>();
  check_combinations<special_primes::Sm2>();
  check_combinations<special_primes::P384>();
  check_combinations<special_primes::P521>();
}

/// Word j of k (B - p) in two's complement.
template <class Prime>
std::uint32_t gap_word(unsigned j, int k) {
  std::int64_t carry = 0;
  std::uint32_t word = 0;
  for (unsigned i = 0; i <= j; ++i) {
    carry -= std::int64_t{k} * Prime::word(i);
    word = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return word;
}

/// r + top B mod p, for every highest word that decides about the multiple of p and lower words of 0, 1, all
/// ones, and those of multiples of B - p.
template <class Prime>
void check_words_above() {
  using special_primes::TopSign;
  constexpr unsigned kWords = Prime::kWords;
  constexpr std::size_t kLimbs = (kWords + 1) / 2;
  const naive::Limbs p = Backend<Prime>::prime();
  const NaiveField plain(p);
  const NaiveField::Element above{naive::reduce(power_of_two_limbs(32 * kWords, kLimbs + 1), p), 1};
  const auto value_of = [&p](const std::uint32_t(&words)[kWords]) {
    naive::Limbs number(kLimbs, 0);
    for (unsigned j = 0; j < kWords; ++j) number[j / 2] |= Limb{words[j]} << (32 * (j % 2));
    return naive::reduce(number, p);
  };
  for (int top = -3; top <= 3; ++top) {
    for (unsigned pattern = 0; pattern < 1200; ++pattern) {
      std::uint32_t r[kWords];
      r[kWords - 1] = pattern % 12 - 6;
      const unsigned low = pattern / 12;
      for (unsigned j = 0; j + 1 < kWords; ++j) {
        r[j] = low < 4    ? 0 - (low >> 1)
               : low < 20 ? gap_word<Prime>(j, static_cast<int>(low % 9) - 4)
                          : 0 - (low >> (j % 6) & 1);
      }
      if (low % 2 == 1) r[0] += 1 - low % 4;
      NaiveField::Element expected{value_of(r), 1};
      for (int i = 0; i < std::abs(top); ++i) {
        if (top > 0) {
          plain.add(expected, expected, above);
        } else {
          plain.sub(expected, expected, above);
        }
        plain.template normalize_weak<2>(expected, expected);
      }
      const auto check = [&]<TopSign kSign>() {
        std::uint32_t settled[kWords];
        std::copy(std::begin(r), std::end(r), std::begin(settled));
        Prime::template settle_top<kSign>(settled, static_cast<std::uint32_t>(top));
        EXPECT_EQ(value_of(settled), expected.value) << top << ' ' << pattern;
      };
      check.template operator()<TopSign::any>();
      if (top >= 0) check.template operator()<TopSign::not_negative>();
      if (top <= 0) check.template operator()<TopSign::not_positive>();
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SpecialField, WordsAboveANumber) {
  check_words_above<special_primes::P256>();
  check_words_above<special_primes::Sm2>();
  check_words_above<special_primes::P384>();
  check_words_above<special_primes::P521>();
}

/// (t + top B^2) / R mod p for t at the ends of its range, and where the sum is close to 0.
template <class Prime>
void check_signed_reductions() {
  using Field = field::SpecialField<Prime>;
  constexpr unsigned kWords = Prime::kWords;
  const naive::Limbs p = Backend<Prime>::prime();
  const NaiveField plain(p);
  NaiveField::Element above{naive::reduce(power_of_two_limbs(64 * kWords, kWords + 1), p), 1};
  for (unsigned pattern = 0; pattern < 4096; ++pattern) {
    // Four pieces of 0, 1, all ones, all ones but the lowest bit, and so on.
    std::uint32_t t[2 * kWords];
    naive::Limbs number(kWords, 0);
    for (unsigned j = 0; j < 2 * kWords; ++j) {
      const unsigned kind = pattern >> (3 * (j * 4 / (2 * kWords))) & 7;
      const bool is_first = j * 4 % (2 * kWords) < 4;
      t[j] = (kind & 1) != 0 ? 0xffffffffu : 0;
      if (is_first && (kind & 2) != 0) t[j] ^= 1;
      if (!is_first && (kind & 4) != 0) t[j] ^= j % 3 == 0 ? 0xffffffffu : 0x80000000u;
      number[j / 2] |= Limb{t[j]} << (32 * (j % 2));
    }
    for (const bool negative : {false, true}) {
      NaiveField::Element expected{naive::reduce(number, p), 1};
      if (negative) {
        plain.sub(expected, expected, above);
        plain.template normalize_weak<2>(expected, expected);
      }
      std::uint32_t copy[2 * kWords];
      std::copy(std::begin(t), std::end(t), std::begin(copy));
      typename Field::Element reduced;
      field::Rules::set(reduced, 1);
      Prime::reduce_signed(reduced.words, copy, negative ? ~std::uint32_t{0} : 0);
      // As words they stand for the number over R, as an element for that over R^2.
      for (unsigned i = 0; i < Field::kRadixBits; ++i) {
        plain.half(expected, expected);
        plain.half(expected, expected);
      }
      naive::Limbs r(Backend<Prime>::kLimbs);
      Field().to_limbs(integers::WordsOut(r.data(), static_cast<unsigned>(r.size())), reduced);
      ASSERT_EQ(r, expected.value) << pattern << ' ' << negative;
    }
  }
}

TEST(SpecialField, ReductionsOfDifferences) {
  check_signed_reductions<special_primes::P256>();
  check_signed_reductions<special_primes::Sm2>();
  check_signed_reductions<special_primes::P384>();
  check_signed_reductions<special_primes::P521>();
}

}  // namespace
}  // namespace manymod::test

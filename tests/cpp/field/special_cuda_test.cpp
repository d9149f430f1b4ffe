// SPDX-License-Identifier: Apache-2.0
#include "field/special.cuda.hpp"

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
    special_primes::multiply<kWords>(t, a, b);
    ASSERT_EQ(as_limbs(), product) << pattern;
    special_primes::square<kWords>(t, a);
    ASSERT_EQ(as_limbs(), squared) << pattern;
  }
}

TEST(SpecialField, ProductsOfRunsOfOnes) {
  check_runs_of_ones<special_primes::P256>();
  check_runs_of_ones<special_primes::P384>();
  check_runs_of_ones<special_primes::P521>();
}

}  // namespace
}  // namespace manymod::test

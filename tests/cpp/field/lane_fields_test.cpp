// SPDX-License-Identifier: Apache-2.0
// Fields in lanes (field/inlined_lanes.hpp), modulo special primes and primes that are known at run time: the
// contract of all fields, and edges of each prime and digit width.
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "field/batch_inverse.hpp"
#include "field/fused.hpp"
#include "support/field_tests.hpp"
#include "support/lane_test_field.hpp"

namespace manymod::test {
namespace {

constexpr std::size_t kPrimes = 7 + kRuntimePrimes;

/// On lane_field_backends()[kBackend], modulo its prime kPrime.
template <std::size_t kBackend, std::size_t kPrime>
struct LaneBackend {
  using Field = LaneTestField;
  static constexpr std::size_t kCost = 2;

  static std::string missing() { return missing_lane_fields(kBackend); }
  static const LaneFieldCalls& calls() { return lane_field_backends()[kBackend].fields[kPrime]; }
  static naive::Limbs prime() { return {calls().p.begin(), calls().p.end()}; }
  static std::size_t max_bits() { return calls().bits; }
  /// Modulo primes that are known at run time, numbers that enter are below 2 p.
  static std::size_t max_load_bits(std::size_t bits) {
    return calls().modulus != nullptr ? bits : 64 * limbs_for_bits(bits);
  }
  static std::size_t instances(std::size_t /*bits*/) { return calls().lanes; }
  static std::size_t radix_bits(std::size_t /*bits*/) { return calls().radix_bits; }
  static naive::Limbs bound(const naive::Limbs& n, std::size_t /*bits*/, unsigned m) {
    return naive::limbs(naive::multiply(naive::digits(n), {2 * m}), n.size() + 1);
  }

  struct Io {
    const Field& f;
    FieldOutputs& outputs;
    using Element = typename Field::Element;

    /// limb i of lane l at [i lanes + l]
    void load(Element& r, const std::vector<naive::Limbs>& x) {
      naive::Limbs limbs(calls().p.size() * calls().lanes);
      for (std::size_t lane = 0; lane < x.size(); ++lane) {
        for (std::size_t i = 0; i < calls().p.size(); ++i)
          limbs[i * calls().lanes + lane] = i < x[lane].size() ? x[lane][i] : 0;
      }
      f.from_limbs(r, limbs.data());
    }
    void set_raw(Element& r, const std::vector<naive::Limbs>& x, unsigned m) {
      for (std::size_t lane = 0; lane < x.size(); ++lane) {
        for (std::size_t d = 0; d < calls().digits; ++d)
          r.digit[d * calls().lanes + lane] = digit(x[lane], calls().digit_bits, d);
      }
      field::Rules::set(r, m);
    }
    void store(std::size_t i, const Element& a) {
      naive::Limbs limbs(calls().p.size() * calls().lanes);
      f.to_limbs(limbs.data(), a);
      for (std::size_t lane = 0; lane < calls().lanes; ++lane) {
        for (std::size_t k = 0; k < calls().p.size(); ++k)
          outputs.numbers[i][lane][k] = limbs[k * calls().lanes + lane];
      }
    }
    void flag(std::size_t i, const LaneFieldMask& mask) {
      for (std::size_t lane = 0; lane < outputs.flags[i].size(); ++lane)
        outputs.flags[i][lane] = mask.lane[lane] == 0 ? 0 : mask.lane[lane] == ~Limb{0} ? 1 : -2;
    }
  };

  template <class Body>
  static void with_field(const std::vector<naive::Limbs>& n, std::size_t /*bits*/, FieldOutputs& outputs,
                         Body body) {
    ASSERT_EQ(n.size(), calls().lanes);
    const Field f(calls());
    Io io{f, outputs};
    body(f, io);
  }
};

struct LaneNames {
  template <class Backend>
  static std::string GetName(int index) {  // NOLINT(readability-identifier-naming): GoogleTest's
    const auto backends = lane_field_backends();
    const std::size_t backend = static_cast<std::size_t>(index) / kPrimes;
    if (backend >= backends.size()) return "none" + std::to_string(index);
    return std::string(backends[backend].name) + "_" +
           backends[backend].fields[static_cast<std::size_t>(index) % kPrimes].prime;
  }
};

template <std::size_t k>
using Ifma = LaneBackend<0, k>;
template <std::size_t k>
using Avx512f = LaneBackend<1, k>;
template <std::size_t k>
using Avx2 = LaneBackend<2, k>;
using Backends =
    testing::Types<Ifma<0>, Ifma<1>, Ifma<2>, Ifma<3>, Ifma<4>, Ifma<5>, Ifma<6>, Ifma<7>, Ifma<8>, Ifma<9>,
                   Ifma<10>, Ifma<11>, Ifma<12>, Avx512f<0>, Avx512f<1>, Avx512f<2>, Avx512f<3>, Avx512f<4>,
                   Avx512f<5>, Avx512f<6>, Avx512f<7>, Avx512f<8>, Avx512f<9>, Avx512f<10>, Avx512f<11>,
                   Avx512f<12>, Avx2<0>, Avx2<1>, Avx2<2>, Avx2<3>, Avx2<4>, Avx2<5>, Avx2<6>, Avx2<7>,
                   Avx2<8>, Avx2<9>, Avx2<10>, Avx2<11>, Avx2<12>>;
INSTANTIATE_TYPED_TEST_SUITE_P(LaneFields, FieldContract, Backends, LaneNames);

TEST(LaneFields, EveryBackendAndPrimeIsTested) {
  EXPECT_LE(lane_field_backends().size(), 3U);
  for (const auto& backend : lane_field_backends()) EXPECT_EQ(backend.fields.size(), kPrimes);
}

template <class Backend>
class LaneFieldEdges : public FieldContract<Backend> {
 protected:
  using Field = typename Backend::Field;
  using Element = typename Field::Element;
  using Base = FieldContract<Backend>;

  static std::size_t bits() { return Backend::calls().bits; }
  static naive::Limbs prime() { return Backend::prime(); }

  static naive::Limbs less(naive::Limbs a, const naive::Limbs& b) {
    NaiveField::subtract(a, b);
    return a;
  }

  /// Numbers below the bound of magnitude m with digits that make columns, carries and folds as large or as
  /// unusual as they can be.
  static std::vector<naive::Limbs> edges(unsigned m) {
    const naive::Limbs bound = Backend::bound(prime(), bits(), m);
    const unsigned w = Backend::calls().digit_bits;
    std::vector<naive::Limbs> all;
    const auto add = [&](naive::Limbs x) {
      x.resize(bound.size(), 0);
      if (!NaiveField::at_least(x, bound)) all.push_back(x);
    };
    add({0});
    add({1});
    for (unsigned multiple = 1; multiple <= 2 * m; ++multiple) {
      naive::Limbs x = naive::limbs(naive::multiply(naive::digits(prime()), {multiple}), bound.size());
      add(less(x, {1}));
      add(x);
      ++x[0];  // p's lowest limb is below 2^64 - 16 for odd multiples, or the carry is tested elsewhere
      add(x);
    }
    // The largest digits below the top one, for each top digit that the bound allows: 2^kBits k - 1.
    for (unsigned k = 1; k <= 2 * m; ++k) {
      naive::Limbs x(bound.size(), 0);
      x[bits() / 64] = Limb{k} << bits() % 64;
      if (bits() % 64 > 59 && bits() / 64 + 1 < x.size()) x[bits() / 64 + 1] = Limb{k} >> (64 - bits() % 64);
      add(x);
      add(less(x, {1}));
    }
    // All digits but one are 0, or all but one are the largest.
    for (std::size_t d = 0; d < Backend::calls().digits; ++d) {
      for (const Limb value : {Limb{1}, (Limb{1} << w) - 1, Limb{1} << (w - 1)}) {
        naive::Limbs x(bound.size(), 0);
        for (unsigned bit = 0; bit < w; ++bit) {
          const std::size_t at = d * w + bit;
          if (at / 64 < x.size()) x[at / 64] |= (value >> bit & 1) << at % 64;
        }
        add(x);
        naive::Limbs rest = less(bound, {1});
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] &= ~x[i];
        add(rest);
      }
    }
    return all;
  }

  /// Lanes of numbers beginning at `first`, which wrap around.
  static std::vector<naive::Limbs> lanes_from(const std::vector<naive::Limbs>& numbers, std::size_t first,
                                              std::size_t step) {
    std::vector<naive::Limbs> r;
    for (std::size_t lane = 0; lane < Backend::calls().lanes; ++lane)
      r.push_back(numbers[(first + lane * step) % numbers.size()]);
    return r;
  }

  NaiveField::Element expected(const naive::Limbs& raw, unsigned m) const {
    return {Base::value_of(raw, prime(), bits()), m};
  }
};

TYPED_TEST_SUITE(LaneFieldEdges, Backends, LaneNames);

/// All functions of one element on every edge at every magnitude.
TYPED_TEST(LaneFieldEdges, FunctionsOfOneElement) {
  const NaiveField naive_field(this->prime());
  const std::size_t lanes = TypeParam::calls().lanes;
  for (unsigned m = 1; m <= field::kMaxMagnitude; ++m) {
    const auto numbers = this->edges(m);
    for (std::size_t first = 0; first < numbers.size(); first += lanes) {
      const auto raw = this->lanes_from(numbers, first, 1);
      FieldOutputs outputs(6, 1, lanes, this->prime().size());
      TypeParam::with_field(std::vector<naive::Limbs>(lanes, this->prime()), this->bits(), outputs,
                            [&](const auto& f, auto& io) {
                              typename TestFixture::Element a, r;
                              io.set_raw(a, raw, m);
                              io.store(0, a);
                              f.normalize_weak(r, a);
                              io.store(1, r);
                              io.flag(0, f.is_zero(r));
                              if (m < field::kMaxMagnitude) f.half(r, a), io.store(2, r);
                              if (m <= 4) f.template neg<4>(r, a), io.store(3, r);
                              if (m <= 2) f.sqr(r, a), io.store(4, r);
                              if (m == 1) f.neg(r, a), io.store(5, r);
                            });
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const NaiveField::Element a = this->expected(raw[lane], m);
        NaiveField::Element r;
        ASSERT_EQ(outputs.numbers[0][lane], a.value) << m;
        ASSERT_EQ(outputs.numbers[1][lane], a.value) << m;
        ASSERT_EQ(outputs.flags[0][lane], a.value == naive::Limbs(a.value.size(), 0)) << m;
        if (m < field::kMaxMagnitude) {
          naive_field.half(r, a);
          ASSERT_EQ(outputs.numbers[2][lane], r.value) << m;
        }
        if (m <= 4) {
          naive_field.template neg<4>(r, a);
          ASSERT_EQ(outputs.numbers[3][lane], r.value) << m;
          if (m == 1) {
            ASSERT_EQ(outputs.numbers[5][lane], r.value);
          }
        }
        if (m <= 2) {
          naive_field.sqr(r, a);
          ASSERT_EQ(outputs.numbers[4][lane], r.value) << m;
        }
      }
    }
  }
}

/// Products, sums and differences of edges at every pair of magnitudes; each edge meets several others.
TYPED_TEST(LaneFieldEdges, FunctionsOfTwoElements) {
  const NaiveField naive_field(this->prime());
  const std::size_t lanes = TypeParam::calls().lanes;
  for (unsigned x = 1; x < field::kMaxMagnitude; ++x) {
    for (unsigned y = 1; x + y <= field::kMaxMagnitude; ++y) {
      const auto left = this->edges(x), right = this->edges(y);
      for (std::size_t first = 0; first < left.size(); first += (kBriefTests ? 4 : 1) * lanes) {
        const auto a = this->lanes_from(left, first, 1), b = this->lanes_from(right, first / 2 + x * y, 7);
        FieldOutputs outputs(4, 0, lanes, this->prime().size());
        TypeParam::with_field(std::vector<naive::Limbs>(lanes, this->prime()), this->bits(), outputs,
                              [&](const auto& f, auto& io) {
                                typename TestFixture::Element p, q, r;
                                io.set_raw(p, a, x);
                                io.set_raw(q, b, y);
                                f.add(r, p, q);
                                io.store(0, r);
                                if (x * y <= field::kMaxProduct) f.mul(r, p, q), io.store(1, r);
                                if (y <= 4 && x <= 4) f.template sub<4>(r, p, q), io.store(2, r);
                                if (y == 1) f.sub(r, p, q), io.store(3, r);
                              });
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const NaiveField::Element p = this->expected(a[lane], x), q = this->expected(b[lane], y);
          NaiveField::Element r;
          naive_field.add(r, p, q);
          ASSERT_EQ(outputs.numbers[0][lane], r.value) << x << " " << y;
          if (x * y <= field::kMaxProduct) {
            naive_field.mul(r, p, q);
            ASSERT_EQ(outputs.numbers[1][lane], r.value) << x << " " << y;
          }
          if (y <= 4 && x <= 4) {
            naive_field.template sub<4>(r, p, q);
            ASSERT_EQ(outputs.numbers[2][lane], r.value) << x << " " << y;
          }
          if (y == 1) {
            naive_field.sub(r, p, q);
            ASSERT_EQ(outputs.numbers[3][lane], r.value) << x << " " << y;
          }
        }
      }
    }
  }
}

/// Combinations (field/fused.hpp) of edges, the first factor of a product having each magnitude that it may.
TYPED_TEST(LaneFieldEdges, Combinations) {
  const NaiveField naive_field(this->prime());
  const std::size_t lanes = TypeParam::calls().lanes;
  for (unsigned m = 1; m <= 3; ++m) {
    const auto reduced = this->edges(1), factors = this->edges(m);
    for (std::size_t first = 0; first < factors.size(); first += (kBriefTests ? 4 : 1) * lanes) {
      const std::vector<naive::Limbs> raw[] = {
          this->lanes_from(factors, first, 1), this->lanes_from(reduced, first / 2, 7),
          this->lanes_from(reduced, first / 3 + m, 5), this->lanes_from(reduced, first + 1, 3)};
      FieldOutputs outputs(11, 0, lanes, this->prime().size());
      TypeParam::with_field(std::vector<naive::Limbs>(lanes, this->prime()), this->bits(), outputs,
                            [&](const auto& f, auto& io) {
                              typename TestFixture::Element a[4], r, rest;
                              for (unsigned i = 0; i < 4; ++i) io.set_raw(a[i], raw[i], i == 0 ? m : 1);
                              f.mul_sub(r, a[0], a[1], a[2], a[3]);
                              io.store(0, r);
                              f.mul_sub_sqr(r, a[0], a[1], a[2]);
                              io.store(1, r);
                              f.three_halves(r, a[1]);
                              io.store(2, r);
                              f.sub_twice(r, rest, a[1], a[2]);
                              io.store(3, r), io.store(4, rest);
                              f.sub_and_twice(r, rest, a[1], a[2], a[3]);
                              io.store(5, r), io.store(6, rest);
                              f.add_sub(r, a[1], a[2], a[3]);
                              io.store(7, r);
                              f.sub_add_twice(r, a[1], a[2], a[3]);
                              io.store(8, r);
                              f.sub_both(r, a[1], a[2], a[3]);
                              io.store(9, r);
                              f.add_sub_twice(r, a[1], a[2], a[3]);
                              io.store(10, r);
                            });
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        NaiveField::Element a[4], r, rest;
        for (unsigned i = 0; i < 4; ++i) a[i] = this->expected(raw[i][lane], i == 0 ? m : 1);
        field::mul_sub(naive_field, r, a[0], a[1], a[2], a[3]);
        ASSERT_EQ(outputs.numbers[0][lane], r.value) << m;
        field::mul_sub_sqr(naive_field, r, a[0], a[1], a[2]);
        ASSERT_EQ(outputs.numbers[1][lane], r.value) << m;
        field::three_halves(naive_field, r, a[1]);
        ASSERT_EQ(outputs.numbers[2][lane], r.value);
        field::sub_twice(naive_field, r, rest, a[1], a[2]);
        ASSERT_EQ(outputs.numbers[3][lane], r.value);
        ASSERT_EQ(outputs.numbers[4][lane], rest.value);
        field::sub_and_twice(naive_field, r, rest, a[1], a[2], a[3]);
        ASSERT_EQ(outputs.numbers[5][lane], r.value);
        ASSERT_EQ(outputs.numbers[6][lane], rest.value);
        field::add_sub(naive_field, r, a[1], a[2], a[3]);
        ASSERT_EQ(outputs.numbers[7][lane], r.value);
        field::sub_add_twice(naive_field, r, a[1], a[2], a[3]);
        ASSERT_EQ(outputs.numbers[8][lane], r.value);
        field::sub_both(naive_field, r, a[1], a[2], a[3]);
        ASSERT_EQ(outputs.numbers[9][lane], r.value);
        field::add_sub_twice(naive_field, r, a[1], a[2], a[3]);
        ASSERT_EQ(outputs.numbers[10][lane], r.value);
      }
    }
  }
}

/// Sums and differences of products that were not carried (field/uncarried.hpp), likewise.
TYPED_TEST(LaneFieldEdges, Forms) {
  const NaiveField naive_field(this->prime());
  const std::size_t lanes = TypeParam::calls().lanes;
  for (unsigned m = 1; m <= 4; ++m) {
    const auto reduced = this->edges(1), factors = this->edges(m);
    for (std::size_t first = 0; first < factors.size(); first += (kBriefTests ? 4 : 1) * lanes) {
      const std::vector<naive::Limbs> raw[] = {
          this->lanes_from(factors, first, 1), this->lanes_from(reduced, first / 2, 7),
          this->lanes_from(reduced, first / 3 + m, 5), this->lanes_from(reduced, first + 1, 3)};
      FieldOutputs outputs(4, 0, lanes, this->prime().size());
      TypeParam::with_field(std::vector<naive::Limbs>(lanes, this->prime()), this->bits(), outputs,
                            [&](const auto& f, auto& io) {
                              typename TestFixture::Element a[4], results[4];
                              for (unsigned i = 0; i < 4; ++i) io.set_raw(a[i], raw[i], i == 0 ? m : 1);
                              f.forms(results, a[0], a[1], a[2], a[3]);
                              for (unsigned i = 0; i < 4; ++i) io.store(i, results[i]);
                            });
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        NaiveField::Element a[4], ab, cd, r, s;
        for (unsigned i = 0; i < 4; ++i) a[i] = this->expected(raw[i][lane], i == 0 ? m : 1);
        naive_field.mul(ab, a[0], a[1]);
        naive_field.mul(cd, a[2], a[3]);
        naive_field.add(r, ab, cd);
        naive_field.sub(s, ab, cd);
        naive_field.mul(r, r, s);
        ASSERT_EQ(outputs.numbers[0][lane], r.value) << m;
        naive_field.sqr(s, a[2]);
        field::sub_add_twice(naive_field, r, ab, cd, s);
        naive_field.sqr(r, r);
        ASSERT_EQ(outputs.numbers[1][lane], r.value) << m;
        ASSERT_EQ(outputs.numbers[2][lane], ab.value) << m;
        field::three_halves(naive_field, r, ab);
        ASSERT_EQ(outputs.numbers[3][lane], r.value) << m;
      }
    }
  }
}

/// Products of edges and small constants, for the primes that have them.
TYPED_TEST(LaneFieldEdges, SmallConstants) {
  const LaneFieldCalls& calls = TypeParam::calls();
  if (calls.mul_small == nullptr) GTEST_SKIP() << calls.prime << " has none";
  const NaiveField naive_field(this->prime());
  const std::size_t lanes = TypeParam::calls().lanes;
  for (const unsigned m : {1U, 2U}) {
    const auto numbers = this->edges(m);
    for (const Limb k : {Limb{0}, Limb{1}, Limb{121665}, (Limb{1} << 20) - 1}) {
      for (std::size_t first = 0; first < numbers.size(); first += lanes) {
        const auto raw = this->lanes_from(numbers, first, 1);
        FieldOutputs outputs(1, 0, lanes, this->prime().size());
        TypeParam::with_field(std::vector<naive::Limbs>(lanes, this->prime()), this->bits(), outputs,
                              [&](const auto&, auto& io) {
                                typename TestFixture::Element a;
                                io.set_raw(a, raw, m);
                                calls.mul_small(calls.modulus, a, a, k);
                                io.store(0, a);
                              });
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          NaiveField::Element r, factor;
          naive::Limbs constant(this->prime().size(), 0);
          constant[0] = k;
          naive_field.from_limbs(factor, constant);
          naive_field.mul(r, this->expected(raw[lane], m), factor);
          ASSERT_EQ(outputs.numbers[0][lane], r.value) << k << " " << m;
        }
      }
    }
  }
}

/// Zeros in some lanes of some elements spoil nothing else, in place and not.
TYPED_TEST(LaneFieldEdges, BatchInverse) {
  naive::Generator generate(5);
  const NaiveField naive_field(this->prime());
  const std::size_t lanes = TypeParam::calls().lanes;
  for (const std::size_t count : {0U, 1U, 2U, 4U, 11U}) {
    std::vector<std::vector<naive::Limbs>> raw(count);
    std::vector<unsigned> magnitudes(count);
    for (std::size_t i = 0; i < count; ++i) {
      magnitudes[i] = 1 + static_cast<unsigned>(generate.below(field::kMaxMagnitude));
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        // 0 as one of its multiples of p, in different lanes of each element; lane 1 has none.
        const bool zero = lane != 1 && (i + lane) % 3 == 0;
        raw[i].push_back(zero ? this->largest_raw(naive::Limbs(this->prime().size(), 0), this->prime(),
                                                  this->bits(),
                                                  1 + static_cast<unsigned>(generate.below(magnitudes[i])))
                              : this->raw_below(generate, this->prime(), this->bits(), magnitudes[i]));
      }
    }
    FieldOutputs outputs(2 * count + 1, 2 * count + 1, lanes, this->prime().size());
    TypeParam::with_field(std::vector<naive::Limbs>(lanes, this->prime()), this->bits(), outputs,
                          [&](const auto& f, auto& io) {
                            using F = typename TestFixture::Field;
                            std::vector<typename F::Element> a(count), r(count), scratch(count);
                            std::vector<typename F::Mask> exists(count);
                            for (std::size_t i = 0; i < count; ++i) io.set_raw(a[i], raw[i], magnitudes[i]);
                            field::batch_inverse(f, r.data(), exists.data(), a.data(), count, scratch.data());
                            for (std::size_t i = 0; i < count; ++i) io.store(i, r[i]), io.flag(i, exists[i]);
                            field::batch_inverse(f, a.data(), exists.data(), a.data(), count, scratch.data());
                            for (std::size_t i = 0; i < count; ++i)
                              io.store(count + i, a[i]), io.flag(count + i, exists[i]);
                          });
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const NaiveField::Element a = this->expected(raw[i][lane], magnitudes[i]);
        NaiveField::Element r;
        const int exists = naive_field.inverse(r, a) != 0 ? 1 : 0;
        ASSERT_EQ(outputs.numbers[i][lane], r.value) << i << " of " << count;
        ASSERT_EQ(outputs.numbers[count + i][lane], r.value) << i << " of " << count;
        ASSERT_EQ(outputs.flags[i][lane], exists);
        ASSERT_EQ(outputs.flags[count + i][lane], exists);
      }
    }
  }
}

}  // namespace
}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// Tests that every backend of field/field.hpp passes. A backend's test file instantiates them.
//
// A backend for tests is a class with
//   missing()                        why it cannot run here, or ""
//   max_bits()                       of moduli
//   kCost                            about the time of a product, in units of a small one
//   instances(bits)                  instances that a field for moduli of `bits` bits computes at once
//   radix_bits(bits)                 R = 2^radix_bits
//   bound(n, bits, m)                the bound of numbers of magnitude m modulo n
//   with_field(moduli, bits, body)   body(field, io) in each thread, for one modulus an instance
// and optionally
//   prime()                          the modulus of fields that have no other: widths and moduli are its own
// where io.load(r, x) reads one number an instance, io.set_raw(r, x, m) makes x itself, a number below the
// bound, the element, and io.store(i, a), io.flag(i, mask) keep the canonical number and the mask of output
// i.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "support/brief.hpp"
#include "support/field_programs.hpp"
#include "support/lane_values.hpp"
#include "support/naive_field.hpp"

namespace manymod::test {

/// The outputs of a program: each has one number, or one truth value, for each instance.
struct FieldOutputs {
  std::vector<std::vector<naive::Limbs>> numbers;
  std::vector<std::vector<int>> flags;

  FieldOutputs(std::size_t count, std::size_t flag_count, std::size_t instances, std::size_t limbs)
      : numbers(count, std::vector<naive::Limbs>(instances, naive::Limbs(limbs, ~Limb{0}))),
        flags(flag_count, std::vector<int>(instances, -1)) {}
};

template <class Backend>
class FieldContract : public testing::Test {
 protected:
  using Numbers = std::vector<naive::Limbs>;  ///< one an instance

  void SetUp() override {
    const std::string missing = Backend::missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
  }

  static std::size_t repetitions(std::size_t most) {
    return std::max<std::size_t>(1, most / Backend::kCost / (kBriefTests ? 4 : 1));
  }
  /// Whether the backend's fields have one modulus only.
  static constexpr bool kFixed = requires { Backend::prime(); };

  static std::vector<std::size_t> widths() {
    if constexpr (kFixed) return {bit_length(Backend::prime())};
    // 228 and 256 bits leave four bits of the digits of 29 and of 52 bits, what a field needs at least, and
    // 230 and 258 less.
    constexpr std::size_t kAll[] = {2, 8, 31, 64, 127, 228, 230, 255, 256, 258, 384, 521, 576, 640};
    std::vector<std::size_t> widths;
    for (const std::size_t bits : kAll) {
      if (bits <= Backend::max_bits()) widths.push_back(bits);
    }
    return widths;
  }
  /// A modulus of at most `bits` bits: one of its shapes is just below a power of two, one just above.
  static naive::Limbs modulus(naive::Generator& generate, std::size_t bits, std::size_t shape) {
    if constexpr (kFixed) return Backend::prime();
    naive::Limbs n(limbs_for_bits(bits), 0);
    const auto set = [&](std::size_t bit) { n[bit / 64] |= Limb{1} << (bit % 64); };
    if (shape % 4 == 0) {
      for (std::size_t bit = 0; bit < bits; ++bit) set(bit);
      n[0] -= bits > 8 ? 2 * generate.below(64) : 0;
    } else if (shape % 4 == 1) {
      set(bits - 1);
    } else {
      n = truncated(generate.number(n.size()), bits - (shape % 4 == 2 ? 0 : generate.below(bits - 1)));
      if (shape % 4 == 2) set(bits - 1);
    }
    n[0] |= 1;
    if (bit_length(n) < 2) n[0] = 3;
    return n;
  }
  static Numbers moduli(naive::Generator& generate, std::size_t bits, std::size_t shape) {
    Numbers n;
    for (std::size_t i = 0; i < Backend::instances(bits); ++i)
      n.push_back(modulus(generate, bits, shape + i));
    return n;
  }
  static std::size_t radix_limbs(std::size_t bits) { return limbs_for_bits(Backend::radix_bits(bits)) + 1; }

  /// x R mod n in `limbs` limbs, for x < n.
  static naive::Limbs in_montgomery_form(const naive::Limbs& x, const naive::Limbs& n, std::size_t bits,
                                         std::size_t limbs) {
    const naive::Limbs radix = power_of_two_limbs(Backend::radix_bits(bits), radix_limbs(bits));
    naive::Limbs r = naive::multiply_mod(x, naive::reduce(radix, n), n);
    r.resize(limbs, 0);
    return r;
  }
  /// The residue that a number represents.
  static naive::Limbs value_of(const naive::Limbs& raw, const naive::Limbs& n, std::size_t bits) {
    if (Backend::radix_bits(bits) == 0) return naive::reduce(raw, n);
    naive::Limbs one(n.size(), 0);
    one[0] = 1;
    return montgomery_product(raw, one, n, Backend::radix_bits(bits));
  }
  /// The largest number of magnitude m that represents x.
  static naive::Limbs largest_raw(const naive::Limbs& x, const naive::Limbs& n, std::size_t bits,
                                  unsigned m) {
    naive::Limbs top = Backend::bound(n, bits, m);
    NaiveField::subtract(top, {1});
    const naive::Limbs low = in_montgomery_form(x, n, bits, top.size());
    naive::Limbs above = top;  // top - ((top - low) mod n)
    NaiveField::subtract(above, low);
    naive::Limbs rest = naive::reduce(above, n);
    NaiveField::subtract(top, rest);
    return top;
  }
  /// Below the bound of magnitude m: at its end, near it, or anywhere.
  static naive::Limbs raw_below(naive::Generator& generate, const naive::Limbs& n, std::size_t bits,
                                unsigned m) {
    naive::Limbs top = Backend::bound(n, bits, m);
    const std::uint64_t kind = generate.below(4);
    if (kind == 0) {
      NaiveField::subtract(top, {1 + generate.below(2)});
      return top;
    }
    naive::Limbs raw = naive::reduce(generate.number(top.size()), top);
    if (kind == 1) {  // high half
      NaiveField::subtract(top, {1});
      for (std::size_t i = 0; i + 1 < top.size(); ++i) top[i] = i % 2 == 0 ? top[i] : 0;
      raw = naive::reduce(top, Backend::bound(n, bits, m));
    }
    return raw;
  }
};

TYPED_TEST_SUITE_P(FieldContract);

TYPED_TEST_P(FieldContract, CanonicalNumbersInAndOut) {
  naive::Generator generate(1);
  for (const std::size_t bits : this->widths()) {
    const auto n = this->moduli(generate, bits, bits);
    const std::size_t limbs = limbs_for_bits(bits);
    std::vector<std::vector<naive::Limbs>> inputs(4);
    for (const naive::Limbs& one : n) {
      naive::Limbs below = one;
      --below[0];
      inputs[0].push_back(generate.residue(one));
      inputs[1].push_back(below);
      inputs[2].push_back(one);
      inputs[3].push_back(truncated(naive::Limbs(limbs, ~Limb{0}), TypeParam::max_load_bits(bits)));
    }
    FieldOutputs outputs(6, 0, n.size(), limbs);
    TypeParam::with_field(n, bits, outputs, [&](const auto& f, auto& io) {
      typename std::decay_t<decltype(f)>::Element a;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        io.load(a, inputs[i]);
        io.store(i, a);
      }
      f.one(a);
      io.store(4, a);
      f.zero(a);
      io.store(5, a);
    });
    for (std::size_t lane = 0; lane < n.size(); ++lane) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        ASSERT_EQ(outputs.numbers[i][lane], naive::reduce(inputs[i][lane], n[lane])) << bits << " " << i;
      }
      ASSERT_EQ(outputs.numbers[4][lane], small(1, limbs));
      ASSERT_EQ(outputs.numbers[5][lane], small(0, limbs));
    }
  }
}

/// Random programs, on inputs of every magnitude at the end of its range.
TYPED_TEST_P(FieldContract, RandomProgramsAtTheLimits) {
  naive::Generator generate(2);
  for (const std::size_t bits : this->widths()) {
    for (std::size_t round = 0; round < this->repetitions(24); ++round) {
      const auto n = this->moduli(generate, bits, round);
      const std::size_t limbs = limbs_for_bits(bits);
      std::array<unsigned, kFieldInputs> magnitudes{};
      std::array<std::vector<naive::Limbs>, kFieldInputs> raw;
      for (std::size_t i = 0; i < kFieldInputs; ++i) {
        magnitudes[i] = 1 + static_cast<unsigned>(generate.below(round % 2 == 0 ? 2 : field::kMaxMagnitude));
        for (const naive::Limbs& one : n)
          raw[i].push_back(this->raw_below(generate, one, bits, magnitudes[i]));
      }
      const auto program = random_field_program(generate, 40, magnitudes, round % 4 == 0);
      FieldOutputs outputs(kFieldRegisters, 0, n.size(), limbs);
      TypeParam::with_field(n, bits, outputs, [&](const auto& f, auto& io) {
        typename std::decay_t<decltype(f)>::Element registers[kFieldRegisters];
        for (auto& one : registers) f.one(one);
        for (std::size_t i = 0; i < kFieldInputs; ++i) io.set_raw(registers[i], raw[i], magnitudes[i]);
        run_field_program(f, program, registers);
        for (std::size_t i = 0; i < kFieldRegisters; ++i) io.store(i, registers[i]);
      });
      for (std::size_t lane = 0; lane < n.size(); ++lane) {
        const NaiveField naive_field(n[lane]);
        NaiveField::Element registers[kFieldRegisters];
        for (auto& r : registers) naive_field.one(r);
        for (std::size_t i = 0; i < kFieldInputs; ++i) {
          registers[i] = {this->value_of(raw[i][lane], n[lane], bits), magnitudes[i]};
        }
        run_field_program(naive_field, program, registers);
        for (std::size_t i = 0; i < kFieldRegisters; ++i) {
          ASSERT_EQ(outputs.numbers[i][lane], registers[i].value)
              << bits << " bits, round " << round << ", register " << i;
        }
      }
    }
  }
}

/// Each function with the largest operands of each magnitude that the contract allows, of each residue of
/// small primes.
TYPED_TEST_P(FieldContract, EveryResidueOfSmallPrimes) {
  if (TestFixture::kFixed) return;  // other moduli than its own
  constexpr unsigned kMost = field::kMaxMagnitude;
  for (const unsigned prime : {3U, 5U, 13U, 199U}) {
    const std::size_t bits = prime < 16 ? 4 : 8;
    if (TypeParam::max_bits() < bits) continue;
    const std::size_t instances = TypeParam::instances(bits);
    const std::vector<naive::Limbs> n(instances, {prime});
    // All pairs of residues of the small ones; of the largest each with a few others.
    std::vector<std::array<unsigned, 2>> pairs;
    const unsigned others = prime < 16 ? prime : (TypeParam::kCost > 1 || kBriefTests ? 1 : 3);
    for (unsigned a = 0; a < prime;
         a += kBriefTests && prime > 16 ? 6 : 1) {  // 0 and prime - 1 are among them
      for (unsigned j = 0; j < others; ++j)
        pairs.push_back({a, prime < 16 ? j : (a * (7 * j + 5) + j) % prime});
    }
    if (TypeParam::kCost > 8) pairs.resize(std::min<std::size_t>(pairs.size(), 13));
    for (std::size_t first = 0; first < pairs.size(); first += instances) {
      std::vector<std::array<unsigned, 2>> now;
      for (std::size_t i = 0; i < instances; ++i) now.push_back(pairs[(first + i) % pairs.size()]);
      // raw[m - 1][operand]
      std::array<std::array<std::vector<naive::Limbs>, 2>, kMost> raw;
      for (unsigned m = 1; m <= kMost; ++m) {
        for (std::size_t operand = 0; operand < 2; ++operand) {
          for (const auto& pair : now)
            raw[m - 1][operand].push_back(this->largest_raw({pair[operand]}, n[0], bits, m));
        }
      }
      struct Expected {
        std::size_t output;
        unsigned a, b;
        int op;
      };
      std::vector<Expected> expected;
      std::vector<Expected> flags;
      FieldOutputs outputs(600, 8, instances, 1);
      TypeParam::with_field(n, bits, outputs, [&](const auto& f, auto& io) {
        typename std::decay_t<decltype(f)>::Element a[kMost], b[kMost], r;
        std::vector<Expected> list;
        const auto keep = [&](unsigned ma, unsigned mb, int op) {
          io.store(list.size(), r);
          list.push_back({list.size(), ma, mb, op});
        };
        for (unsigned m = 1; m <= kMost; ++m) {
          io.set_raw(a[m - 1], raw[m - 1][0], m);
          io.set_raw(b[m - 1], raw[m - 1][1], m);
        }
        for (unsigned x = 1; x <= kMost; ++x) {
          for (unsigned y = 1; y <= kMost; ++y) {
            const auto &p = a[x - 1], &q = b[y - 1];
            if (x * y <= field::kMaxProduct) f.mul(r, p, q), keep(x, y, 0);
            if (x + y <= kMost) f.add(r, p, q), keep(x, y, 1);
            if (y <= 1 && x + 1 <= kMost) f.sub(r, p, q), keep(x, y, 2);
            if (y <= 2 && x + 2 <= kMost) f.template sub<2>(r, p, q), keep(x, y, 2);
            if (y <= 4 && x + 4 <= kMost) f.template sub<4>(r, p, q), keep(x, y, 2);
          }
          const auto& p = a[x - 1];
          if (x * x <= field::kMaxProduct) f.sqr(r, p), keep(x, x, 3);
          if (x <= 1) f.neg(r, p), keep(x, x, 4);
          if (x <= 2) f.template neg<2>(r, p), keep(x, x, 4);
          if (x <= 4) f.template neg<4>(r, p), keep(x, x, 4);
          if (x < kMost) f.half(r, p), keep(x, x, 5);
          if (x <= 2) f.template normalize_weak<2>(r, p), keep(x, x, 6);
          if (x <= 4) f.template normalize_weak<4>(r, p), keep(x, x, 6);
          f.normalize_weak(r, p), keep(x, x, 6);
          r = p, keep(x, x, 6);
        }
        io.flag(0, f.is_zero(a[0]));
        io.flag(1, f.equal(a[0], b[0]));
        f.normalize_weak(r, a[kMost - 1]);
        io.flag(2, f.equal(r, a[0]));
        io.flag(3, f.inverse(r, a[kMost - 1]));
        keep(kMost, kMost, 7);
        f.sub(r, a[0], b[0]);
        f.template normalize_weak<2>(r, r);
        io.flag(4, f.is_zero(r));
        r = b[1];
        f.cmov(r, a[2], f.is_zero(a[0]));
        keep(3, 2, 8);
        f.cmov(r, a[kMost - 1], ~f.equal(a[0], b[0]));
        keep(kMost, 2, 9);
        expected = list;  // the same in all threads
      });
      ASSERT_LE(expected.size(), outputs.numbers.size());
      for (std::size_t i = 0; i < instances; ++i) {
        const unsigned a = now[i][0], b = now[i][1];
        unsigned inverse = 0;
        for (unsigned x = 1; x < prime; ++x) inverse = a * x % prime == 1 ? x : inverse;
        for (const Expected& one : expected) {
          const unsigned half = a % 2 == 0 ? a / 2 : (a + prime) / 2;
          const unsigned moved = a == 0 ? a : b;
          const std::array<unsigned, 10> results{a * b % prime,
                                                 (a + b) % prime,
                                                 (a + prime - b) % prime,
                                                 a * a % prime,
                                                 (prime - a) % prime,
                                                 half,
                                                 a,
                                                 inverse,
                                                 moved,
                                                 a != b ? a : moved};
          ASSERT_EQ(outputs.numbers[one.output][i],
                    naive::Limbs{results.at(static_cast<std::size_t>(one.op))})
              << "op " << one.op << " mod " << prime << ", residues " << a << " and " << b << ", magnitudes "
              << one.a << " and " << one.b;
        }
        ASSERT_EQ(outputs.flags[0][i], a == 0);
        ASSERT_EQ(outputs.flags[1][i], a == b);
        ASSERT_EQ(outputs.flags[2][i], 1);
        ASSERT_EQ(outputs.flags[3][i], a != 0);
        ASSERT_EQ(outputs.flags[4][i], a == b);
      }
    }
  }
}

/// Inverses, also modulo composites and of numbers that have no inverse.
TYPED_TEST_P(FieldContract, Inverses) {
  naive::Generator generate(4);
  std::size_t invertible = 0, others = 0;
  for (const std::size_t bits : this->widths()) {
    for (std::size_t round = 0; round < 1 + this->repetitions(4); ++round) {
      auto n = this->moduli(generate, bits, 2 + round);
      if (bits == 8) n.assign(n.size(), {(3 + 2 * round) * 15});
      std::vector<naive::Limbs> x;
      for (const naive::Limbs& one : n) x.push_back(generate.residue(one));
      // Modulo a prime all numbers but 0 have inverses.
      if (TestFixture::kFixed && round < 2) x[0] = small(round, n[0].size());
      FieldOutputs outputs(2, 1, n.size(), limbs_for_bits(bits));
      TypeParam::with_field(n, bits, outputs, [&](const auto& f, auto& io) {
        typename std::decay_t<decltype(f)>::Element a, r;
        io.load(a, x);
        io.flag(0, f.inverse(r, a));
        io.store(0, r);
        f.inverse(a, a);
        io.store(1, a);
      });
      for (std::size_t i = 0; i < n.size(); ++i) {
        const NaiveField naive_field(n[i]);
        NaiveField::Element a, r;
        naive_field.from_limbs(a, x[i]);
        const bool exists = naive_field.inverse(r, a) != 0;
        ASSERT_EQ(outputs.numbers[0][i], r.value) << bits;
        ASSERT_EQ(outputs.numbers[1][i], r.value) << bits;
        ASSERT_EQ(outputs.flags[0][i], exists);
        ++(exists ? invertible : others);
      }
    }
  }
  ASSERT_GT(invertible, 0U);
  ASSERT_GT(others, 0U);
}

REGISTER_TYPED_TEST_SUITE_P(FieldContract, CanonicalNumbersInAndOut, RandomProgramsAtTheLimits,
                            EveryResidueOfSmallPrimes, Inverses);

}  // namespace manymod::test

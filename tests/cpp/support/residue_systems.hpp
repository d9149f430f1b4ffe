// SPDX-License-Identifier: Apache-2.0
// What the tests of multipliers in residue number systems share: R is a product of primes, and some moduli
// are refused.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "gpu/program/programs.hpp"
#include "support/device_multiplier.hpp"

namespace manymod::test {

/// Canonical numbers of one item.
struct ResidueItem {
  Words n, base, exponent;
};

/// The results that the kernels' interpreter computes for a program.
struct ResidueOutcome {
  Words result;
  bool refused = false;
};

inline Words expected_power(const ResidueItem& item) {
  const MontgomeryOracle oracle(item.n, 32);
  return oracle.power(oracle.reduce(item.base), item.exponent);
}

/// Checks that r is canonical and r divisor = dividend modulo n.
inline void expect_quotient(const MontgomeryOracle& oracle, const Words& n, const GuardedResult& r,
                            const Words& dividend, const Words& divisor) {
  ASSERT_TRUE(r.guards_intact());
  ASSERT_FALSE(naive::at_least(r.words(), n));
  ASSERT_EQ(oracle.times(r.words(), divisor), dividend);
}

/// Checks products of x and y and squares of x: canonical, and divided by R = `radix` as often as expected.
/// with_multiplier(body) calls body(multiplier) in every lane, and returns whether the lanes wrote in their
/// own memory only.
template <class WithMultiplier>
void expect_residue_products(const Words& n, const Words& x, const Words& y, const Words& radix,
                             const WithMultiplier& with_multiplier) {
  const std::size_t words = n.size();
  GuardedResult product(words), square(words), last(words);
  const MontgomeryOracle oracle(n, 32);
  const Words y_residue = oracle.reduce(y);
  ASSERT_TRUE(with_multiplier([&](const auto& m) {
    ASSERT_FALSE(m.refused());
    const auto a = m.from_words(source_of(x)), b = m.from_words(source_of(y));
    const auto one = m.from_words(WordSource{nullptr, 0, 1});
    m.to_words(sink_of(product, words), m.mul(m.mul(a, b), one));
    m.to_words(sink_of(square, words), m.mul(m.sqr(a), one));
    m.to_words(sink_of(last, words), m.mul(a, m.from_words(source_of(y_residue))));
  }));
  expect_quotient(oracle, n, product, oracle.times(x, y), oracle.times(radix, radix));
  expect_quotient(oracle, n, square, oracle.times(x, x), oracle.times(radix, radix));
  expect_quotient(oracle, n, last, oracle.times(x, y), oracle.reduce(radix));
}

/// The job of a program for one item; n, the base, the start and the result have as many words as n. The
/// arguments are to outlive it. `start`: R^2 mod n.
inline gpu::ProgramJob residue_job(const gpu::Program& program, const ResidueItem& item, const Words& start,
                                   const void* constants, GuardedResult& result, std::uint8_t& refused) {
  const auto words = static_cast<std::uint32_t>(item.n.size());
  gpu::ProgramJob job;
  job.steps = program.steps.data();
  job.step_count = static_cast<std::uint32_t>(program.steps.size());
  job.count = 1;
  job.scan = program.scan;
  job.modulus = {item.n.data(), words, words};
  job.start = {start.data(), words, words};
  job.operands[0] = {item.base.data(), words, words};
  job.operands[1] = {item.exponent.data(), static_cast<std::uint32_t>(item.exponent.size()), 0};
  job.result = result.data();
  job.result_width = words;
  job.constants = constants;
  job.refused = &refused;
  return job;
}

}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// The tensor-core kernels of residue number systems on the host (modmul/rns/*.cuda.hpp): the lanes of a warp
// in lockstep, matrix products by plain loops.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arch/cuda/words.hpp"
#include "modexp/comb.hpp"
#include "modexp/windows.hpp"
#include "modmul/device/programs.hpp"
#include "modmul/rns/channel.cuda.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/shapes.cuda.hpp"
#include "support/device_steps.hpp"
#include "support/rns_run.hpp"

namespace manymod::test {
namespace {

template <unsigned kBitsOfShape, unsigned kFoursAtOnce>
struct RnsShape {
  static constexpr unsigned kBits = kBitsOfShape, kWords = kBits / 32;
  static constexpr rns::Form kEach = rns::shape_form(kBits, kFoursAtOnce, 0, false);
  static constexpr rns::Form kShared = kEach.with_one_modulus();
};

template <class Shape>
class RnsPrograms : public testing::Test {
 protected:
  static constexpr unsigned kBits = Shape::kBits, kWords = Shape::kWords;
  // More than a warp's, and the last warp not full.
  static constexpr std::uint32_t kCount = kBits <= 512 ? 23 : 9;
  // The host makes the products of wide matrices in loops.
  static constexpr bool kWide = kBits > 1024;
  static constexpr std::uint32_t kExponentBits = kWide ? 11 : 64;

  static std::vector<Words> moduli(naive::Generator& generate, std::size_t count) {
    const std::vector<Words> edges = edge_moduli(generate, kWords, 12);
    std::vector<Words> chosen;
    for (std::size_t i = 0; i < count; ++i) chosen.push_back(edges[i % edges.size()]);
    return chosen;
  }

  static std::vector<Words> numbers(naive::Generator& generate, std::size_t count, std::size_t words) {
    std::vector<Words> numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(edge_words(generate, words));
    return numbers;
  }

  static Words squared_radix_modulo(const Words& n) {
    return MontgomeryOracle(n, 32).reduce(rns::squared_radix(kBits));
  }

  static constexpr std::uint8_t kUntouched = 7;

  struct Answer {
    std::vector<Words> results;
    std::vector<std::uint8_t> refused;
  };

  /// `operands`: of the program, each of as many numbers as there are items, or of one.
  static Answer run(const device::Program& program, const DeviceNumbers& moduli, bool shared,
                    const std::vector<DeviceNumbers>& operands, std::uint32_t count) {
    std::vector<Words> starts;
    for (std::size_t i = 0; i < (shared ? 1 : count); ++i) starts.push_back(squared_radix_modulo(moduli[i]));
    const DeviceNumbers start(starts);
    Words results(std::size_t{count} * kWords);
    Answer answer{{}, std::vector<std::uint8_t>(count, kUntouched)};
    device::ProgramJob job;
    job.steps = program.steps.data();
    job.step_count = static_cast<std::uint32_t>(program.steps.size());
    job.count = count;
    job.modulus = moduli.operand();
    job.start = start.operand();
    for (std::size_t o = 0; o < operands.size(); ++o) job.operands[o] = operands[o].operand();
    job.result = results.data();
    job.result_width = kWords;
    job.scan = program.scan;
    job.slots = program.slots;
    job.refused = answer.refused.data();
    if (shared) {
      const auto constants = rns::modulus_constants(kBits, naive::limbs(moduli[0], kWords / 2));
      job.constants = constants.data();
      run_rns_warps<Shape::kShared>(job);
    } else {
      static const auto kConstants = rns::base_constants(kBits);
      job.constants = kConstants.data();
      run_rns_warps<Shape::kEach>(job);
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      answer.results.emplace_back(results.begin() + std::ptrdiff_t{i} * kWords,
                                  results.begin() + std::ptrdiff_t{i + 1} * kWords);
    }
    return answer;
  }

  void expect_powers(const device::Program& program, bool shared_modulus, bool shared_exponent,
                     const std::vector<Words>& exponent_numbers) {
    naive::Generator generate(3);
    const DeviceNumbers n(moduli(generate, shared_modulus ? 1 : kCount));
    const DeviceNumbers bases(numbers(generate, kCount, kWords));
    const DeviceNumbers exponents(exponent_numbers);
    const Answer answer = run(program, n, shared_modulus,
                              shared_exponent ? std::vector{bases} : std::vector{bases, exponents}, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const MontgomeryOracle oracle(n[i], 32);
      EXPECT_EQ(answer.results[i], oracle.power(oracle.reduce(bases[i]), exponents[i])) << "item " << i;
      EXPECT_EQ(answer.refused[i], shared_modulus ? kUntouched : 0) << "item " << i;
    }
  }
};

// Sanitizers multiply the time of each.
#if defined(MANYMOD_SANITIZED)
using RnsShapes = testing::Types<RnsShape<512, 3>, RnsShape<1024, 4>, RnsShape<6144, 2>>;
#else
using RnsShapes = testing::Types<RnsShape<512, 3>, RnsShape<512, 2>, RnsShape<1024, 4>, RnsShape<2048, 3>,
                                 RnsShape<4096, 3>, RnsShape<6144, 2>>;
#endif
TYPED_TEST_SUITE(RnsPrograms, RnsShapes);

TYPED_TEST(RnsPrograms, Products) {
  naive::Generator generate(1);
  const DeviceNumbers n(this->moduli(generate, this->kCount));
  const DeviceNumbers x(this->numbers(generate, this->kCount, this->kWords));
  std::vector<Words> residues;
  for (std::size_t i = 0; i < this->kCount; ++i) {
    residues.push_back(MontgomeryOracle(n[i], 32).reduce(edge_words(generate, this->kWords)));
  }
  const DeviceNumbers y(residues);
  const auto answer = this->run(device::product_program(0, 1), n, false, {x, y}, this->kCount);
  for (std::size_t i = 0; i < this->kCount; ++i) {
    EXPECT_EQ(answer.results[i], MontgomeryOracle(n[i], 32).times(x[i], y[i])) << "item " << i;
    EXPECT_EQ(answer.refused[i], 0);
  }
}

/// Class secret reads all of a table, class public one element.
TYPED_TEST(RnsPrograms, FixedWindowPowers) {
  naive::Generator generate(2);
  std::vector<Words> exponents;
  for (std::size_t i = 0; i < this->kCount; ++i) {
    exponents.push_back(word_number(generate.number(1)[0] >> (64 - this->kExponentBits), 2));
  }
  for (const bool secret : {true, false}) {
    for (const bool shared_modulus : {true, false}) {
      const device::Program program = device::fixed_window_program(0, this->kExponentBits, 3, secret);
      this->expect_powers(program, shared_modulus, false, exponents);
    }
  }
}

TYPED_TEST(RnsPrograms, SlidingWindowPowers) {
  const Words exponent{this->kWide ? 0x1c3 : 0xf0e1d2c3, this->kWide ? 0 : 0x10001U};
  const auto limbs = naive::limbs(exponent, 1);
  const device::Program program = device::sliding_window_program(0, best_sliding_schedule(limbs));
  this->expect_powers(program, true, true, {exponent});
  this->expect_powers(program, false, true, {exponent});
}

/// Many squarings in a row, so that every residue takes many values: x^(2^k).
TYPED_TEST(RnsPrograms, RepeatedSquares) {
  device::Program program;
  const std::uint32_t count = this->kBits <= 512 ? 150 : 10;
  program.steps = {program::load(device::Source::start),
                   program::after_squarings(program::multiply(device::Source::operand, 0), 0),
                   program::after_squarings(program::multiply(device::Source::one), count)};
  Words exponent = power_of_two(count, count / 32 + 1);
  this->expect_powers(program, false, true, {exponent});
}

/// What an item with a modulus that is not prime to M_B leaves is of no use, and said to be; its neighbours
/// in the quad and in the warp are not touched.
TYPED_TEST(RnsPrograms, ModuliThatAreNotPrimeToTheBase) {
  naive::Generator generate(5);
  std::vector<Words> n = this->moduli(generate, this->kCount);
  std::vector<std::uint8_t> bad(this->kCount, 0);
  for (const unsigned j : {0U, 5U, 4 * rns::sizes_of(this->kBits).fours - 1}) {
    const std::size_t i = (j * 3 + 1) % this->kCount;
    Words half = edge_words(generate, this->kWords - 1);
    half[0] |= 1;
    n[i] = sized(naive::multiply(half, {rns::channel_of_b(j)}), this->kWords);
    bad[i] = 1;
  }
  const DeviceNumbers moduli(n), x(this->numbers(generate, this->kCount, this->kWords)),
      one({word_number(1, this->kWords)});
  const auto answer = this->run(device::product_program(0, 1), moduli, false, {x, one}, this->kCount);
  EXPECT_EQ(answer.refused, bad);
  for (std::size_t i = 0; i < this->kCount; ++i) {
    if (bad[i] != 0) continue;
    EXPECT_EQ(answer.results[i], MontgomeryOracle(n[i], 32).reduce(x[i])) << "item " << i;
  }
}

TEST(RnsChannel, InverseOfResidues) {
  for (const unsigned j : {0U, 1U, 267U}) {
    const std::uint32_t m = rns::channel_of_b(j);
    rns::Channel channel;
    channel.modulus = m;
    channel.negative_inverse = cuda::negative_inverse(m);
    const auto times = [m](std::uint64_t a, std::uint64_t b) { return a * b % m; };
    const std::uint64_t radix = (std::uint64_t{1} << 32) % m;
    EXPECT_EQ(rns::inverse(0, channel), 0U);
    for (const std::uint32_t a : {1U, 2U, 3U, m - 1, m - 2, m / 2, 0x12345678U, 0x7000ffffU}) {
      EXPECT_EQ(times(rns::inverse(a, channel), a), times(radix, radix)) << a << " modulo " << m;
    }
  }
}

/// The largest T, and those at which a reduction changes.
TEST(RnsChannel, ReductionsAtTheEdges) {
  for (const unsigned j : {0U, 267U}) {
    const std::uint32_t m = rns::channel_of_a(j);
    rns::Channel channel;
    channel.modulus = m;
    channel.negative_inverse = cuda::negative_inverse(m);
    const std::uint64_t most = 0 - (std::uint64_t{m} << 32);
    for (const std::uint64_t t :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{m} << 32, std::uint64_t{0xffffffff},
          std::uint64_t{1} << 32, most, most - 1, std::uint64_t{m} * m * 2, (std::uint64_t{m} << 32) - 1}) {
      const cuda::Wide wide{static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(t >> 32)};
      const std::uint64_t v = rns::reduce(wide, channel);
      EXPECT_EQ((v % m * ((std::uint64_t{1} << 32) % m)) % m, t % m) << t;
      EXPECT_LE(v, (t >> 32) + m);
      if (v >= 2 * std::uint64_t{m}) continue;
      EXPECT_EQ(rns::corrected(static_cast<std::uint32_t>(v), channel), v % m);
    }
  }
}

}  // namespace
}  // namespace manymod::test

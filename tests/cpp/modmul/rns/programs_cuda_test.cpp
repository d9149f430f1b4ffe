// SPDX-License-Identifier: Apache-2.0
// The tensor-core kernels of residue number systems on the host (modmul/rns/*.cuda.hpp): the lanes of a warp
// run in lockstep, and matrix products are plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/program/programs.hpp"
#include "modexp/comb.hpp"
#include "modexp/windows.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/shapes.cuda.hpp"
#include "support/brief.hpp"
#include "support/device_steps.hpp"
#include "support/rns_run.hpp"

namespace manymod::test {
namespace {

/// The forms of rns::shape_form.
template <unsigned kBitsOfShape, unsigned kTileQuads, bool kOneInFlight = false, unsigned kStages = 0,
          bool kModuliInSharedMemory = false>
struct RnsShape {
  static constexpr unsigned kBits = kBitsOfShape, kWords = kBits / 32;
  static constexpr rns::Form kEach =
      rns::shape_form(kBits, kTileQuads, kOneInFlight, kStages, kModuliInSharedMemory);
  static constexpr rns::Form kShared = rns::with_one_modulus(kEach);
};

/// The forms of rns::compact_form.
template <unsigned kBitsOfShape, unsigned kTileQuads>
struct CompactShape {
  static constexpr unsigned kBits = kBitsOfShape, kWords = kBits / 32;
  static constexpr rns::Form kEach = rns::compact_form(kBits, kTileQuads);
  static constexpr rns::Form kShared = rns::with_one_modulus(kEach);
};

template <class Shape>
class RnsPrograms : public testing::Test {
 protected:
  static constexpr unsigned kBits = Shape::kBits, kWords = Shape::kWords;
  // More items than a warp has, and a last warp that is not full.
  static constexpr std::uint32_t kCount = kBits <= 512 ? 23 : 9;
  // Wide matrix products are slow on the host.
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

  /// A job and the memory that it points to. `operands`: those of the program, each with as many numbers as
  /// there are items, or with one.
  class Job {
   public:
    Job(const gpu::Program& program, const DeviceNumbers& moduli, bool shared,
        std::vector<DeviceNumbers> operands, std::uint32_t count)
        : shared_(shared),
          operands_(std::move(operands)),
          start_(starts(moduli, shared ? 1 : count)),
          constants_(constants(moduli[0], shared)),
          results_(std::size_t{count} * kWords),
          refused_(count, kUntouched) {
      job_.steps = program.steps.data();
      job_.step_count = static_cast<std::uint32_t>(program.steps.size());
      job_.count = count;
      job_.modulus = moduli.operand();
      job_.start = start_.operand();
      for (std::size_t o = 0; o < operands_.size(); ++o) job_.operands[o] = operands_[o].operand();
      job_.result = results_.data();
      job_.result_width = kWords;
      job_.scan = program.scan;
      job_.slots = program.slots;
      job_.constants = constants_.data();
      job_.refused = refused_.data();
    }

    void set_comb(RnsMemory& table) { job_.comb = table.words(); }
    /// Runs the job. @return the table
    RnsMemory run(std::uint32_t group = 1) const {
      return shared_ ? run_rns_warps<Shape::kShared>(job_, group) : run_rns_warps<Shape::kEach>(job_, group);
    }
    [[nodiscard]] Answer answer() const {
      Answer answer{{}, refused_};
      for (std::uint32_t i = 0; i < job_.count; ++i) {
        answer.results.emplace_back(results_.begin() + std::ptrdiff_t{i} * kWords,
                                    results_.begin() + std::ptrdiff_t{i + 1} * kWords);
      }
      return answer;
    }

   private:
    bool shared_;
    std::vector<DeviceNumbers> operands_;
    DeviceNumbers start_;
    std::vector<std::byte> constants_;
    Words results_;
    std::vector<std::uint8_t> refused_;
    gpu::ProgramJob job_;

    static std::vector<Words> starts(const DeviceNumbers& moduli, std::size_t count) {
      std::vector<Words> all;
      for (std::size_t i = 0; i < count; ++i) all.push_back(squared_radix_modulo(moduli[i]));
      return all;
    }
    static std::vector<std::byte> constants(const Words& n, bool shared) {
      if (!shared) return in_stream_order<Shape::kEach>(kBits, rns::base_constants(kBits));
      return in_stream_order<Shape::kShared>(kBits,
                                             rns::modulus_constants(kBits, naive::limbs(n, kWords / 2)));
    }
  };

  static Answer run(const gpu::Program& program, const DeviceNumbers& moduli, bool shared,
                    const std::vector<DeviceNumbers>& operands, std::uint32_t count) {
    const Job job(program, moduli, shared, operands, count);
    job.run();
    return job.answer();
  }

  /// Exponents with all bits set, with none, and others.
  static std::vector<Words> exponents(naive::Generator& generate, std::uint32_t bits) {
    std::vector<Words> all;
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint64_t draws[] = {0, ~std::uint64_t{0}, 1, generate.limb(), generate.limb()};
      all.push_back(word_number(draws[i % 5] >> (64 - bits), 2));
    }
    return all;
  }

  void expect_powers(const gpu::Program& program, bool shared_modulus, bool shared_exponent,
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

  void expect_combs(const CombShape& shape, bool shared_modulus) {
    naive::Generator generate(8);
    const auto bits = static_cast<std::uint32_t>(shape.teeth * shape.rows);
    const Words n = moduli(generate, 12).back();
    const DeviceNumbers base(numbers(generate, 1, kWords)), digits(exponents(generate, bits));
    const MontgomeryOracle oracle(n, 32);
    const gpu::Program make = gpu::comb_table_program(0, shape);
    RnsMemory comb = Job(make, DeviceNumbers({n}), shared_modulus, {base}, 1).run();
    for (const bool secret : {true, false}) {
      if (kWide && !shared_modulus && !secret) continue;
      const gpu::Program program = gpu::comb_power_program(shape, secret);
      const DeviceNumbers of_items(std::vector<Words>(shared_modulus ? 1 : kCount, n));
      Job job(program, of_items, shared_modulus, {digits}, kCount);
      job.set_comb(comb);
      job.run();
      const auto results = job.answer().results;
      for (std::size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(results[i], oracle.power(oracle.reduce(base[0]), digits[i])) << "item " << i;
      }
    }
  }
};

// Sanitizers multiply the time of each shape.
#if defined(MANYMOD_SANITIZED)
using RnsShapes =
    testing::Types<RnsShape<512, 5, false, 0, true>, RnsShape<512, 2, true, 3>, CompactShape<512, 2>,
                   RnsShape<4096, 6, true, 4>, RnsShape<6144, 2, true, 4>>;
#else
using RnsShapes =
    testing::Types<RnsShape<512, 5, false, 0, true>, RnsShape<512, 2, true, 3>, RnsShape<512, 2, false, 3>,
                   RnsShape<1024, 5, false, 0, true>, RnsShape<1024, 4>, RnsShape<1536, 7, true, 0, true>,
                   RnsShape<2048, 9>, RnsShape<3072, 9, true, 3>, RnsShape<4096, 6, true, 4>,
                   RnsShape<6144, 2, true, 4>, CompactShape<512, 2>, CompactShape<1536, 2>>;
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
  const auto answer = this->run(gpu::product_program(0, 1), n, false, {x, y}, this->kCount);
  for (std::size_t i = 0; i < this->kCount; ++i) {
    EXPECT_EQ(answer.results[i], MontgomeryOracle(n[i], 32).times(x[i], y[i])) << "item " << i;
    EXPECT_EQ(answer.refused[i], 0);
  }
}

TYPED_TEST(RnsPrograms, FixedWindowPowersInVariableTime) {
  naive::Generator generate(2);
  const std::uint32_t bits = this->kExponentBits;
  for (const bool shared_modulus : {true, false}) {
    this->expect_powers(gpu::fixed_window_program(0, bits, 3, false), shared_modulus, false,
                        this->exponents(generate, bits));
  }
}

/// In constant-time programs table elements are selected for several digits at a time, except for the widest
/// windows.
TYPED_TEST(RnsPrograms, FixedWindowPowersInConstantTime) {
  naive::Generator generate(6);
  for (std::uint32_t window = 1; window <= (this->kBits <= 512 ? 6U : 5U); ++window) {
    if (kBriefTests && window != 1 && window < 5) continue;
    // At one width so many digits that they need several selections.
    const std::uint32_t bits = this->kBits == 2048 && window == 1 ? 64 : this->kExponentBits;
    const gpu::Program program = gpu::fixed_window_program(0, bits, window, true);
    for (const bool shared_modulus : {true, false}) {
      if (this->kWide && shared_modulus != (window % 2 == 0)) continue;
      this->expect_powers(program, shared_modulus, false, this->exponents(generate, bits));
    }
  }
}

/// The first selection of a warp is for a number of digits that depends on its group.
TYPED_TEST(RnsPrograms, StaggeredGroups) {
  naive::Generator generate(7);
  const DeviceNumbers n(this->moduli(generate, this->kCount)),
      x(this->numbers(generate, this->kCount, this->kWords)), exponent({Words{5, 0}});
  const gpu::Program program = gpu::fixed_window_program(0, this->kWide ? 6 : 40, 2, true);
  const typename TestFixture::Job job(program, n, false, {x, exponent}, this->kCount);
  for (std::uint32_t group = 0; group < (this->kWide ? 3U : 6U); group += kBriefTests ? 2 : 1) {
    job.run(group);
    const auto results = job.answer().results;
    for (std::size_t i = 0; i < this->kCount; ++i) {
      const MontgomeryOracle oracle(n[i], 32);
      ASSERT_EQ(results[i], oracle.power(oracle.reduce(x[i]), exponent[i])) << "item " << i;
    }
  }
}

/// Items share the elements of a comb: tables with fewer elements than a warp's thread quads read at a time,
/// with as many, and with more than one Selection can choose from.
TYPED_TEST(RnsPrograms, Combs) {
  std::vector<CombShape> shapes{{.teeth = 3, .blocks = 2, .rows = 7, .columns = 4}};
  if (this->kWide) shapes[0].rows = 3, shapes[0].columns = 2;
  if (!this->kWide && !kBriefTests) shapes.push_back({.teeth = 1, .blocks = 1, .rows = 3, .columns = 3});
  if (this->kBits <= 512) shapes.push_back({.teeth = 6, .blocks = 1, .rows = 2, .columns = 2});
  for (const CombShape& shape : shapes) {
    for (const bool shared : {true, false}) this->expect_combs(shape, shared);
  }
}

/// Several tables, and digits that select relative to the beginning of each.
TYPED_TEST(RnsPrograms, ProductsOfPowers) {
  naive::Generator generate(9);
  constexpr std::uint32_t kTerms = 2;
  const std::uint32_t bits = this->kWide ? 4 : 20;
  gpu::Program program = gpu::interleaved_windows_program(0, kTerms, bits, 2);
  std::vector<DeviceNumbers> operands;
  for (std::uint32_t t = 0; t < kTerms; ++t) {
    operands.emplace_back(this->numbers(generate, this->kCount, this->kWords));
  }
  for (std::uint32_t t = 0; t < kTerms; ++t) operands.emplace_back(this->exponents(generate, bits));
  for (const bool scan : {false, true}) {
    program.scan = scan;
    for (const bool shared : {true, false}) {
      if (this->kWide && shared != scan) continue;
      const DeviceNumbers n(this->moduli(generate, shared ? 1 : this->kCount));
      const auto answer = this->run(program, n, shared, operands, this->kCount);
      for (std::size_t i = 0; i < this->kCount; ++i) {
        const MontgomeryOracle oracle(n[i], 32);
        Words expected = oracle.reduce(word_number(1, 1));
        for (std::uint32_t t = 0; t < kTerms; ++t) {
          const Words power = oracle.power(oracle.reduce(operands[t][i]), operands[kTerms + t][i]);
          expected = oracle.times(expected, power);
        }
        ASSERT_EQ(answer.results[i], expected) << "item " << i;
      }
    }
  }
}

TYPED_TEST(RnsPrograms, SlidingWindowPowers) {
  const Words exponent{this->kWide ? 0x1c3 : 0xf0e1d2c3, this->kWide ? 0 : 0x10001U};
  const auto limbs = naive::limbs(exponent, 1);
  const gpu::Program program = gpu::sliding_window_program(0, best_sliding_schedule(limbs));
  this->expect_powers(program, true, true, {exponent});
  this->expect_powers(program, false, true, {exponent});
}

/// Many consecutive squarings, whose results have no rank correction, so that every residue takes many
/// values, and a last multiplication: x^(2^k).
TYPED_TEST(RnsPrograms, RepeatedSquares) {
  gpu::Program program;
  const std::uint32_t count = this->kWide ? 20 : this->kBits <= 512 ? 150 : 50;
  program.steps = {program::load(gpu::Source::start),
                   program::after_squarings(program::multiply(gpu::Source::operand, 0), 0),
                   program::after_squarings(program::multiply(gpu::Source::one), count)};
  const Words exponent = power_of_two(count, count / 32 + 1);
  for (const bool shared_modulus : {true, false})
    this->expect_powers(program, shared_modulus, true, {exponent});
}

/// An item whose modulus is not prime to M_B is reported as refused; the other items of the thread quad and
/// of the warp have correct results.
TYPED_TEST(RnsPrograms, ModuliThatAreNotPrimeToTheBase) {
  naive::Generator generate(5);
  std::vector<Words> n = this->moduli(generate, this->kCount);
  std::vector<std::uint8_t> bad(this->kCount, 0);
  for (const unsigned j : {0U, 5U, rns::sizes_of(this->kBits).channels - 1}) {
    const std::size_t i = (j * 3 + 1) % this->kCount;
    Words half = edge_words(generate, this->kWords - 1);
    half[0] |= 1;
    n[i] = sized(naive::multiply(half, {rns::channel_of_b(j)}), this->kWords);
    bad[i] = 1;
  }
  const DeviceNumbers moduli(n), x(this->numbers(generate, this->kCount, this->kWords)),
      one({word_number(1, this->kWords)});
  const auto answer = this->run(gpu::product_program(0, 1), moduli, false, {x, one}, this->kCount);
  EXPECT_EQ(answer.refused, bad);
  for (std::size_t i = 0; i < this->kCount; ++i) {
    if (bad[i] != 0) continue;
    EXPECT_EQ(answer.results[i], MontgomeryOracle(n[i], 32).reduce(x[i])) << "item " << i;
  }
}

/// The chunks of each thread's records and its words of split channel quads are disjoint from all others, and
/// together they are the whole table.
template <rns::RecordShape kShape>
void expect_records_of_warps() {
  using Records = rns::Records<kShape>;
  constexpr std::uint32_t kWarps = 3, kSlots = 4, kLanes = 32, kChunkWords = rns::Record::kChunkWords;
  std::vector<std::uint32_t> table(std::size_t{kWarps} * kSlots * 2 * Records::kWords, 0);
  const auto take = [](std::uint32_t* words, unsigned count, std::uint32_t owner) {
    for (unsigned i = 0; i < count; ++i) {
      ASSERT_EQ(words[i], 0U) << "of another record";
      words[i] = owner;
    }
  };
  for (std::uint32_t i = 0; i < kWarps * kSlots * 2 * kLanes; ++i) {
    const std::uint32_t lane = i % kLanes, half = i / kLanes % 2, slot = i / kLanes / 2 % kSlots;
    const auto records = Records::of_warp(table.data(), i / kLanes / 2 / kSlots, kSlots, lane);
    const rns::Record record = records.at(slot, half);
    EXPECT_EQ(record.at_lane_offset(-static_cast<int>(lane)).words + std::size_t{lane} * kChunkWords,
              record.words);
    const rns::RecordPair pair = records.pair(slot);
    EXPECT_EQ(pair[half].words, record.words);
    for (std::uint32_t chunk = 0; chunk < kShape.whole / kChunkWords; ++chunk)
      take(record.at(chunk), kChunkWords, i + 1);
    if (rns::split_instance(lane) != half) continue;
    EXPECT_EQ(pair.split_quad, records.split_quad(slot, half));
    take(pair.split_quad, kShape.split_quad / 2, i + 1);
  }
  EXPECT_EQ(std::count(table.begin(), table.end(), 0U), 0);
}

TEST(RnsRecords, OfWarpsThatRunAtOnce) {
  expect_records_of_warps<rns::record_shape({40, 1}, 2)>();
  expect_records_of_warps<rns::record_shape({34, 1}, 2)>();
  expect_records_of_warps<rns::record_shape({18, 1}, 2)>();
}

}  // namespace
}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// The kernels that determine properties of integers in device memory and copy rows of them, item by item on
// the host, and in the pieces into which large batches are cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "exec/bucketing.hpp"
#include "exec/recording_engine.hpp"
#include "gpu/buffer.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/engine/resident.hpp"
#include "gpu/engine/resident_engine.hpp"
#include "gpu/kernels/facts.cuda.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "support/fake_cuda/fixture.hpp"

namespace manymod::testing {
namespace {

constexpr std::uint64_t kTop = std::uint64_t{1} << 63;

// Of three limbs each.
const std::vector<std::vector<std::uint64_t>> kIntegers{{0, 0, 0}, {1, 0, 0}, {2, 0, 0},     {3, 0, 0},
                                                        {0, 1, 0}, {1, 1, 0}, {1, 0, 1},     {0, 0, 1},
                                                        {5, 0, 7}, {5, 0, 8}, {~0ull, 0, 4}, {1, kTop, 0}};

TEST(ResidentFacts, AreThoseOfTheHost) {
  for (const bool secret : {false, true}) {
    for (const std::size_t modulus_bits : {1u, 63u, 64u, 65u, 127u, 128u, 130u, 131u, 192u, 16384u}) {
      for (const std::vector<std::uint64_t>& integer : kIntegers) {
        ModulusFact found;
        std::uint32_t different = 0;
        gpu::ModulusFactsJob job;
        job.moduli = job.first = {integer.data(), 3, 3};
        job.count = 1;
        job.secret = secret;
        job.modulus_bits = modulus_bits;
        job.facts = &found;
        job.different = &different;
        gpu::find_modulus_fact(job, 0);
        const std::size_t size = limbs::normalized_size_var(integer);
        EXPECT_EQ(found.limbs, size);
        EXPECT_EQ(found.odd, integer[0] & 1);
        EXPECT_EQ(found.modulus_class, classify_modulus({integer.data(), size}, modulus_bits,
                                                        secret ? TimingClass::secret : TimingClass::public_));
        EXPECT_EQ(different, 0u);
      }
    }
  }
}

TEST(ResidentFacts, BitsOfExponents) {
  for (const std::vector<std::uint64_t>& integer : kIntegers) {
    std::uint32_t bits = 77;
    gpu::find_exponent_bits({{integer.data(), 3, 3}, 1, &bits}, 0);
    EXPECT_EQ(bits, limbs::bit_length_var(integer));
  }
}

TEST(ResidentRows, GatheredScatteredAndPadded) {
  std::vector<std::uint64_t> from(60), to(80, 9);
  std::iota(from.begin(), from.end(), std::uint64_t{100});
  const std::vector<std::uint64_t> picked{4, 0, 3}, put{1, 3, 0};
  gpu::RowsJob job;
  job.from = {from.data(), 5, picked.data()};
  job.to = {to.data(), 7, put.data()};
  job.from_width = 2;
  job.to_width = 4;
  job.terms = 2;
  job.count = 6 * job.to_width;  // two rows of each of three items
  for (std::uint32_t element = 0; element < job.count; ++element) gpu::copy_limb(job, element);
  std::vector<std::uint64_t> expected(80, 9);
  for (std::size_t item = 0; item < 3; ++item) {
    for (std::size_t term = 0; term < 2; ++term) {
      const std::size_t source = (picked[item] * 2 + term) * 5, target = (put[item] * 2 + term) * 7;
      expected[target] = from[source];
      expected[target + 1] = from[source + 1];
      expected[target + 2] = expected[target + 3] = 0;
    }
  }
  EXPECT_EQ(to, expected);
}

class ResidentArraysTest : public FakeGpuTest {
 protected:
  // More integers than one launch processes.
  static constexpr std::size_t kMany = (std::size_t{1} << 22) + 1000;

  static gpu::DeviceBuffer on_device(const std::vector<std::uint64_t>& limbs) {
    cuda::Device& gpu = cuda::device(0);
    gpu::DeviceBuffer there(gpu, limbs.size() * sizeof(Limb));
    const cuda::Stream stream(gpu);
    stream.copy_to_device(there.data(), limbs.data(), there.bytes());
    stream.synchronize();
    return there;
  }

  // The facts of a call: products, or powers if there are exponents.
  static DeviceFacts facts_of(const std::vector<std::uint64_t>& moduli, std::size_t modulus_bits,
                              const std::vector<std::uint64_t>* exponents = nullptr) {
    const gpu::DeviceBuffer n = on_device(moduli);
    gpu::DeviceBuffer y;
    Job job;
    job.op = Operation::mulmod;
    job.modulus = {n.as<Limb>(), moduli.size(), 1, 1, nullptr, true};
    if (exponents != nullptr) {
      y = on_device(*exponents);
      job.op = Operation::powmod;
      job.y = {y.as<Limb>(), exponents->size(), 1, 1, nullptr, true};
    }
    return gpu::ResidentArrays(cuda::device(0), false).facts(job, modulus_bits);
  }
};

TEST_F(ResidentArraysTest, ModuliWithEqualProperties) {
  const DeviceFacts facts = facts_of(std::vector<std::uint64_t>(kMany, 15), 64);
  ASSERT_TRUE(facts.all_moduli.has_value());
  EXPECT_TRUE(facts.moduli.empty());
  EXPECT_EQ(facts.modulus(kMany - 1).limbs, 1u);
  EXPECT_EQ(facts.modulus(7).odd, 1u);
  EXPECT_EQ(facts.modulus(7).modulus_class, ModulusClass::compute);
}

TEST_F(ResidentArraysTest, OneModulusWithOtherProperties) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{5}, kMany - 1}) {
    std::vector<std::uint64_t> moduli(kMany, 15);
    moduli[place] = 16;
    const DeviceFacts facts = facts_of(moduli, 4);
    ASSERT_FALSE(facts.all_moduli.has_value()) << place;
    for (const std::size_t i : {std::size_t{0}, std::size_t{4}, std::size_t{5}, kMany - 2, kMany - 1}) {
      const ModulusClass expected = i == place ? ModulusClass::too_wide : ModulusClass::compute;
      EXPECT_EQ(facts.modulus(i).modulus_class, expected) << place << ", item " << i;
      EXPECT_EQ(facts.modulus(i).odd, i == place ? 0u : 1u) << place << ", item " << i;
    }
  }
}

// Individual lengths are copied to the host only if they are needed.
TEST_F(ResidentArraysTest, LengthsOfExponents) {
  constexpr std::size_t kCount = (std::size_t{1} << 17) + 5;  // several for each thread
  std::vector<std::uint64_t> exponents(kCount, kTop >> 3);
  exponents[kCount - 1] = kTop;
  exponents[7] = 1;
  std::vector<std::uint64_t> moduli(kCount, 15);
  const std::uint64_t total = (kCount - 2) * std::uint64_t{61} + 64 + 1;
  for (const bool different_lengths : {false, true}) {
    if (different_lengths) std::fill_n(exponents.begin() + 100, kCount / 2, 0);
    for (const bool several : {false, true}) {
      moduli[3] = several ? 16 : 15;
      const DeviceFacts facts = facts_of(moduli, 64, &exponents);
      EXPECT_EQ(facts.exponents.shortest, different_lengths ? 0u : 1u);
      EXPECT_EQ(facts.exponents.longest, 64u);
      EXPECT_EQ(facts.exponents.total, different_lengths ? total - kCount / 2 * 61 : total);
      EXPECT_EQ(facts.exponents.nearly_equal(kCount), !different_lengths);
      ASSERT_EQ(facts.exponent_bits.size(), different_lengths || several ? kCount : 0);
      for (const std::size_t i : {std::size_t{7}, kCount - 2}) {
        EXPECT_EQ(facts.exponent_length(i),
                  different_lengths || several ? limbs::bit_length_var({&exponents[i], 1}) : std::size_t{64});
      }
    }
  }
}

// 40 integers of 1 MiB are not copied at once, although the engine's granularity is 64.
TEST_F(ResidentArraysTest, WideItemsComeInPiecesOfLessThanAGranule) {
  constexpr std::size_t kCount = 40, kWidth = std::size_t{1} << 17;
  const gpu::DeviceBuffer x = on_device(std::vector<std::uint64_t>(kCount * kWidth, 3));
  const gpu::ResidentArrays arrays(cuda::device(0), false);
  auto recorder = std::make_unique<RecordingEngine>();
  const RecordingEngine& recorded = *recorder;
  recorder->granularity = 64;
  const std::unique_ptr<Engine> engine = gpu::through_host(std::move(recorder), arrays);
  const Limb modulus = 15;
  std::vector<Limb> results(kCount, 9);
  std::vector<ItemStatus> statuses(kCount, ItemStatus::not_computed);
  Job job;
  job.op = Operation::sqrmod;
  job.x = {x.as<Limb>(), kCount, kWidth, kWidth, nullptr, true};
  job.modulus = {&modulus, 1, 1, 1, nullptr};
  job.result = {results.data(), kCount, 1, 1, nullptr};
  job.status = statuses.data();
  engine->run(job, Items::run(0, kCount), 1);
  EXPECT_EQ(statuses, std::vector<ItemStatus>(kCount, ItemStatus::ok));
  EXPECT_EQ(recorded.items_run(), kCount);
  for (const RecordingEngine::Call& call : recorded.calls()) EXPECT_LE(call.items.size(), 32u);
}

TEST_F(ResidentArraysTest, RowsOfListedItemsToTheHostAndBack) {
  cuda::Device& gpu = cuda::device(0);
  const gpu::ResidentArrays arrays(gpu, true);
  std::vector<std::uint64_t> table(4000);
  std::iota(table.begin(), table.end(), std::uint64_t{1});
  const gpu::DeviceBuffer there(gpu, table.size() * sizeof(Limb));
  const cuda::Stream stream(gpu);
  stream.copy_to_device(there.data(), table.data(), there.bytes());
  stream.synchronize();
  const std::vector<std::size_t> items{3, 999, 0, 500};
  const limbs::Buffer rows = arrays.rows({there.as<Limb>(), 1000, 3, 4, nullptr, true}, items, 1, 3);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(rows.data()[3 * i + j], 4 * items[i] + j + 1);
  }
  const BatchResult result{there.as<Limb>() + 1, 1000, 3, 4, nullptr, true};
  const std::vector<std::size_t> others{998, 1, 2, 700};
  limbs::Buffer packed(8);
  for (std::size_t i = 0; i < 8; ++i) packed.data()[i] = 7000 + i;
  arrays.store(result, others, packed, 2);
  arrays.zero(result, items);
  std::vector<std::uint64_t> after(table.size());
  stream.copy_to_host(after.data(), there.data(), there.bytes());
  stream.synchronize();
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      table[4 * others[i] + 1 + j] = j < 2 ? 7000 + 2 * i + j : 0;
      table[4 * items[i] + 1 + j] = 0;
    }
  }
  EXPECT_EQ(after, table);
}

}  // namespace
}  // namespace manymod::testing

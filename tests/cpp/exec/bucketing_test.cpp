// SPDX-License-Identifier: Apache-2.0
#include "exec/bucketing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "exec/batch.hpp"
#include "exec/chunking.hpp"
#include "recording_engine.hpp"

namespace manymod::testing {
namespace {

// A job over moduli of given limb counts (top limb 3), with exponents of given bit lengths.
struct Batch {
  Batch(const std::vector<std::size_t>& limb_counts, const std::vector<std::size_t>& exponent_lengths = {}) {
    count = limb_counts.size();
    width = 1 + (count == 0 ? 0 : *std::max_element(limb_counts.begin(), limb_counts.end()));
    moduli.assign(count * width, 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (limb_counts[i] > 0) moduli[i * width] = 5, moduli[i * width + limb_counts[i] - 1] = 3;
    }
    results.assign(count * width, 9);
    statuses.assign(count, ItemStatus::not_invertible);
    job.op = exponent_lengths.empty() ? Operation::sqrmod : Operation::powmod;
    job.modulus = {moduli.data(), count, width, width, nullptr};
    job.result = {results.data(), count, width, width, nullptr};
    job.status = statuses.data();
    exponents.assign(exponent_lengths.size() * kExponentWidth, 0);
    for (std::size_t i = 0; i < exponent_lengths.size(); ++i) {
      if (exponent_lengths[i] == 0) continue;
      const std::size_t top = exponent_lengths[i] - 1;
      exponents[i * kExponentWidth + top / 64] = Limb{1} << (top % 64);
    }
    job.y = {exponents.data(), exponent_lengths.size(), kExponentWidth, kExponentWidth, nullptr};
  }

  static constexpr std::size_t kExponentWidth = 64;
  std::size_t count = 0;
  std::size_t width = 0;
  std::vector<Limb> moduli, results, exponents;
  std::vector<ItemStatus> statuses;
  Job job;
};

std::vector<std::size_t> items_of(const Bucket& bucket) { return {bucket.items.begin(), bucket.items.end()}; }

TEST(Bucketing, RefusedItemsAreTakenOut) {
  Batch batch({1, 1, 1, 1, 1});
  const std::vector<std::size_t> some{0, 3}, all{0, 1, 2, 3, 4};
  BucketedBatch buckets = bucket_shared(batch.job, ModulusClass::compute, 1);
  take_out(batch.job, {}, ItemStatus::exponent_too_wide, buckets);
  EXPECT_EQ(buckets.finished, 0u);
  EXPECT_EQ(items_of(buckets.buckets[0]), all);
  take_out(batch.job, some, ItemStatus::exponent_too_wide, buckets);
  EXPECT_EQ(buckets.finished, 2u);
  EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{1, 2, 4}));
  EXPECT_EQ(batch.statuses[0], ItemStatus::exponent_too_wide);
  EXPECT_EQ(batch.statuses[1], ItemStatus::not_computed);
  buckets = bucket_shared(batch.job, ModulusClass::compute, 1);
  take_out(batch.job, all, ItemStatus::exponent_too_wide, buckets);
  EXPECT_EQ(buckets.finished, 5u);
  EXPECT_TRUE(buckets.buckets.empty());
}

TEST(Bucketing, ByLimbCountWithTheOrderKept) {
  Batch batch({2, 5, 2, 1, 5, 2});
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  ASSERT_EQ(buckets.buckets.size(), 3u);
  EXPECT_EQ(buckets.finished, 0u);
  EXPECT_EQ(buckets.buckets[0].limbs, 5u);
  EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(items_of(buckets.buckets[1]), (std::vector<std::size_t>{0, 2, 5}));
  EXPECT_EQ(items_of(buckets.buckets[2]), (std::vector<std::size_t>{3}));
  for (const ItemStatus status : batch.statuses) EXPECT_EQ(status, ItemStatus::not_computed);
}

TEST(Bucketing, BadAndTrivialModuliNeedNoEngine) {
  Batch batch({1, 0, 1, 3, 2, 1});
  batch.moduli[2 * batch.width] = 1;
  batch.moduli[5 * batch.width] = 4;
  batch.job.timing = TimingClass::secret;
  const BucketedBatch buckets = bucket_each(batch.job, 128);
  EXPECT_EQ(batch.statuses, (std::vector<ItemStatus>{ItemStatus::not_computed, ItemStatus::zero_modulus,
                                                     ItemStatus::ok, ItemStatus::modulus_too_wide,
                                                     ItemStatus::not_computed, ItemStatus::even_modulus}));
  EXPECT_EQ(buckets.finished, 4u);
  ASSERT_EQ(buckets.buckets.size(), 2u);
  EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{4}));
  EXPECT_EQ(items_of(buckets.buckets[1]), (std::vector<std::size_t>{0}));
  EXPECT_EQ(batch.results[2 * batch.width], 0u);  // modulus 1
}

TEST(Bucketing, ModulusClasses) {
  const auto classify = [](std::vector<Limb> modulus, std::size_t bits,
                           TimingClass timing = TimingClass::public_) {
    return classify_modulus(modulus, bits, timing);
  };
  EXPECT_EQ(classify({}, 64), ModulusClass::zero);
  EXPECT_EQ(classify({1}, 64), ModulusClass::unit);
  EXPECT_EQ(classify({1}, 1, TimingClass::secret), ModulusClass::unit);
  EXPECT_EQ(classify({2}, 1), ModulusClass::too_wide);
  EXPECT_EQ(classify({2}, 2), ModulusClass::compute);
  EXPECT_EQ(classify({2}, 2, TimingClass::secret), ModulusClass::even);
  EXPECT_EQ(classify({~Limb{0}}, 64), ModulusClass::compute);
  EXPECT_EQ(classify({1, 1}, 64), ModulusClass::too_wide);
  EXPECT_EQ(classify({1, 1}, 65), ModulusClass::compute);
  EXPECT_EQ(classify({1, 2}, 65), ModulusClass::too_wide);
  EXPECT_EQ(classify(std::vector<Limb>(256, ~Limb{0}), kMaxModulusBits), ModulusClass::compute);
  EXPECT_EQ(classify(std::vector<Limb>(257, 1), kMaxModulusBits), ModulusClass::too_wide);
}

TEST(Bucketing, SharedModulusIsOneBucketInOrder) {
  Batch batch({3, 3, 3, 3});
  const BucketedBatch buckets = bucket_shared(batch.job, ModulusClass::compute, 3);
  ASSERT_EQ(buckets.buckets.size(), 1u);
  EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{0, 1, 2, 3}));
  const BucketedBatch none = bucket_shared(batch.job, ModulusClass::zero, 0);
  EXPECT_TRUE(none.buckets.empty());
  EXPECT_EQ(none.finished, 4u);
  for (const ItemStatus status : batch.statuses) EXPECT_EQ(status, ItemStatus::zero_modulus);
}

TEST(Bucketing, OneBucketWithAllItemsNeedsNoList) {
  Batch similar({2, 2, 2}, {2046, 2048, 2047});
  for (const BucketedBatch& buckets :
       {bucket_each(similar.job, kMaxModulusBits), bucket_shared(similar.job, ModulusClass::compute, 2)}) {
    ASSERT_EQ(buckets.buckets.size(), 1u);
    EXPECT_TRUE(buckets.buckets[0].items.is_run());
    EXPECT_EQ(buckets.item_storage, nullptr);
  }
  Batch with_zero_modulus({2, 0, 2});
  EXPECT_EQ(items_of(bucket_each(with_zero_modulus.job, kMaxModulusBits).buckets[0]),
            (std::vector<std::size_t>{0, 2}));
  Batch different({2, 2, 2}, {17, 2048, 40});
  for (const BucketedBatch& buckets : {bucket_each(different.job, kMaxModulusBits),
                                       bucket_shared(different.job, ModulusClass::compute, 2)}) {
    EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{1, 2, 0}));
  }
}

TEST(Bucketing, ExponentsOfDifferentLengthsAreOrderedLongestFirst) {
  Batch batch({2, 2, 1, 2, 2, 1}, {17, 2048, 40, 0, 17, 4096});
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  ASSERT_EQ(buckets.buckets.size(), 2u);
  EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{1, 0, 4, 3}));
  EXPECT_EQ(std::vector<std::uint32_t>(buckets.buckets[0].exponent_bits.begin(),
                                       buckets.buckets[0].exponent_bits.end()),
            (std::vector<std::uint32_t>{2048, 17, 17, 0}));
  EXPECT_EQ(items_of(buckets.buckets[1]), (std::vector<std::size_t>{5, 2}));
}

TEST(Bucketing, SimilarSecretOrSharedExponentsKeepTheOrder) {
  Batch similar({1, 1, 1}, {2046, 2048, 2047});
  EXPECT_EQ(items_of(bucket_each(similar.job, 64).buckets[0]), (std::vector<std::size_t>{0, 1, 2}));
  Batch secret({1, 1, 1}, {17, 2048, 40});
  secret.job.timing = TimingClass::secret;
  const BucketedBatch buckets = bucket_each(secret.job, 64);
  EXPECT_EQ(items_of(buckets.buckets[0]), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_TRUE(buckets.buckets[0].exponent_bits.empty());
  Batch one({1, 1, 1}, {17});
  EXPECT_EQ(items_of(bucket_each(one.job, 64).buckets[0]), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Bucketing, AllOddBucketsAreMarked) {
  Batch batch({2, 1, 2, 3, 3});
  batch.moduli[2 * batch.width] = 4;
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  ASSERT_EQ(buckets.buckets.size(), 3u);
  EXPECT_TRUE(buckets.buckets[0].all_odd);
  EXPECT_FALSE(buckets.buckets[1].all_odd);
  EXPECT_TRUE(buckets.buckets[2].all_odd);
  batch.job.timing = TimingClass::secret;  // the item with the even modulus is in no bucket
  for (const Bucket& bucket : bucket_each(batch.job, kMaxModulusBits).buckets) EXPECT_TRUE(bucket.all_odd);
}

void expect_same(const BucketedBatch& batch, const BucketedBatch& other) {
  EXPECT_EQ(batch.finished, other.finished);
  ASSERT_EQ(batch.buckets.size(), other.buckets.size());
  for (std::size_t b = 0; b < batch.buckets.size(); ++b) {
    const Bucket& bucket = batch.buckets[b];
    const Bucket& expected = other.buckets[b];
    EXPECT_EQ(bucket.limbs, expected.limbs);
    EXPECT_EQ(bucket.all_odd, expected.all_odd);
    EXPECT_EQ(bucket.exponent_limbs, expected.exponent_limbs);
    EXPECT_TRUE(std::ranges::equal(bucket.items, expected.items));
    EXPECT_TRUE(std::ranges::equal(bucket.exponent_bits, expected.exponent_bits));
  }
}

// Enough items for several blocks with any number of threads.
constexpr std::size_t kManyItems = 150'001;

std::vector<std::size_t> repeated(const std::vector<std::size_t>& pattern) {
  std::vector<std::size_t> values(kManyItems);
  for (std::size_t i = 0; i < kManyItems; ++i) values[i] = pattern[i % pattern.size()];
  return values;
}

TEST(Bucketing, LargeBatchesComeOutTheSameOnAnyNumberOfThreads) {
  Batch batch(repeated({2, 0, 1, 1, 2}), repeated({17, 0, 700, 40, 4096, 1, 90}));
  for (std::size_t i = 1000; i < kManyItems; i += 1001) batch.moduli[i * batch.width] = 6;
  for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
    batch.job.timing = timing;
    const BucketedBatch one = bucket_each(batch.job, kMaxModulusBits, 1);
    const std::vector<ItemStatus> statuses = batch.statuses;
    ASSERT_EQ(one.buckets.size(), 2u);
    EXPECT_EQ(one.buckets[0].items.size() + one.buckets[1].items.size() + one.finished, kManyItems);
    for (const unsigned threads : {0u, 2u, 5u}) {
      expect_same(bucket_each(batch.job, kMaxModulusBits, threads), one);
      EXPECT_EQ(batch.statuses, statuses);
    }
  }
}

TEST(Bucketing, LargeBatchesOfOneKindKeepTheirOrder) {
  const Batch batch(repeated({1}), repeated({4096}));
  std::vector<std::size_t> all(kManyItems);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const unsigned threads : {1u, 3u}) {
    EXPECT_EQ(items_of(bucket_each(batch.job, 64, threads).buckets[0]), all);
    EXPECT_EQ(items_of(bucket_shared(batch.job, ModulusClass::compute, 1, threads).buckets[0]), all);
  }
}

TEST(Bucketing, PowersOfOneModulusAreOrderedOnAnyNumberOfThreads) {
  const Batch batch(repeated({1}), repeated({17, 4096, 40}));
  const BucketedBatch one = bucket_shared(batch.job, ModulusClass::compute, 1, 1);
  EXPECT_EQ(one.buckets[0].exponent_bits.front(), 4096u);
  EXPECT_EQ(one.buckets[0].exponent_bits.back(), 17u);
  EXPECT_EQ(one.buckets[0].exponent_limbs, 64u);
  expect_same(bucket_shared(batch.job, ModulusClass::compute, 1, 4), one);
}

std::vector<WorkPart> parts_of(std::unique_ptr<RecordingEngine> engine, const Job& job,
                               std::span<const Bucket> buckets) {
  const EngineSet engines = only(std::move(engine));
  std::vector<WorkPart> parts;
  for (const Bucket& bucket : buckets) parts.push_back(work_part(engines[0], job, bucket));
  return parts;
}

// Checks that every item is in exactly one chunk.
void expect_partition(const BucketedBatch& batch, const std::vector<Chunk>& chunks) {
  std::vector<std::size_t> reached(batch.buckets.size(), 0);
  for (const Chunk& chunk : chunks) {
    EXPECT_EQ(chunk.begin, reached[chunk.part]);
    EXPECT_LT(chunk.begin, chunk.end);
    reached[chunk.part] = chunk.end;
  }
  for (std::size_t b = 0; b < batch.buckets.size(); ++b) EXPECT_EQ(reached[b], batch.buckets[b].items.size());
}

TEST(Chunking, ManyChunksPerThreadWithSmallOnesLast) {
  Batch batch(std::vector<std::size_t>(1000, 2));
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  auto engine = std::make_unique<RecordingEngine>();
  engine->cost_ns_per_limb = 1e5;
  const auto parts = parts_of(std::move(engine), batch.job, buckets.buckets);
  for (const unsigned threads : {1u, 2u, 8u}) {
    const std::vector<Chunk> chunks = cut_chunks(parts, threads);
    expect_partition(buckets, chunks);
    EXPECT_GE(chunks.size(), 8u * threads);
    EXPECT_LE((chunks.back().end - chunks.back().begin) * threads * 32, 1000u);
  }
}

TEST(Chunking, GranulesStayTogether) {
  Batch batch(std::vector<std::size_t>(1003, 2));
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  auto engine = std::make_unique<RecordingEngine>();
  engine->cost_ns_per_limb = 1e5;
  engine->granularity = 8;
  const std::vector<Chunk> chunks = cut_chunks(parts_of(std::move(engine), batch.job, buckets.buckets), 2);
  expect_partition(buckets, chunks);
  for (const Chunk& chunk : chunks) EXPECT_EQ(chunk.begin % 8, 0u);
}

TEST(Chunking, ARestJoinsTheGranuleBeforeItWhereThatIsFaster) {
  WorkPart part = uniform_part(830, 1e6);
  part.granularity = 100;
  part.joins_rest = true;
  const std::vector<Chunk> chunks = cut_chunks(std::span(&part, 1), 3);
  ASSERT_GT(chunks.size(), 1u);
  for (const Chunk& chunk : chunks) EXPECT_EQ(chunk.begin % 100, 0u);
  EXPECT_EQ(chunks.back().end, 830u);
  EXPECT_GE(chunks.back().size(), 130u);
}

TEST(Chunking, FewCostlyItemsGetAChunkEach) {
  Batch batch({2, 2, 9, 2});
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  auto engine = std::make_unique<RecordingEngine>();
  engine->cost_ns_per_limb = 1e9;
  const std::vector<Chunk> chunks = cut_chunks(parts_of(std::move(engine), batch.job, buckets.buckets), 2);
  EXPECT_EQ(chunks.size(), 4u);
  EXPECT_EQ(buckets.buckets[chunks[0].part].limbs, 9u);  // the costly one first
}

// A tenth of the items have nearly all of the cost: they must not end up in the first chunk together.
TEST(Chunking, LongExponentsAreSpreadOverThreads) {
  std::vector<std::size_t> lengths(1000, 17);
  for (std::size_t i = 0; i < 1000; i += 10) lengths[i] = 4096;
  Batch batch(std::vector<std::size_t>(1000, 2), lengths);
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  auto engine = std::make_unique<RecordingEngine>();
  engine->cost_ns_per_limb = 1e6;
  const std::vector<Chunk> chunks = cut_chunks(parts_of(std::move(engine), batch.job, buckets.buckets), 2);
  expect_partition(buckets, chunks);
  EXPECT_LE(chunks[0].end, 15u);
}

TEST(Chunking, FreeItemsStillMakeChunks) {
  Batch batch(std::vector<std::size_t>(50, 2));
  const BucketedBatch buckets = bucket_each(batch.job, kMaxModulusBits);
  auto engine = std::make_unique<RecordingEngine>();
  engine->cost_ns_per_limb = 0;
  expect_partition(buckets, cut_chunks(parts_of(std::move(engine), batch.job, buckets.buckets), 2));
}

}  // namespace
}  // namespace manymod::testing

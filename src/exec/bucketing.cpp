// SPDX-License-Identifier: Apache-2.0
#include "exec/bucketing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "engine/device_facts.hpp"
#include "engine/store.hpp"
#include "exec/executor.hpp"
#include "repr/limbs.hpp"

namespace manymod {
namespace {

using Key = std::uint16_t;  // the number of limbs of the modulus; 0 for items that need no engine

// With smaller blocks, waking a thread would cost more than it saves: an item takes 5 to 20 ns.
constexpr std::size_t kItemsPerBlock = 16384;
// Several, so that the work is balanced when a thread starts late.
constexpr std::size_t kBlocksPerThread = 4;

// The batch in equal blocks of items, visited by several threads.
class Blocks {
 public:
  Blocks(std::size_t items, unsigned threads) : items_(items) {
    if (items < 2 * kItemsPerBlock || threads == 1) return;
    threads_ = threads == 0 ? default_threads() : threads;
    count_ = std::min(items / kItemsPerBlock, kBlocksPerThread * threads_);
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  /// visit(block, begin, end) for each block of items [begin, end).
  template <class Visit>
  void for_each(const Visit& visit) const {
    const WorkPart blocks = uniform_part(count_, kLongestChunkNs);  // each is a chunk of its own
    execute(std::span(&blocks, 1), {count_ > 1, threads_}, {}, [&](const Chunk& chunk, const StopToken&) {
      for (std::size_t block = chunk.begin; block < chunk.end; ++block) {
        visit(block, items_ * block / count_, items_ * (block + 1) / count_);
      }
    });
  }

 private:
  std::size_t items_;
  unsigned threads_ = 1;
  std::size_t count_ = 1;
};

// Properties of the items of one key.
struct KeyFacts {
  std::size_t count = 0;
  std::size_t even = 0;
  LengthRange exponents;

  void add(const KeyFacts& other) {
    count += other.count;
    even += other.even;
    exponents.add(other.exponents);
  }
};

// Store the result of an item that no engine computes. Failed items get theirs at the end of the call.
void finish_item(const Job& job, std::size_t item, ModulusClass modulus_class) {
  if (modulus_class == ModulusClass::unit && !job.result.on_device) store_zero(job.result, item);
}

bool may_look_at_exponents(const Job& job) {
  return job.op == Operation::powmod && job.timing == TimingClass::public_;
}

// The passes of bucket_each over the blocks of a batch.
class Sorter {
 public:
  Sorter(const Job& job, std::size_t modulus_bits, unsigned threads)
      : job_(job),
        modulus_bits_(modulus_bits),
        keys_in_use_(std::min(job.modulus.width, kMaxModulusLimbs) + 1),
        own_exponents_(may_look_at_exponents(job) && !job.y.broadcast()),
        blocks_(job.result.count, threads),
        facts_(blocks_.count(), std::vector<KeyFacts>(keys_in_use_)),
        keys_(std::make_unique_for_overwrite<Key[]>(job.result.count)) {}

  BucketedBatch sort() {
    blocks_.for_each(
        [&](std::size_t block, std::size_t begin, std::size_t end) { classify(begin, end, facts_[block]); });
    make_buckets();
    if (batch_.finished > 0 || batch_.buckets.size() > 1) scatter();
    return std::move(batch_);
  }

  /// The lengths of the exponents in each bucket.
  [[nodiscard]] const std::vector<LengthRange>& exponents() const { return exponents_; }

 private:
  // Each item is visited once. Only the top and low limbs of its modulus and the top limb of its exponent are
  // read, unless leading limbs are 0.
  void classify(std::size_t begin, std::size_t end, std::vector<KeyFacts>& facts) {
    const std::size_t width = job_.modulus.width;
    if (!own_exponents_ && !job_.modulus.on_device && width > 1 && width < keys_in_use_) {
      begin = classify_full_width(begin, end, facts[width]);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const ModulusFact modulus = modulus_fact(job_, i, modulus_bits_);
      const bool computed = modulus.modulus_class == ModulusClass::compute;
      job_.status[i] = initial_status(modulus.modulus_class);
      if (!computed) finish_item(job_, i, modulus.modulus_class);
      keys_[i] = computed ? modulus.limbs : Key{0};
      KeyFacts& of_key = facts[keys_[i]];
      ++of_key.count;
      of_key.even += modulus.odd ^ 1u;
      if (own_exponents_ && computed) of_key.exponents.add(exponent_bits(job_, i));
    }
  }

  // The same, faster, up to the first item whose modulus has a leading limb of 0 or is not to be computed.
  // @return that item. On input: no exponents to look at, width > 1.
  std::size_t classify_full_width(std::size_t begin, std::size_t end, KeyFacts& of_width) {
    const std::size_t width = job_.modulus.width;
    const bool secret = job_.timing == TimingClass::secret;
    std::size_t even = 0;
    std::size_t i = begin;
    for (; i < end; ++i) {
      const Limb* const modulus = job_.modulus.magnitude(i).data();
      const Limb top = modulus[width - 1];
      const ModulusFact fact = modulus_fact(width, modulus[0], top, modulus_bits_, secret);
      if (top == 0 || fact.modulus_class != ModulusClass::compute) break;
      even += fact.odd ^ 1u;
      keys_[i] = static_cast<Key>(width);
    }
    std::fill(job_.status + begin, job_.status + i, initial_status(ModulusClass::compute));
    of_width.count += i - begin;
    of_width.even += even;
    return i;
  }

  // The widest first. A single bucket with all items needs no list.
  void make_buckets() {
    std::size_t computed = 0;
    for (std::size_t key = keys_in_use_ - 1; key >= 1; --key) {
      KeyFacts all;
      for (const std::vector<KeyFacts>& facts : facts_) all.add(facts[key]);
      if (all.count == 0) continue;
      batch_.buckets.push_back({key, Items::run(0, all.count), job_.y.width, {}, all.even == 0});
      exponents_.push_back(all.exponents);
      computed += all.count;
    }
    batch_.finished = job_.result.count - computed;
  }

  // Stable counting sort by key: the counts of a block become its write positions.
  void scatter() {
    batch_.item_storage = std::make_unique_for_overwrite<std::size_t[]>(job_.result.count - batch_.finished);
    std::size_t* const items = batch_.item_storage.get();
    std::size_t place = 0;
    for (Bucket& bucket : batch_.buckets) {
      bucket.items = std::span<const std::size_t>(items + place, bucket.items.size());
      for (std::vector<KeyFacts>& facts : facts_) place += std::exchange(facts[bucket.limbs].count, place);
    }
    blocks_.for_each([&](std::size_t block, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (keys_[i] != 0) items[facts_[block][keys_[i]].count++] = i;
      }
    });
  }

  const Job& job_;
  std::size_t modulus_bits_;
  std::size_t keys_in_use_;
  bool own_exponents_;
  Blocks blocks_;
  std::vector<std::vector<KeyFacts>> facts_;  // by block, then by key
  std::unique_ptr<Key[]> keys_;
  BucketedBatch batch_;
  std::vector<LengthRange> exponents_;
};

// Stable counting sort by length, longest first, at a resolution of 1/1024 of the range of lengths.
void sort_by_length(std::span<std::size_t> items, std::span<std::uint32_t> lengths, std::uint32_t shortest,
                    std::uint32_t longest) {
  constexpr unsigned kClassBits = 10;
  const auto range_bits = static_cast<unsigned>(std::bit_width(longest - shortest));
  const unsigned shift = range_bits > kClassBits ? range_bits - kClassBits : 0;
  const auto length_class = [&](std::uint32_t length) { return (longest - length) >> shift; };
  std::array<std::size_t, (1u << kClassBits) + 1> next{};
  for (const std::uint32_t length : lengths) ++next[length_class(length) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<std::size_t> old_items(items.begin(), items.end());
  const std::vector<std::uint32_t> old_lengths(lengths.begin(), lengths.end());
  for (std::size_t i = 0; i < old_items.size(); ++i) {
    const std::size_t place = next[length_class(old_lengths[i])]++;
    items[place] = old_items[i];
    lengths[place] = old_lengths[i];
  }
}

// The bucket's items as a writable list. A bucket without a list holds the whole batch.
std::span<std::size_t> listed(BucketedBatch& batch, Bucket& bucket) {
  const std::size_t count = bucket.items.size();
  if (bucket.items.is_run()) {
    batch.item_storage = std::make_unique_for_overwrite<std::size_t[]>(count);
    std::iota(batch.item_storage.get(), batch.item_storage.get() + count, bucket.items.front());
    bucket.items = std::span<const std::size_t>(batch.item_storage.get(), count);
  }
  return {batch.item_storage.get() + (bucket.items.list().data() - batch.item_storage.get()), count};
}

void order_bucket(const Job& job, const LengthRange& range, unsigned threads, BucketedBatch& batch,
                  Bucket& bucket) {
  if (!batch.exponent_storage) {
    batch.exponent_storage = std::make_unique_for_overwrite<std::uint32_t[]>(job.result.count);
  }
  const std::span<std::size_t> items = listed(batch, bucket);
  const std::ptrdiff_t begin = items.data() - batch.item_storage.get();
  const std::span<std::uint32_t> lengths{batch.exponent_storage.get() + begin, items.size()};
  Blocks(items.size(), threads).for_each([&](std::size_t, std::size_t first, std::size_t last) {
    // The caller may have changed the exponents since the range was found, which sort_by_length relies on.
    for (std::size_t i = first; i < last; ++i) {
      lengths[i] = std::clamp(exponent_bits(job, items[i]), range.shortest, range.longest);
    }
  });
  sort_by_length(items, lengths, range.shortest, range.longest);
  bucket.exponent_bits = lengths;
}

// `ranges`: the lengths of the exponents in each bucket, if they may be read.
void order_by_exponent(const Job& job, std::span<const LengthRange> ranges, unsigned threads,
                       BucketedBatch& batch) {
  if (!may_look_at_exponents(job)) return;
  for (std::size_t b = 0; b < batch.buckets.size(); ++b) {
    Bucket& bucket = batch.buckets[b];
    const std::uint32_t longest = job.y.broadcast() ? exponent_bits(job, 0) : ranges[b].longest;
    bucket.exponent_limbs = std::max<std::size_t>(1, limbs_for_bits(longest));
    if (job.y.broadcast() || ranges[b].nearly_equal(bucket.items.size())) continue;
    order_bucket(job, ranges[b], threads, batch, bucket);
  }
}

// The lengths of all exponents of the batch.
LengthRange exponent_lengths(const Job& job, unsigned threads) {
  if (job.y.on_device) return job.facts->exponents;
  const Blocks blocks(job.result.count, threads);
  std::vector<LengthRange> ranges(blocks.count());
  blocks.for_each([&](std::size_t block, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ranges[block].add(exponent_bits(job, i));
  });
  LengthRange all;
  for (const LengthRange& range : ranges) all.add(range);
  return all;
}

}  // namespace

ModulusClass classify_modulus(std::span<const Limb> modulus, std::size_t modulus_bits, TimingClass timing) {
  const bool zero = modulus.empty();
  return modulus_fact(modulus.size(), zero ? 0 : modulus.front(), zero ? 0 : modulus.back(), modulus_bits,
                      timing == TimingClass::secret)
      .modulus_class;
}

ItemStatus initial_status(ModulusClass modulus_class) {
  switch (modulus_class) {
    case ModulusClass::zero:
      return ItemStatus::zero_modulus;
    case ModulusClass::unit:
      return ItemStatus::ok;
    case ModulusClass::too_wide:
      return ItemStatus::modulus_too_wide;
    case ModulusClass::even:
      return ItemStatus::even_modulus;
    case ModulusClass::compute:
      break;
  }
  return ItemStatus::not_computed;
}

BucketedBatch bucket_each(const Job& job, std::size_t modulus_bits, unsigned threads) {
  Sorter sorter(job, modulus_bits, threads);
  BucketedBatch batch = sorter.sort();
  order_by_exponent(job, sorter.exponents(), threads, batch);
  return batch;
}

BucketedBatch bucket_shared(const Job& job, ModulusClass modulus_class, std::size_t modulus_limbs,
                            unsigned threads) {
  const std::size_t count = job.result.count;
  std::fill(job.status, job.status + count, initial_status(modulus_class));
  BucketedBatch batch;
  if (modulus_class != ModulusClass::compute) {
    for (std::size_t i = 0; i < count; ++i) finish_item(job, i, modulus_class);
    batch.finished = count;
    return batch;
  }
  batch.buckets.push_back({modulus_limbs, Items::run(0, count), job.y.width, {}});
  LengthRange exponents;
  if (may_look_at_exponents(job) && !job.y.broadcast()) exponents = exponent_lengths(job, threads);
  order_by_exponent(job, {&exponents, 1}, threads, batch);
  return batch;
}

void take_out(const Job& job, std::span<const std::size_t> items, ItemStatus status, BucketedBatch& batch) {
  for (const std::size_t item : items) job.status[item] = status;
  if (items.empty() || batch.buckets.empty()) return;
  Bucket& bucket = batch.buckets.front();
  const std::span<std::size_t> list = listed(batch, bucket);
  const auto taken = [items](std::size_t item) { return std::ranges::binary_search(items, item); };
  bucket.items = std::span<const std::size_t>(list.begin(), std::remove_if(list.begin(), list.end(), taken));
  batch.finished += items.size();
  if (bucket.items.size() == 0) batch.buckets.clear();
}

}  // namespace manymod

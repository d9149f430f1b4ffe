// SPDX-License-Identifier: Apache-2.0
#include "dispatch/bucketing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>

#include "repr/limbs.hpp"
#include "repr/store.hpp"

namespace manymod {
namespace {

using Key = std::uint16_t;  // a limb count; 0 for items that no engine sees
using KeyCounts = std::array<std::size_t, kMaxModulusLimbs + 1>;

void settle(const Job& job, std::size_t item, ModulusClass modulus_class) {
  if (modulus_class == ModulusClass::unit) store_zero(job.result, item);
}

// Per item: its key, its first status, and the size of each bucket.
void classify_items(const Job& job, std::size_t modulus_bits, Key* keys, KeyCounts& counts) {
  const BatchView& modulus = job.modulus;
  const Limb* magnitude = modulus.limbs;
  for (std::size_t i = 0; i < job.result.count; ++i, magnitude += modulus.stride) {
    const std::size_t size = limbs::normalized_size_var({magnitude, modulus.width});
    const ModulusClass modulus_class = classify_modulus({magnitude, size}, modulus_bits, job.timing);
    job.status[i] = initial_status(modulus_class);
    if (modulus_class == ModulusClass::compute) {
      keys[i] = static_cast<Key>(size);
    } else {
      keys[i] = 0;
      settle(job, i, modulus_class);
    }
    ++counts[keys[i]];
  }
}

// Counting sort of the items by key; buckets come out widest first.
void scatter(const Job& job, const Key* keys, const KeyCounts& counts, BucketedBatch& batch) {
  const std::size_t count = job.result.count;
  KeyCounts next{};
  std::size_t begin = 0;
  for (std::size_t size = kMaxModulusLimbs; size >= 1; --size) {
    if (counts[size] == 0) continue;
    next[size] = begin;
    batch.buckets.push_back({size, {batch.item_storage.get() + begin, counts[size]}, job.y.width, {}, 0});
    begin += counts[size];
  }
  std::size_t* items = batch.item_storage.get();
  if (batch.buckets.size() == 1 && begin == count) {
    std::iota(items, items + count, std::size_t{0});
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i] != 0) items[next[keys[i]]++] = i;
  }
}

std::uint32_t exponent_length(const BatchView& exponent, std::size_t item) {
  const std::size_t bits = limbs::bit_length_var(exponent.magnitude(item));
  return static_cast<std::uint32_t>(std::min<std::size_t>(bits, std::numeric_limits<std::uint32_t>::max()));
}

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

struct LengthRange {
  std::uint32_t shortest = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t longest = 0;
  std::uint64_t total = 0;
  std::size_t count = 0;
};

// Lengths within 1/16 of the longest on average are alike: such batches keep their order, which memory likes
// best.
bool alike(const LengthRange& range) {
  const std::uint64_t most = std::uint64_t{range.longest} * range.count;
  return most - range.total <= most / 16;
}

LengthRange exponent_lengths(const BatchView& exponent, std::span<const std::size_t> items) {
  LengthRange range;
  for (const std::size_t item : exponent.broadcast() ? items.first(1) : items) {
    const std::uint32_t length = exponent_length(exponent, item);
    range.shortest = std::min(range.shortest, length);
    range.longest = std::max(range.longest, length);
    range.total += length;
    ++range.count;
  }
  return range;
}

void order_by_exponent(const Job& job, BucketedBatch& batch) {
  if (job.op != Operation::powmod || job.timing == TimingClass::secret) return;
  std::size_t* items = batch.item_storage.get();
  for (Bucket& bucket : batch.buckets) {
    const LengthRange range = exponent_lengths(job.y, bucket.items);
    bucket.exponent_limbs = std::max<std::size_t>(1, limbs_for_bits(range.longest));
    if (alike(range)) continue;
    if (!batch.exponent_storage) {
      batch.exponent_storage = std::make_unique_for_overwrite<std::uint32_t[]>(job.result.count);
    }
    const auto begin = static_cast<std::size_t>(bucket.items.data() - items);
    const std::size_t count = bucket.items.size();
    const std::span<std::uint32_t> lengths{batch.exponent_storage.get() + begin, count};
    std::transform(bucket.items.begin(), bucket.items.end(), lengths.begin(),
                   [&](std::size_t item) { return exponent_length(job.y, item); });
    sort_by_length({items + begin, count}, lengths, range.shortest, range.longest);
    bucket.exponent_bits = lengths;
  }
}

}  // namespace

ModulusClass classify_modulus(std::span<const Limb> modulus, std::size_t modulus_bits, TimingClass timing) {
  const std::size_t max_limbs = limbs_for_bits(modulus_bits);
  const std::size_t top_bits = modulus_bits % kLimbBits;
  if (modulus.empty()) return ModulusClass::zero;
  if (modulus.size() > max_limbs) return ModulusClass::too_wide;
  if (modulus.size() == max_limbs && top_bits != 0 && (modulus.back() >> top_bits) != 0) {
    return ModulusClass::too_wide;
  }
  if (modulus.size() == 1 && modulus[0] == 1) return ModulusClass::unit;
  if (timing == TimingClass::secret && (modulus[0] & 1) == 0) return ModulusClass::even;
  return ModulusClass::compute;
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

BucketedBatch bucket_each(const Job& job, std::size_t modulus_bits) {
  const std::size_t count = job.result.count;
  BucketedBatch batch;
  batch.item_storage = std::make_unique_for_overwrite<std::size_t[]>(count);
  const auto keys = std::make_unique_for_overwrite<Key[]>(count);
  KeyCounts counts{};
  classify_items(job, modulus_bits, keys.get(), counts);
  batch.settled = counts[0];
  scatter(job, keys.get(), counts, batch);
  order_by_exponent(job, batch);
  return batch;
}

BucketedBatch bucket_shared(const Job& job, ModulusClass modulus_class, std::size_t modulus_limbs) {
  const std::size_t count = job.result.count;
  std::fill(job.status, job.status + count, initial_status(modulus_class));
  BucketedBatch batch;
  if (modulus_class != ModulusClass::compute) {
    for (std::size_t i = 0; i < count; ++i) settle(job, i, modulus_class);
    batch.settled = count;
    return batch;
  }
  batch.item_storage = std::make_unique_for_overwrite<std::size_t[]>(count);
  std::iota(batch.item_storage.get(), batch.item_storage.get() + count, std::size_t{0});
  batch.buckets.push_back({modulus_limbs, {batch.item_storage.get(), count}, job.y.width, {}, 0});
  order_by_exponent(job, batch);
  return batch;
}

}  // namespace manymod

// SPDX-License-Identifier: Apache-2.0
// Sorting a batch into buckets by the number of limbs of the moduli, and finishing the items that need no
// engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/items.hpp"
#include "core/modulus_class.hpp"
#include "engine/engine.hpp"

namespace manymod {

/// Items whose moduli all have `limbs` limbs (top limb nonzero).
struct Bucket {
  std::size_t limbs = 0;
  Items items;
  /// Limbs of the longest exponent where the values may be read (variable-time powmod); else the view's
  /// width.
  std::size_t exponent_limbs = 0;
  /// Bit length of each item's exponent if the items are ordered by it, longest first; else empty.
  std::span<const std::uint32_t> exponent_bits;
  /// All moduli are known to be odd. Engine::accepts depends only on an item's parity and signs, so its
  /// answer is then the same for all items whose exponents have the same sign.
  bool all_odd = false;
  std::size_t engine = 0;  ///< index in the plan's EngineSet, once split_by_engine has decided
};

struct BucketedBatch {
  std::vector<Bucket> buckets;  ///< none of them empty
  std::size_t finished = 0;     ///< items whose result and status are already final

  /// The lists of the buckets' items; null if one bucket holds the whole batch in its order.
  std::unique_ptr<std::size_t[]> item_storage;
  std::unique_ptr<std::uint32_t[]> exponent_storage;
};

/// Class of a modulus (its limbs without leading zero limbs) in a plan for moduli of up to `modulus_bits`
/// bits.
ModulusClass classify_modulus(std::span<const Limb> modulus, std::size_t modulus_bits, TimingClass timing);

/// The status of an item whose modulus has that class; not_computed if an engine is to compute it.
ItemStatus initial_status(ModulusClass modulus_class);

/// Sort the job's items (job.result.count of them) into buckets, in which they keep their order. Sets every
/// status; zeroes the results of items with modulus 1 or -1, unless they are on_device. Variable-time jobs
/// whose exponents differ in length are ordered by exponent length within a bucket, longest first.
/// Constant-time jobs: only the bit lengths and parities of the moduli are read. Large batches are sorted by
/// `threads` threads (0: default_threads()).
BucketedBatch bucket_each(const Job& job, std::size_t modulus_bits, unsigned threads = 1);

/// The same for items that share one modulus, of class `modulus_class` and `modulus_limbs` limbs.
BucketedBatch bucket_shared(const Job& job, ModulusClass modulus_class, std::size_t modulus_limbs,
                            unsigned threads = 1);

/// Give `items` of a batch by bucket_shared, in ascending order, this status, and take them out of its
/// bucket.
void take_out(const Job& job, std::span<const std::size_t> items, ItemStatus status, BucketedBatch& batch);

}  // namespace manymod

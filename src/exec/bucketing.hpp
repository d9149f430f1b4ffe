// SPDX-License-Identifier: Apache-2.0
// Sorting a batch into buckets of one modulus limb count, and settling the items that need no engine.
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
  /// Limbs of the longest exponent where a look at the values is allowed (powmod in class public); else the
  /// view's width.
  std::size_t exponent_limbs = 0;
  /// Bit length of each item's exponent, where the items are ordered by it (longest first); else empty.
  std::span<const std::uint32_t> exponent_bits;
  /// Known to have odd moduli alone. Parity and signs being all of an item that Engine::accepts may go by, it
  /// then says the same for all of them, unless their exponents' signs differ.
  bool all_odd = false;
  std::size_t engine = 0;  ///< index in the plan's EngineSet, once split_by_engine has decided
};

struct BucketedBatch {
  std::vector<Bucket> buckets;  ///< none of them empty
  std::size_t settled = 0;      ///< items whose result and status are final already

  /// Where the buckets' items are listed; none where they are all of the batch in its order.
  std::unique_ptr<std::size_t[]> item_storage;
  std::unique_ptr<std::uint32_t[]> exponent_storage;
};

/// Class of a modulus (its limbs without leading zero limbs) in a plan for moduli of up to `modulus_bits`
/// bits.
ModulusClass classify_modulus(std::span<const Limb> modulus, std::size_t modulus_bits, TimingClass timing);

/// Status of an item with such a modulus; not_computed for those an engine has yet to see.
ItemStatus initial_status(ModulusClass modulus_class);

/// Sort the job's items (job.result.count of them) into buckets, batch order kept inside a bucket. Sets every
/// status; zeroes the results of items with modulus 1 or -1, unless they are on_device. In class public and
/// for exponents of unlike lengths, each bucket is ordered by exponent length, longest first. In class secret
/// only the moduli's bit length and parity are looked at. Large batches are gone through by `threads` threads
/// (0: default_threads()).
BucketedBatch bucket_each(const Job& job, std::size_t modulus_bits, unsigned threads = 1);

/// The same where all items have one modulus, of class `modulus_class` and `modulus_limbs` limbs.
BucketedBatch bucket_shared(const Job& job, ModulusClass modulus_class, std::size_t modulus_limbs,
                            unsigned threads = 1);

}  // namespace manymod

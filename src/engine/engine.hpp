// SPDX-License-Identifier: Apache-2.0
// The interface of an engine: one variant, which computes the items of a bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/items.hpp"
#include "core/operation.hpp"
#include "core/ticker.hpp"
#include "repr/canonical.hpp"

namespace manymod {

namespace lanes {
class Moduli;  // lanes/moduli.hpp
}

/// Precomputed data of a shared modulus. Each engine has its own concrete type, whose destructor zeroes its
/// data.
class PreparedModulus {
 public:
  virtual ~PreparedModulus() = default;
  /// The modulus in each lane of the engine's vectors; null where the engine does not work in lanes.
  [[nodiscard]] virtual const lanes::Moduli* in_lanes() const { return nullptr; }
};

/// Precomputed powers of one base modulo one modulus. Each engine has its own concrete type.
class PreparedBase {
 public:
  virtual ~PreparedBase() = default;
};

struct DeviceFacts;  // engine/device_facts.hpp
class ResidentRows;  // engine/resident_rows.hpp

/// A call as an engine sees it. Its views are checked. Every item in a bucket has |modulus| > 1 with exactly
/// the bucket's number of limbs, and an odd modulus if the call is constant-time.
struct Job {
  Operation op = Operation::addmod;
  TimingClass timing = TimingClass::public_;
  std::size_t terms = 0;  ///< only if has_terms(op)
  /// powmod: the exponent is public although bases and moduli may be secret. Engines use this only if one
  /// exponent is shared by all items.
  bool public_exponent = false;
  BatchView x, y, modulus;
  BatchView z;  ///< fmamod only
  BatchResult result;
  ItemStatus* status = nullptr;  ///< one per item of the batch; not null in calls of an engine
  /// Set if and only if the plan's modulus kind is shared; null until an engine has been chosen for the
  /// items.
  const PreparedModulus* shared = nullptr;
  const PreparedBase* fixed_base = nullptr;  ///< in `run`, fixed_base_powmod only
  const DeviceFacts* facts = nullptr;        ///< properties of the operands that are on_device
  StopToken stop;

  /// The index of an item's term in x or y, which holds the terms of every item or one set for all items.
  [[nodiscard]] std::size_t term_index(const BatchView& view, std::size_t item, std::size_t term) const {
    return view.count == terms ? term : item * terms + term;
  }

  /// Whether the sequence of operations may depend on the exponent: it is public and shared by all items.
  [[nodiscard]] bool may_follow_exponent() const {
    return y.broadcast() && (public_exponent || timing == TimingClass::public_);
  }
};

/// One variant, ready to compute. It keeps no state between calls and is thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Whether the engine can compute this item, which depends on public properties only: the sizes of all
  /// items, the parity of the modulus (in variable-time calls) and the sign of the exponent. Items that are
  /// not accepted are not passed to prepare, prepare_base or run. The Variant of an engine that rejects any
  /// item has accepts_every_item == false.
  [[nodiscard]] virtual bool accepts([[maybe_unused]] const Job& job,
                                     [[maybe_unused]] std::size_t item) const {
    return true;
  }

  /// Precompute the data of a shared modulus. On input: modulus > 1, its top limb is nonzero. Timing: by the
  /// timing class.
  [[nodiscard]] virtual std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                                 TimingClass timing) const = 0;

  /// Precompute the comb of `base` for exponents of up to `exponent_bits` bits.
  /// On input: `base` has any width and sign; modulus > 1, its top limb is nonzero. @return null if `stop`
  /// was requested.
  [[nodiscard]] virtual std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                                   std::span<const Limb> modulus,
                                                                   std::size_t exponent_bits,
                                                                   TimingClass timing,
                                                                   const StopToken& stop) const = 0;

  /// Number of items that should be computed in one chunk: the lanes of a vector, or the items of a batch
  /// inversion.
  [[nodiscard]] virtual std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const = 0;

  /// Whether a last chunk shorter than a granule is computed faster merged with the chunk before it than
  /// separately.
  [[nodiscard]] virtual bool joins_rest(const Job&, [[maybe_unused]] std::size_t modulus_limbs) const {
    return false;
  }

  /// Estimated nanoseconds per item (for vectors, the time of a full vector divided by its lanes). It
  /// determines the chunk size and whether several threads are worthwhile. It depends on public sizes only:
  /// in constant-time calls the exponent length is the width of its view.
  [[nodiscard]] virtual double item_cost_ns(const Job& job, std::size_t modulus_limbs) const = 0;

  /// Compute the result and the status of each item.
  ///
  /// On input: `items`: indices into the batch, whose moduli have `modulus_limbs` limbs. On output:
  /// job.result and job.status at these items. Items that are skipped because job.stop was requested must
  /// have the status not_computed, and their results may remain unwritten. Timing: by job.timing.
  /// @throws std::bad_alloc; StatusError if a device fails
  virtual void run(const Job& job, Items items, std::size_t modulus_limbs) const = 0;

  /// How the engine computes whole calls on arrays in the memory of its device; null where it does not.
  [[nodiscard]] virtual const ResidentRows* resident_rows() const { return nullptr; }
};

}  // namespace manymod

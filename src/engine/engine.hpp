// SPDX-License-Identifier: Apache-2.0
// What a technique gives the dispatcher: an engine that computes items of one bucket.
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

/// Precomputed data of one shared modulus, owned by a plan; the concrete type is the engine's own.
/// Destructors zero what they hold.
class PreparedModulus {
 public:
  virtual ~PreparedModulus() = default;
  /// The modulus in each lane of the engine's vectors; null where the engine does not work in lanes.
  [[nodiscard]] virtual const lanes::Moduli* in_lanes() const { return nullptr; }
};

/// Precomputed powers of one base modulo one modulus; the concrete type is the engine's own.
class PreparedBase {
 public:
  virtual ~PreparedBase() = default;
};

struct DeviceFacts;  // engine/device_facts.hpp

/// A call as an engine sees it. Views are checked; every item listed in a bucket has 1 < |modulus|, of
/// exactly the bucket's limb count, and is odd where the timing class is secret.
struct Job {
  Operation op = Operation::addmod;
  TimingClass timing = TimingClass::public_;
  std::size_t terms = 0;  ///< multi_powmod only
  /// powmod: the exponent is public whatever the timing class says of bases and moduli. Only where one serves
  /// all items do engines make use of it.
  bool public_exponent = false;
  BatchView x, y, modulus;
  BatchResult result;
  ItemStatus* status = nullptr;  ///< one per item of the batch, never null
  /// Set iff the plan's modulus kind is shared; null as long as it is open which engine gets the items.
  const PreparedModulus* shared = nullptr;
  const PreparedBase* fixed_base = nullptr;  ///< in `run`, fixed_base_powmod only
  const DeviceFacts* facts = nullptr;        ///< of operands that are on_device
  StopToken stop;

  /// Whether the sequence of operations may follow the exponent, which all items share.
  [[nodiscard]] bool may_follow_exponent() const {
    return y.broadcast() && (public_exponent || timing == TimingClass::public_);
  }
};

/// One variant, ready to compute. Stateless between calls and safe to call from several threads.
class Engine {
 public:
  virtual ~Engine() = default;

  /// Whether the engine can compute this item at all, by public facts alone: the sizes of all items, the
  /// modulus's parity (class public) and the exponent's sign. Neither `run` nor the two functions that
  /// prepare see one that it does not accept. An engine that says no to any item must say so in its Variant
  /// too (accepts_every_item).
  [[nodiscard]] virtual bool accepts([[maybe_unused]] const Job& job,
                                     [[maybe_unused]] std::size_t item) const {
    return true;
  }

  /// Precompute for a modulus that a whole batch shares. `modulus` is normalised (top limb nonzero), > 1.
  [[nodiscard]] virtual std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                                 TimingClass timing) const = 0;

  /// Precompute the comb of `base` (any width, any sign) for exponents up to `exponent_bits`. Null if `stop`
  /// was requested.
  [[nodiscard]] virtual std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                                   std::span<const Limb> modulus,
                                                                   std::size_t exponent_bits,
                                                                   TimingClass timing,
                                                                   const StopToken& stop) const = 0;

  /// Items that should stay together in one chunk (lanes of a vector, items of one batch inversion).
  [[nodiscard]] virtual std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const = 0;

  /// Rough nanoseconds for one item (an engine with lanes: a full vector's time / lanes), for chunking and
  /// for deciding whether threads pay. Public sizes only: exponent length is taken from the view's width in
  /// class secret.
  [[nodiscard]] virtual double item_cost_ns(const Job& job, std::size_t modulus_limbs) const = 0;

  /// Compute result and status of each item in `items` (indices into the batch; moduli of `modulus_limbs`
  /// limbs). Must leave status not_computed, and may leave the result unwritten, for items skipped because
  /// job.stop was requested. Throws std::bad_alloc, and StatusError where a device fails.
  virtual void run(const Job& job, Items items, std::size_t modulus_limbs) const = 0;
};

}  // namespace manymod

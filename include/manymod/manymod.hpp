// SPDX-License-Identifier: Apache-2.0
/**
 * @file manymod.hpp
 * @brief C++20 wrapper of manymod.h: RAII, views of containers, exceptions. Header only; it links to the C
 * library alone. manymod.h documents the semantics, timing and statuses.
 *
 * Integers are little-endian 64-bit limbs, stored one item after the other. The functions powmod, mulmod, ..
 * create a plan, run one call and throw Error if any item has no result. Plan and FixedBase keep their
 * precomputed data and can report a status per item. What these classes lack is reached by get() and
 * the functions of the C ABI, which are all declared here: arrays in GPU memory, what a cancelled call has
 * computed, the lists of variants and devices, and tuning tables.
 *
 *     std::vector<std::uint64_t> base{2}, exponent{10}, modulus{1000};
 *     auto r = manymod::powmod({base, 1}, {exponent, 1}, {modulus, 1});  // r[0][0] == 24
 */
#ifndef MANYMOD_MANYMOD_HPP
#define MANYMOD_MANYMOD_HPP

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manymod/calls.hpp"
#include "manymod/integers.hpp"
#include "manymod/manymod.h"

namespace manymod {
inline namespace wrapper {

/// mm_op, without the operation of FixedBase.
enum class Op {
  addmod = MM_OP_ADDMOD,
  submod = MM_OP_SUBMOD,
  negmod = MM_OP_NEGMOD,
  mulmod = MM_OP_MULMOD,
  sqrmod = MM_OP_SQRMOD,
  powmod = MM_OP_POWMOD,
  invmod = MM_OP_INVMOD,
  multi_powmod = MM_OP_MULTI_POWMOD,
  fmamod = MM_OP_FMAMOD,
  summod = MM_OP_SUMMOD,
  prodmod = MM_OP_PRODMOD,
  dotmod = MM_OP_DOTMOD,
};
/// mm_timing: variable-time or constant-time.
enum class Timing { public_ = MM_TIMING_PUBLIC, secret = MM_TIMING_SECRET };
/// mm_modulus_kind.
enum class ModulusKind { each = MM_MODULUS_EACH, shared = MM_MODULUS_SHARED };

/// Operands of one call, as in mm_call.
struct Operands {
  View x, y, modulus;
  /// Items. Not set: as many as the operands have, where one integer serves any number of items, and none.
  /// It must be set for operations with terms.
  std::optional<std::size_t> count{};
  std::size_t terms = 0;  ///< operations with terms: terms of each item
  View z{};               ///< fmamod only
};

namespace detail {

/// An mm_call and the arrays that it writes. It cannot be moved, as the call points into it.
class OwnedCall {
 public:
  OwnedCall(const Operands& operands, std::size_t count, std::size_t result_width, Progress progress)
      : result_(count, result_width), outcome_(count, std::move(progress)) {
    call_.struct_size = sizeof call_;
    call_.count = count;
    call_.terms = operands.terms;
    call_.x = operands.x.get();
    call_.y = operands.y.get();
    call_.modulus = operands.modulus.get();
    call_.z = operands.z.get();
    call_.result = {result_.limbs().data(), count, result_width, result_width, result_.signs().data()};
    outcome_.connect(call_);
  }
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;

  [[nodiscard]] const mm_call* get() const noexcept { return &call_; }

  /// The results of the call, which returned `status`.
  /// @throws the exception of the progress callback; Error unless `status` is MM_OK, or MM_ERR_ITEMS with
  /// `statuses`
  Batch finish(mm_status status, std::vector<mm_status>* statuses) {
    outcome_.finish(status, statuses);
    return std::move(result_);
  }

 private:
  Batch result_;
  CallOutcome outcome_;
  mm_call call_{};
};

/// Results of a call, computed by run(const mm_call*).
template <class Run>
Batch run_call(Run&& run, const Operands& operands, std::size_t count, std::size_t result_width,
               std::vector<mm_status>* statuses, const Progress& progress) {
  OwnedCall call(operands, count, result_width, progress);
  return call.finish(run(call.get()), statuses);
}

/// Number of items of a call on a plan for `op`.
inline std::size_t count_of(Op op, const Operands& operands) {
  if (operands.count) return *operands.count;
  const bool has_terms = op == Op::multi_powmod || op == Op::summod || op == Op::prodmod || op == Op::dotmod;
  require(!has_terms, "manymod::Plan: operations with terms need Operands::count");
  std::size_t most = 0;
  bool one_is_empty = false;
  for (const View* view : {&operands.x, &operands.y, &operands.z, &operands.modulus}) {
    if (view->width() == 0) continue;  // it is not given
    most = std::max(most, view->size());
    one_is_empty = one_is_empty || view->size() == 0;
  }
  return one_is_empty && most == 1 ? 0 : most;
}

}  // namespace detail

/// An asynchronous call, started by Plan::submit or FixedBase::submit. The plan and the operands must remain
/// unchanged until it has ended. Destroying a job that has not ended cancels it and waits for it, except in a
/// callback of a job.
using Job = detail::BasicJob<detail::OwnedCall>;

/// Owns an mm_plan. Several threads may run calls on one plan.
class Plan {
 public:
  /// A plan for `op` and moduli of up to `modulus_bits` bits; `kind`, `timing` and `placement` as in
  /// mm_plan_options. @throws Error as mm_plan_create
  Plan(Op op, std::size_t modulus_bits, ModulusKind kind = ModulusKind::each, Timing timing = Timing::public_,
       const Placement& placement = {})
      : op_(op) {
    mm_plan_options options{};
    options.struct_size = sizeof options;
    options.op = static_cast<mm_op>(op);
    options.timing = static_cast<mm_timing>(timing);
    options.modulus_kind = static_cast<mm_modulus_kind>(kind);
    options.modulus_bits = modulus_bits;
    options.device = detail::or_null(placement.device);
    options.variant = detail::or_null(placement.variant);
    options.threads = placement.threads;
    mm_plan* plan = nullptr;
    check(mm_plan_create(&options, &plan));
    plan_.reset(plan);
  }

  /// Results for `operands` in batch order, as wide as the modulus; `progress` may be empty. An item without
  /// a result is 0 and has a status in *statuses; if `statuses` is NULL the call throws Error with
  /// MM_ERR_ITEMS instead.
  /// @throws Error as mm_plan_run
  Batch run(const Operands& operands, std::vector<mm_status>* statuses = nullptr,
            const Progress& progress = {}) {
    return detail::run_call([this](const mm_call* call) { return mm_plan_run(plan_.get(), call); }, operands,
                            detail::count_of(op_, operands), operands.modulus.width(), statuses, progress);
  }

  /// The same `operands` as an asynchronous call. `progress` is called on the job's thread. @throws Error as
  /// mm_plan_submit
  [[nodiscard]] Job submit(const Operands& operands, const Progress& progress = {}) {
    return {[this](const mm_call* call, mm_done_fn done, void* user, mm_job** job) {
              return mm_plan_submit(plan_.get(), call, done, user, job);
            },
            std::make_shared<detail::OwnedCall>(operands, detail::count_of(op_, operands),
                                                operands.modulus.width(), progress)};
  }

  /// Run a `call` of the C ABI, which writes to the caller's arrays. @return as mm_plan_run
  mm_status run(const mm_call& call) { return mm_plan_run(plan_.get(), &call); }

  /// Name of the variant for large batches.
  [[nodiscard]] std::string variant() const { return mm_plan_variant(plan_.get()); }
  /// Name of the variant for `items` items whose moduli have the same number of limbs.
  [[nodiscard]] std::string variant_for(std::size_t items) const {
    return mm_plan_variant_for(plan_.get(), items);
  }
  /// The plan of the C ABI; it remains owned by this object.
  [[nodiscard]] mm_plan* get() const noexcept { return plan_.get(); }

 private:
  struct Destroy {
    void operator()(mm_plan* plan) const { mm_plan_destroy(plan); }
  };
  Op op_;
  std::unique_ptr<mm_plan, Destroy> plan_;
};

/// Owns an mm_fixed_base: powers of one base modulo one modulus by a precomputed comb. Several threads may
/// run calls on one object.
class FixedBase {
 public:
  /// Precompute the comb for exponents of up to `exponent_bits` bits. `base` and `modulus` are copied.
  /// `timing` and `placement` are as in mm_fixed_base_options. `progress` is called with (0, 1) meanwhile; if
  /// it returns false, the constructor throws Error with MM_ERR_CANCELLED.
  /// @throws Error as mm_fixed_base_create
  FixedBase(const View& base, const View& modulus, std::size_t exponent_bits, Timing timing = Timing::public_,
            const Placement& placement = {}, const Progress& progress = {})
      : width_(modulus.width()) {
    detail::ProgressGuard guard{&progress, nullptr};
    mm_fixed_base_options options{};
    options.struct_size = sizeof options;
    options.timing = static_cast<mm_timing>(timing);
    options.exponent_bits = exponent_bits;
    options.device = detail::or_null(placement.device);
    options.variant = detail::or_null(placement.variant);
    options.threads = placement.threads;
    if (progress) {
      options.progress = &detail::ProgressGuard::call;
      options.progress_user = &guard;
    }
    mm_fixed_base* fixed_base = nullptr;
    const mm_status status = mm_fixed_base_create(&options, &base.get(), &modulus.get(), &fixed_base);
    if (guard.error) std::rethrow_exception(guard.error);
    check(status);
    fixed_base_.reset(fixed_base);
  }

  /// base^(exponents_i) mod modulus for every i of `exponents`; `statuses`, `progress` and exceptions as in
  /// Plan::run.
  Batch powmod(const View& exponents, std::vector<mm_status>* statuses = nullptr,
               const Progress& progress = {}) {
    Operands operands;
    operands.y = exponents;
    return detail::run_call(
        [this](const mm_call* call) { return mm_fixed_base_powmod(fixed_base_.get(), call); }, operands,
        exponents.size(), width_, statuses, progress);
  }

  /// The same `exponents` as an asynchronous call; `progress` as in Plan::submit.
  [[nodiscard]] Job submit(const View& exponents, const Progress& progress = {}) {
    Operands operands;
    operands.y = exponents;
    return {[this](const mm_call* call, mm_done_fn done, void* user, mm_job** job) {
              return mm_fixed_base_submit(fixed_base_.get(), call, done, user, job);
            },
            std::make_shared<detail::OwnedCall>(operands, exponents.size(), width_, progress)};
  }

  /// Name of the variant for large batches.
  [[nodiscard]] std::string variant() const { return mm_fixed_base_variant(fixed_base_.get()); }
  /// Name of the variant for `exponents` nonnegative exponents.
  [[nodiscard]] std::string variant_for(std::size_t exponents) const {
    return mm_fixed_base_variant_for(fixed_base_.get(), exponents);
  }
  /// The object of the C ABI; it remains owned by this object.
  [[nodiscard]] mm_fixed_base* get() const noexcept { return fixed_base_.get(); }

 private:
  struct Destroy {
    void operator()(mm_fixed_base* fixed_base) const { mm_fixed_base_destroy(fixed_base); }
  };
  std::size_t width_;
  std::unique_ptr<mm_fixed_base, Destroy> fixed_base_;
};

namespace detail {

inline Batch run_once(Op op, const Operands& operands, Timing timing, const Placement& placement) {
  constexpr std::size_t kMaxBits = MM_MAX_MODULUS_BITS;
  const std::size_t limbs = std::clamp<std::size_t>(operands.modulus.width(), 1, kMaxBits / 64);
  const ModulusKind kind = operands.modulus.size() == 1 ? ModulusKind::shared : ModulusKind::each;
  return Plan(op, limbs * 64, kind, timing, placement).run(operands);
}

}  // namespace detail

// Single calls. An operand of one integer is used for every item. All throw Error for an invalid call and for
// an item without a result; all are variable-time unless their name ends in _sec.

/// x + y mod n
inline Batch addmod(const View& x, const View& y, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::addmod, {x, y, n}, Timing::public_, placement);
}
/// x + y mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch addmod_sec(const View& x, const View& y, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::addmod, {x, y, n}, Timing::secret, placement);
}
/// x - y mod n
inline Batch submod(const View& x, const View& y, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::submod, {x, y, n}, Timing::public_, placement);
}
/// x - y mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch submod_sec(const View& x, const View& y, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::submod, {x, y, n}, Timing::secret, placement);
}
/// -x mod n
inline Batch negmod(const View& x, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::negmod, {x, {}, n}, Timing::public_, placement);
}
/// -x mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch negmod_sec(const View& x, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::negmod, {x, {}, n}, Timing::secret, placement);
}
/// x * y mod n
inline Batch mulmod(const View& x, const View& y, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::mulmod, {x, y, n}, Timing::public_, placement);
}
/// x * y mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch mulmod_sec(const View& x, const View& y, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::mulmod, {x, y, n}, Timing::secret, placement);
}
/// x^2 mod n
inline Batch sqrmod(const View& x, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::sqrmod, {x, {}, n}, Timing::public_, placement);
}
/// x^2 mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch sqrmod_sec(const View& x, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::sqrmod, {x, {}, n}, Timing::secret, placement);
}
/// x * y + z mod n
inline Batch fmamod(const View& x, const View& y, const View& z, const View& n,
                    const Placement& placement = {}) {
  return detail::run_once(Op::fmamod, {x, y, n, {}, 0, z}, Timing::public_, placement);
}
/// x * y + z mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch fmamod_sec(const View& x, const View& y, const View& z, const View& n,
                        const Placement& placement = {}) {
  return detail::run_once(Op::fmamod, {x, y, n, {}, 0, z}, Timing::secret, placement);
}
/// base^exponent mod n, exponents of any sign
inline Batch powmod(const View& base, const View& exponent, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::powmod, {base, exponent, n}, Timing::public_, placement);
}
/// base^exponent mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch powmod_sec(const View& base, const View& exponent, const View& n,
                        const Placement& placement = {}) {
  return detail::run_once(Op::powmod, {base, exponent, n}, Timing::secret, placement);
}
/// x^-1 mod n
inline Batch invmod(const View& x, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::invmod, {x, {}, n}, Timing::public_, placement);
}
/// x^-1 mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch invmod_sec(const View& x, const View& n, const Placement& placement = {}) {
  return detail::run_once(Op::invmod, {x, {}, n}, Timing::secret, placement);
}

// Sums and products of terms: item i is made of the integers of x and y at i * terms + t, 0 <= t < terms, and
// of modulus i. An x or y of `terms` integers is used for every item.

/// sum_t x_t mod n for each of `count` items of `terms` terms of `x`
inline Batch summod(const View& x, const View& n, std::size_t count, std::size_t terms,
                    Timing timing = Timing::public_, const Placement& placement = {}) {
  return detail::run_once(Op::summod, {x, {}, n, count, terms}, timing, placement);
}
/// prod_t x_t mod n for each of `count` items of `terms` terms of `x`
inline Batch prodmod(const View& x, const View& n, std::size_t count, std::size_t terms,
                     Timing timing = Timing::public_, const Placement& placement = {}) {
  return detail::run_once(Op::prodmod, {x, {}, n, count, terms}, timing, placement);
}
/// sum_t x_t y_t mod n for each of `count` items of `terms` terms of `x` and `y`
inline Batch dotmod(const View& x, const View& y, const View& n, std::size_t count, std::size_t terms,
                    Timing timing = Timing::public_, const Placement& placement = {}) {
  return detail::run_once(Op::dotmod, {x, y, n, count, terms}, timing, placement);
}

}  // namespace wrapper
}  // namespace manymod
#endif

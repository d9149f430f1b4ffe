// SPDX-License-Identifier: Apache-2.0
/**
 * @file manymod.hpp
 * @brief C++20 wrapper of manymod.h: RAII, views of containers, exceptions. Header only; it links to the C
 * library alone. manymod.h documents the semantics, timing and statuses.
 *
 * Integers are little-endian 64-bit limbs, stored one item after the other. The functions powmod, mulmod, ..
 * create a plan, run one call and throw Error if any item has no result. Plan and FixedBase keep their
 * precomputed data and can report a status per item.
 *
 *     std::vector<std::uint64_t> base{2}, exponent{10}, modulus{1000};
 *     auto r = manymod::powmod({base, 1}, {exponent, 1}, {modulus, 1});  // r[0][0] == 24
 */
#ifndef MANYMOD_MANYMOD_HPP
#define MANYMOD_MANYMOD_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "manymod/manymod.h"

// The inline namespace gives these names other symbols than the library's own, for programs that link it
// statically.
namespace manymod {
inline namespace wrapper {

/// A failed call: its status, and the text of mm_last_error() as what().
class Error : public std::runtime_error {
 public:
  Error(mm_status status, const std::string& message)
      : std::runtime_error(std::string(mm_status_name(status)) + ": " + message), status_(status) {}
  [[nodiscard]] mm_status status() const noexcept { return status_; }

 private:
  mm_status status_;
};

/// Throw Error unless `status` is MM_OK.
inline void check(mm_status status) {
  if (status != MM_OK) throw Error(status, mm_last_error());
}

namespace detail {

/// Throw Error with MM_ERR_ARGUMENT unless `right`.
inline void require(bool right, const char* message) {
  if (!right) throw Error(MM_ERR_ARGUMENT, message);
}

}  // namespace detail

/// Owns `count` signed integers of `width` limbs each.
class Batch {
 public:
  /// `count` zeros.
  Batch(std::size_t count, std::size_t width) : width_(width), limbs_(count * width), negative_(count) {}

  [[nodiscard]] std::size_t size() const noexcept { return negative_.size(); }
  [[nodiscard]] std::size_t width() const noexcept { return width_; }

  /// Limbs of item i, 0 <= i < size().
  [[nodiscard]] std::span<std::uint64_t> operator[](std::size_t i) {
    return std::span(limbs_).subspan(i * width_, width_);
  }
  [[nodiscard]] std::span<const std::uint64_t> operator[](std::size_t i) const {
    return std::span(limbs_).subspan(i * width_, width_);
  }
  /// Sign of item i, 0 <= i < size().
  [[nodiscard]] bool negative(std::size_t i) const { return negative_[i] != 0; }
  void set_negative(std::size_t i, bool negative) { negative_[i] = negative ? 1 : 0; }

  /// All limbs, item after item, and one sign byte per item.
  [[nodiscard]] std::span<std::uint64_t> limbs() noexcept { return limbs_; }
  [[nodiscard]] std::span<const std::uint64_t> limbs() const noexcept { return limbs_; }
  [[nodiscard]] std::span<std::uint8_t> signs() noexcept { return negative_; }
  [[nodiscard]] std::span<const std::uint8_t> signs() const noexcept { return negative_; }

 private:
  std::size_t width_;
  std::vector<std::uint64_t> limbs_;
  std::vector<std::uint8_t> negative_;
};

/// A read-only view of integers, which must outlive it and every call that uses it.
class View {
 public:
  View() = default;

  /// limbs.size() / width integers, all nonnegative unless `negative` holds a byte for each of them.
  /// @throws Error with MM_ERR_ARGUMENT if limbs.size() is not a multiple of width > 0, or if `negative` has
  /// another size
  View(std::span<const std::uint64_t> limbs, std::size_t width, std::span<const std::uint8_t> negative = {}) {
    detail::require(width != 0 && limbs.size() % width == 0,
                    "manymod::View: the limbs are no whole number of integers of that width");
    const std::size_t count = limbs.size() / width;
    detail::require(negative.empty() || negative.size() == count,
                    "manymod::View: one sign per integer is needed");
    view_ = {limbs.data(), count, width, width, negative.empty() ? nullptr : negative.data()};
  }
  View(const Batch& batch)  // NOLINT(google-explicit-constructor): a batch is its own view
      : View(batch.limbs(), batch.width(), batch.signs()) {}
  /// A view of any stride.
  explicit View(const mm_view& view) : view_(view) {}

  [[nodiscard]] std::size_t size() const noexcept { return view_.count; }
  [[nodiscard]] std::size_t width() const noexcept { return view_.width; }
  [[nodiscard]] const mm_view& get() const noexcept { return view_; }

 private:
  mm_view view_{};
};

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

/// Device, variant and threads as in mm_plan_options; an empty string is NULL there.
struct Placement {
  std::string device;
  std::string variant;
  unsigned threads = 0;
};

/// Operands of one call, as in mm_call.
struct Operands {
  View x, y, modulus;
  std::size_t count = 0;  ///< items; 0: as many as the largest operand has
  std::size_t terms = 0;  ///< operations with terms: terms of each item; `count` must then be set
  View z{};               ///< fmamod only
};

/// Progress callback as mm_progress_fn, but it returns false to stop the call. An exception that it throws
/// stops the call and is rethrown by it.
using Progress = std::function<bool(std::size_t done, std::size_t total)>;

namespace detail {

/// Runs a Progress behind the C ABI and keeps the exception that it throws.
struct ProgressGuard {
  const Progress* progress;
  std::exception_ptr error;

  static int call(std::size_t done, std::size_t total, void* user) {
    auto* self = static_cast<ProgressGuard*>(user);
    try {
      return (*self->progress)(done, total) ? 0 : 1;
    } catch (...) {
      self->error = std::current_exception();
      return 1;
    }
  }
};

/// What every call of the C ABI has besides operands and results: item statuses, and a progress callback
/// whose exception is kept. It cannot be moved, as the call points into it.
class CallOutcome {
 public:
  CallOutcome(std::size_t count, Progress progress)
      : item_status_(count), progress_(std::move(progress)), guard_{&progress_, nullptr} {}
  CallOutcome(const CallOutcome&) = delete;
  CallOutcome& operator=(const CallOutcome&) = delete;

  /// Let the call, an mm_call or the like, report here.
  template <class Call>
  void connect(Call& call) noexcept {
    call.item_status = item_status_.data();
    if (!progress_) return;
    call.progress = &ProgressGuard::call;
    call.progress_user = &guard_;
  }

  /// Hand out the item statuses of the call, which returned `status`.
  /// @throws the exception of the progress callback; Error unless `status` is MM_OK, or MM_ERR_ITEMS with
  /// `statuses`
  void finish(mm_status status, std::vector<mm_status>* statuses) const {
    if (guard_.error) std::rethrow_exception(guard_.error);
    if (status != MM_ERR_ITEMS || statuses == nullptr) check(status);
    if (statuses == nullptr) return;
    statuses->resize(item_status_.size());
    std::transform(item_status_.begin(), item_status_.end(), statuses->begin(),
                   [](std::uint8_t byte) { return static_cast<mm_status>(byte); });
  }

 private:
  std::vector<std::uint8_t> item_status_;
  Progress progress_;
  ProgressGuard guard_;
};

inline const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

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

/// Number of items of a call on a plan.
inline std::size_t count_of(const Operands& operands) {
  return operands.count != 0
             ? operands.count
             : std::max({operands.x.size(), operands.y.size(), operands.z.size(), operands.modulus.size()});
}

/// An asynchronous call. `Owned` has the call, the arrays that it reads and writes, and what becomes of them:
/// get() and finish(status, statuses).
template <class Owned>
class BasicJob {
 public:
  /// Submit the call by submit(call, mm_done_fn, void* user, mm_job**).
  template <class Submit>
  BasicJob(Submit&& submit, std::shared_ptr<Owned> call) : state_(std::make_unique<State>(std::move(call))) {
    auto hold = std::make_unique<Hold>(state_->call);
    check(submit(state_->call->get(), &release, hold.get(), &state_->job));
    [[maybe_unused]] const Hold* const owned_by_the_job = hold.release();
  }

  /// Wait for the results; they can be taken once.
  /// @throws as the call itself would; Error with MM_ERR_ARGUMENT if they were taken before, and in a
  /// callback of a job, after which wait() may be called again
  auto wait(std::vector<mm_status>* statuses = nullptr) {
    require(state_ != nullptr, "manymod::Job: no call to wait for");
    const mm_status status = mm_job_wait(state_->job);
    if (mm_job_ended(state_->job) == 0) check(status);
    const std::unique_ptr<State> state = std::move(state_);
    return state->call->finish(status, statuses);
  }
  /// Whether wait() would return without waiting.
  [[nodiscard]] bool ended() const noexcept { return !state_ || mm_job_ended(state_->job) != 0; }
  /// Ask it to stop; wait() then throws Error with MM_ERR_CANCELLED unless the call completes first.
  void cancel() noexcept {
    if (state_) mm_job_cancel(state_->job);
  }

 private:
  struct State {
    explicit State(std::shared_ptr<Owned> owned) : call(std::move(owned)) {}
    ~State() {
      mm_job_cancel(job);
      mm_job_destroy(job);
    }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::shared_ptr<Owned> call;
    mm_job* job = nullptr;
  };

  // Owned by the job while it runs, so that the arrays it writes live until `done` has been called.
  using Hold = std::shared_ptr<Owned>;
  static void release(mm_status, void* hold) { delete static_cast<Hold*>(hold); }

  std::unique_ptr<State> state_;
};

}  // namespace detail

/// An asynchronous call, started by Plan::submit or FixedBase::submit. The plan and the operands must remain
/// unchanged until it has ended. Destroying a job that has not ended cancels it and waits for it, except in a
/// callback of a job.
using Job = detail::BasicJob<detail::OwnedCall>;

/// Owns an mm_plan. Several threads may run calls on one plan.
class Plan {
 public:
  /// A plan for moduli of up to `modulus_bits` bits. @throws Error as mm_plan_create
  Plan(Op op, std::size_t modulus_bits, ModulusKind kind = ModulusKind::each, Timing timing = Timing::public_,
       const Placement& placement = {}) {
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

  /// Results in batch order, as wide as the modulus. An item without a result is 0 and has a status in
  /// *statuses; if `statuses` is NULL the call throws Error with MM_ERR_ITEMS instead.
  /// @throws Error as mm_plan_run
  Batch run(const Operands& operands, std::vector<mm_status>* statuses = nullptr,
            const Progress& progress = {}) {
    return detail::run_call([this](const mm_call* call) { return mm_plan_run(plan_.get(), call); }, operands,
                            detail::count_of(operands), operands.modulus.width(), statuses, progress);
  }

  /// The same as an asynchronous call. `progress` is called on the job's thread. @throws Error as
  /// mm_plan_submit
  [[nodiscard]] Job submit(const Operands& operands, const Progress& progress = {}) {
    return {[this](const mm_call* call, mm_done_fn done, void* user, mm_job** job) {
              return mm_plan_submit(plan_.get(), call, done, user, job);
            },
            std::make_shared<detail::OwnedCall>(operands, detail::count_of(operands),
                                                operands.modulus.width(), progress)};
  }

  /// Run a call of the C ABI, which writes to the caller's arrays. @return as mm_plan_run
  mm_status run(const mm_call& call) { return mm_plan_run(plan_.get(), &call); }

  /// Name of the variant for large batches.
  [[nodiscard]] std::string variant() const { return mm_plan_variant(plan_.get()); }
  /// Name of the variant for `items` items whose moduli have the same number of limbs.
  [[nodiscard]] std::string variant_for(std::size_t items) const {
    return mm_plan_variant_for(plan_.get(), items);
  }

 private:
  struct Destroy {
    void operator()(mm_plan* plan) const { mm_plan_destroy(plan); }
  };
  std::unique_ptr<mm_plan, Destroy> plan_;
};

/// Owns an mm_fixed_base: powers of one base modulo one modulus by a precomputed comb. Several threads may
/// run calls on one object.
class FixedBase {
 public:
  /// Precompute the comb for exponents of up to `exponent_bits` bits. `base` and `modulus` are copied.
  /// `progress` is called with (0, 1) meanwhile; if it returns false, the constructor throws Error with
  /// MM_ERR_CANCELLED.
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

  /// base^(exponents_i) mod modulus for every i; statuses and exceptions as in Plan::run.
  Batch powmod(const View& exponents, std::vector<mm_status>* statuses = nullptr,
               const Progress& progress = {}) {
    Operands operands;
    operands.y = exponents;
    return detail::run_call(
        [this](const mm_call* call) { return mm_fixed_base_powmod(fixed_base_.get(), call); }, operands,
        exponents.size(), width_, statuses, progress);
  }

  /// The same as an asynchronous call, see Plan::submit.
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
  return detail::run_once(Op::fmamod, {x, y, n, 0, 0, z}, Timing::public_, placement);
}
/// x * y + z mod n, constant-time (MM_TIMING_SECRET); odd moduli only
inline Batch fmamod_sec(const View& x, const View& y, const View& z, const View& n,
                        const Placement& placement = {}) {
  return detail::run_once(Op::fmamod, {x, y, n, 0, 0, z}, Timing::secret, placement);
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

/// sum_t x_t mod n for each of `count` items
inline Batch summod(const View& x, const View& n, std::size_t count, std::size_t terms,
                    Timing timing = Timing::public_, const Placement& placement = {}) {
  return detail::run_once(Op::summod, {x, {}, n, count, terms}, timing, placement);
}
/// prod_t x_t mod n for each of `count` items
inline Batch prodmod(const View& x, const View& n, std::size_t count, std::size_t terms,
                     Timing timing = Timing::public_, const Placement& placement = {}) {
  return detail::run_once(Op::prodmod, {x, {}, n, count, terms}, timing, placement);
}
/// sum_t x_t y_t mod n for each of `count` items
inline Batch dotmod(const View& x, const View& y, const View& n, std::size_t count, std::size_t terms,
                    Timing timing = Timing::public_, const Placement& placement = {}) {
  return detail::run_once(Op::dotmod, {x, y, n, count, terms}, timing, placement);
}

}  // namespace wrapper
}  // namespace manymod
#endif

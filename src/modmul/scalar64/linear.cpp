// SPDX-License-Identifier: Apache-2.0
// Addition, subtraction, negation, multiplication, squaring and x y + z modulo n. Variable-time.
#include <algorithm>

#include "modmul/scalar64/operations.hpp"
#include "repr/carry_chains.hpp"

namespace manymod::scalar64 {

namespace {

/// Where a modulus is prepared once for many items, two Montgomery products are faster than a long division
/// up to this size.
constexpr std::size_t kMontgomeryProductLimbs = 20;

/// The operands of one item after another, as residues 0 <= x < n, and storage for a result. Each is valid
/// until the next item.
class Operands {
 public:
  explicit Operands(const BucketRun& run)
      : job_(run.job),
        storage_(4 * run.limbs),
        scratch_(std::max(Divisor::scratch_limbs(2 * run.limbs), Montgomery::scratch_limbs(run.limbs))),
        limbs_(run.limbs) {}

  std::span<const Limb> x(std::size_t item, const Modulus& n) { return residue(job_.x, item, n, 0); }
  std::span<const Limb> y(std::size_t item, const Modulus& n) { return residue(job_.y, item, n, limbs_); }
  std::span<const Limb> z(std::size_t item, const Modulus& n) { return residue(job_.z, item, n, 3 * limbs_); }
  std::span<Limb> result() { return storage_.part(2 * limbs_, limbs_); }
  Limb* scratch() { return scratch_.data(); }

 private:
  const Job& job_;
  limbs::Buffer storage_;
  limbs::Buffer scratch_;
  std::size_t limbs_;

  std::span<const Limb> residue(const BatchView& view, std::size_t item, const Modulus& n, std::size_t at) {
    return n.residue_var(storage_.part(at, limbs_), view.magnitude(item), view.is_negative(item), scratch_,
                         job_.stop);
  }
};

/// r = x + y, x - y or -x, by the operation, mod n. On input: x, y < n. Aliasing: r may be x or y. Timing:
/// variable.
void combine(Operation op, std::span<Limb> r, std::span<const Limb> x, std::span<const Limb> y,
             std::span<const Limb> n) {
  if (op == Operation::addmod) {
    limbs::add_residues_var(r, x, y, n);
  } else if (op == Operation::submod) {
    limbs::subtract_residues_var(r, x, y, n);
  } else {
    limbs::negate_residue_var(r, x, n);
  }
}

/// Sums, differences and negatives of operands of any size and sign.
void run_any_sums(const BucketRun& run) {
  const Job& job = run.job;
  ModulusCursor moduli(run.kernels, job, run.limbs, parts_needed(job));
  Operands operands(run);
  const bool bare =
      job.modulus.negative == nullptr && job.result.negative == nullptr && job.result.width == run.limbs;
  for (const std::size_t item : run.items) {
    if (job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    const std::span<const Limb> x = operands.x(item, n);
    const std::span<const Limb> y = job.op == Operation::negmod ? x : operands.y(item, n);
    // Where nothing else is to be written, the result is computed in its place.
    const std::span<Limb> r = bare ? job.result.magnitude(item) : operands.result();
    if (job.stop.was_requested()) return;
    combine(job.op, r, x, y, n.value());
    if (bare) {
      job.status[item] = ItemStatus::ok;
    } else {
      finish_item(job, item, r, n.value());
    }
  }
}

}  // namespace

void run_add_sub_neg(const BucketRun& run) {
  if (!are_short_sums(run)) return run_any_sums(run);
  const std::vector<std::size_t> rest = run_short_sums(run);
  if (!rest.empty()) run_any_sums({run.kernels, run.job, rest, run.limbs});
}

void run_mul_sqr(const BucketRun& run) {
  const Job& job = run.job;
  const bool square = job.op == Operation::sqrmod;
  ModulusCursor moduli(run.kernels, job, run.limbs, parts_needed(job));
  Operands operands(run);
  limbs::Buffer product(2 * run.limbs);
  const std::span<Limb> r = operands.result();
  for (const std::size_t item : run.items) {
    if (job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    const std::span<const Limb> x = operands.x(item, n);
    const std::span<const Limb> y = square ? x : operands.y(item, n);
    if (n.has(Modulus::kMontgomery) && n.odd() && run.limbs <= kMontgomeryProductLimbs) {
      n.montgomery().mul_plain(r.data(), x.data(), y.data(), operands.scratch());
    } else {
      if (square) {
        run.kernels.square(product.data(), x.data(), run.limbs);
      } else {
        run.kernels.product(product.data(), x.data(), run.limbs, y.data(), run.limbs);
      }
      n.divisor().remainder_var(r, product.first(2 * run.limbs), operands.scratch());
    }
    if (job.op == Operation::fmamod) limbs::add_mod(r, r, operands.z(item, n), n.value());
    if (job.stop.was_requested()) return;
    finish_item(job, item, r, n.value());
  }
}

}  // namespace manymod::scalar64

// SPDX-License-Identifier: Apache-2.0
// Addition, subtraction, negation, multiplication and squaring, and sums and products of terms, modulo an odd
// n. Constant-time: operands of sums are reduced by constant-time division, those of products in Montgomery
// form.
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// One item after another.
class SecretRun {
 public:
  explicit SecretRun(const BucketRun& run)
      : job_(run.job),
        limbs_(run.limbs),
        storage_(3 * run.limbs),
        scratch_(Montgomery::scratch_limbs(run.limbs)) {}

  /// The residue of an item, 0 <= r < n, valid until the next call. Timing: the sizes and signs of the
  /// operands, and the bit length of n, are public.
  std::span<const Limb> residue(std::size_t item, const Modulus& n) {
    switch (job_.op) {
      case Operation::mulmod:
        load_product(item, item, n.montgomery());
        break;
      case Operation::fmamod:
        reduce(job_.z, item, n, total(), job_.z.is_negative(item));
        load_product(item, item, n.montgomery());
        limbs::add_mod(first(), first(), total(), n.value());
        break;
      case Operation::dotmod:
      case Operation::summod:
        return sum(item, n);
      case Operation::prodmod:
        return product(item, n.montgomery());
      case Operation::sqrmod:
        load(job_.x, item, n.montgomery(), first(), false);
        multiply(n.montgomery(), job_.x.magnitude(item));
        break;
      case Operation::negmod:
        reduce(job_.x, item, n, first(), !job_.x.is_negative(item));
        break;
      default:
        reduce(job_.x, item, n, first(), job_.x.is_negative(item));
        reduce(job_.y, item, n, second(), job_.y.is_negative(item) != (job_.op == Operation::submod));
        limbs::add_mod(first(), first(), second(), n.value());
    }
    return first();
  }

 private:
  const Job& job_;
  std::size_t limbs_;
  limbs::Buffer storage_;
  limbs::Buffer scratch_;

  [[nodiscard]] std::span<Limb> first() { return storage_.part(0, limbs_); }
  [[nodiscard]] std::span<Limb> second() { return storage_.part(limbs_, limbs_); }
  [[nodiscard]] std::span<Limb> total() { return storage_.part(2 * limbs_, limbs_); }

  std::span<const Limb> sum(std::size_t item, const Modulus& n) {
    std::ranges::fill(total(), Limb{0});
    for (std::size_t term = 0; term < job_.terms && !job_.stop.requested(); ++term) {
      const std::size_t x = job_.term_index(job_.x, item, term);
      if (job_.op == Operation::dotmod) {
        load_product(x, job_.term_index(job_.y, item, term), n.montgomery());
      } else {
        reduce(job_.x, x, n, first(), job_.x.is_negative(x));
      }
      limbs::add_mod(total(), total(), first(), n.value());
    }
    return total();
  }

  std::span<const Limb> product(std::size_t item, const Montgomery& mont) {
    std::copy_n(mont.one(), limbs_, total().data());
    for (std::size_t term = 0; term < job_.terms && !job_.stop.requested(); ++term) {
      const std::size_t x = job_.term_index(job_.x, item, term);
      load(job_.x, x, mont, first(), job_.x.is_negative(x));
      mont.mul(total().data(), total().data(), first().data(), scratch_.data());
    }
    mont.from_montgomery(total().data(), total().data(), scratch_.data());
    return total();
  }

  /// first() = x y mod n, for these integers of the operands.
  void load_product(std::size_t x, std::size_t y, const Montgomery& mont) {
    load(job_.x, x, mont, first(), job_.x.is_negative(x) != job_.y.is_negative(y));
    multiply(mont, job_.y.magnitude(y));
  }

  /// r = +-|operand| mod n.
  void reduce(const BatchView& view, std::size_t item, const Modulus& n, std::span<Limb> r, bool negative) {
    n.constant_time_divisor().remainder(r, view.magnitude(item), negative, job_.stop);
  }

  /// r = +-|operand| R mod n.
  void load(const BatchView& view, std::size_t item, const Montgomery& mont, std::span<Limb> r,
            bool negative) {
    mont.to_montgomery(r.data(), view.magnitude(item), negative, scratch_.data(), job_.stop);
  }

  /// first() = first() |y| / R mod n, 0 <= first() < n. On input: first() < n. A |y| of no more limbs than n
  /// is below R, so that it is taken as it is; a wider one is reduced.
  void multiply(const Montgomery& mont, std::span<const Limb> y) {
    if (y.size() <= limbs_) {
      limbs::copy_extend(second(), y);
    } else {
      mont.to_montgomery(second().data(), y, false, scratch_.data(), job_.stop);
      mont.from_montgomery(second().data(), second().data(), scratch_.data());
    }
    mont.mul(first().data(), first().data(), second().data(), scratch_.data());
    // For a < n and b < R, (a b + M n) / R < 2 n.
    if (limbs_ > kUnrolledLimbs) limbs::reduce_once(first(), mont.modulus());
  }
};

}  // namespace

void run_linear_secret(const BucketRun& run) {
  ModulusCursor moduli(run.kernels, run.job, run.limbs, parts_needed(run.job));
  SecretRun items(run);
  for (const std::size_t item : run.items) {
    if (run.job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    const std::span<const Limb> residue = items.residue(item, n);
    if (run.job.stop.was_requested()) return;
    finish_item(run.job, item, residue, n.value());
  }
}

}  // namespace manymod::scalar64

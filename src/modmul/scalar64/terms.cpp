// SPDX-License-Identifier: Apache-2.0
// Sums, products and dot products of the terms of an item modulo n. Variable-time.
#include "modexp/windows.hpp"
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// From this many terms on, preparing a modulus of an item's own for Montgomery products costs less than it
/// saves on long divisions.
constexpr std::size_t kMontgomeryTerms = 16;

/// The operands of a bucket as limbs of at most its number of limbs L, below R = 2^(64 L).
class ShortOperands {
 public:
  explicit ShortOperands(const BucketRun& run) : job_(run.job), limbs_(run.limbs) {}

  /// A value congruent to integer `index` of `view`, 0 <= value < R, without leading zero limbs where it is
  /// not negative and no wider than n: such an integer is taken as it is. Valid until the next call with the
  /// same `storage`, of L limbs.
  std::span<const Limb> at(const BatchView& view, std::size_t index, const Modulus& n,
                           std::span<Limb> storage) {
    const std::span<const Limb> magnitude = view.magnitude(index);
    const std::span<const Limb> value = magnitude.first(limbs::normalized_size_var(magnitude));
    const bool negative = view.is_negative(index);
    if (!negative && value.size() <= limbs_) return value;
    return n.residue_var(storage, value, negative, scratch_, job_.stop);
  }

 private:
  const Job& job_;
  std::size_t limbs_;
  limbs::Buffer scratch_;
};

/// Exact sums, divided by n once. A product is below R^2, and there are fewer than 2^64 terms, so that a sum
/// is below 2^64 R^2: 2 L + 1 limbs.
class SumRun {
 public:
  explicit SumRun(const BucketRun& run)
      : run_(run),
        job_(run.job),
        operands_(run),
        storage_(2 * run.limbs),
        sum_(2 * run.limbs + 1),
        product_(2 * run.limbs) {}

  /// Adds all terms of the item. @return false if a stop was requested.
  bool add_item(std::size_t item, const Modulus& n) {
    std::fill_n(sum_.data(), sum_.size(), Limb{0});
    for (std::size_t term = 0; term < job_.terms; ++term) {
      if (job_.stop.requested()) return false;
      const std::size_t x = job_.term_index(job_.x, item, term);
      if (job_.op == Operation::dotmod) {
        add_product(x, job_.term_index(job_.y, item, term), n);
      } else {
        add(operands_.at(job_.x, x, n, storage_.part(0, run_.limbs)));
      }
    }
    return !job_.stop.was_requested();
  }

  /// r = the sum mod n, L limbs.
  void reduce(std::span<Limb> r, const Modulus& n) {
    n.reduce_var(r, sum_.first(limbs::normalized_size_var(sum_.first(sum_.size()))), false, scratch_,
                 job_.stop);
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  ShortOperands operands_;
  limbs::Buffer storage_;  ///< of two operands
  limbs::Buffer sum_;
  limbs::Buffer product_;
  limbs::Buffer scratch_;

  void add(std::span<const Limb> value) {
    const std::span<Limb> low = sum_.first(value.size());
    Limb carry = limbs::add(low, low, value);
    for (std::size_t i = value.size(); carry != 0; ++i)
      sum_.data()[i] = word::add_carry(sum_.data()[i], 0, carry);
  }

  void add_product(std::size_t x_index, std::size_t y_index, const Modulus& n) {
    const auto x = operands_.at(job_.x, x_index, n, storage_.part(0, run_.limbs));
    const auto y = operands_.at(job_.y, y_index, n, storage_.part(run_.limbs, run_.limbs));
    if (x.empty() || y.empty()) return;
    run_.kernels.product(product_.data(), x.data(), x.size(), y.data(), y.size());
    add(product_.first(x.size() + y.size()));
  }
};

/// Products: by Montgomery's method if n is odd and prepared for it, else with a long division for each term.
class ProductRun {
 public:
  explicit ProductRun(const BucketRun& run)
      : run_(run),
        job_(run.job),
        operands_(run),
        storage_(run.limbs),
        factor_(run.limbs),
        product_(2 * run.limbs),
        scratch_(Montgomery::scratch_limbs(run.limbs)),
        schedule_(schedule_for(run.job.terms)),
        workspace_((schedule_.table_entries + 1) * run.limbs) {}

  /// r = the product of the item's terms mod n, L limbs. @return false if a stop was requested.
  bool multiply(std::span<Limb> r, std::size_t item, const Modulus& n) {
    return n.has(Modulus::kMontgomery) && n.odd() ? by_montgomery(r, item, n) : by_division(r, item, n);
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  ShortOperands operands_;
  limbs::Buffer storage_;
  limbs::Buffer factor_;      ///< a term in L limbs
  limbs::Buffer correction_;  ///< R^terms in Montgomery form; kept where all items have one modulus
  limbs::Buffer product_;
  limbs::Buffer scratch_;
  limbs::Buffer division_scratch_;
  SlidingSchedule schedule_;  ///< of the exponent `terms`
  limbs::Buffer workspace_;

  static SlidingSchedule schedule_for(Limb exponent) { return best_sliding_schedule({&exponent, 1}); }

  std::span<const Limb> term_at(std::size_t item, std::size_t term, const Modulus& n) {
    return operands_.at(job_.x, job_.term_index(job_.x, item, term), n, storage_.part(0, run_.limbs));
  }

  // Starting with R, T terms leave R^(1 - T) x_0 x_1 .. mod n, as a product by Montgomery's method divides by
  // R. One by R^T R, which is R^T in Montgomery form, leaves R x_0 x_1 .., the product in Montgomery form.
  bool by_montgomery(std::span<Limb> r, std::size_t item, const Modulus& n) {
    const Montgomery& mont = n.montgomery();
    std::copy_n(mont.one(), run_.limbs, r.begin());
    for (std::size_t term = 0; term < job_.terms; ++term) {
      if (job_.stop.requested()) return false;
      limbs::copy_extend(factor_.first(run_.limbs), term_at(item, term, n));
      mont.mul(r.data(), r.data(), factor_.data(), scratch_.data());
    }
    if (job_.shared == nullptr || correction_.size() == 0) set_correction(mont);
    mont.mul(r.data(), r.data(), correction_.data(), scratch_.data());
    mont.from_montgomery(r.data(), r.data(), scratch_.data());
    return !job_.stop.was_requested();
  }

  // R in Montgomery form is R^2 mod n, that is (R mod n) in Montgomery form.
  void set_correction(const Montgomery& mont) {
    correction_.require(run_.limbs);
    mont.to_montgomery(factor_.data(), {mont.one(), run_.limbs}, false, scratch_.data());
    const Montgomery* const modulus = &mont;
    const MontgomeryLanes lanes({&modulus, 1}, scratch_.data());
    sliding_window_power(lanes, correction_.data(), factor_.data(), schedule_, workspace_.data(), {});
  }

  bool by_division(std::span<Limb> r, std::size_t item, const Modulus& n) {
    std::fill(r.begin(), r.end(), Limb{0});
    r[0] = 1;
    for (std::size_t term = 0; term < job_.terms; ++term) {
      if (job_.stop.requested()) return false;
      const std::span<const Limb> x = term_at(item, term, n);
      std::fill_n(product_.data(), product_.size(), Limb{0});
      if (!x.empty()) run_.kernels.product(product_.data(), r.data(), r.size(), x.data(), x.size());
      n.reduce_var(r, product_.first(run_.limbs + x.size()), false, division_scratch_, job_.stop);
    }
    return !job_.stop.was_requested();
  }
};

}  // namespace

void run_sums(const BucketRun& run) {
  ModulusCursor moduli(run.kernels, run.job, run.limbs, parts_needed(run.job));
  SumRun sums(run);
  limbs::Buffer result(run.limbs);
  const std::span<Limb> r = result.first(run.limbs);
  for (const std::size_t item : run.items) {
    if (run.job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    if (!sums.add_item(item, n)) return;
    sums.reduce(r, n);
    if (run.job.stop.was_requested()) return;
    finish_item(run.job, item, r, n.value());
  }
}

void run_products(const BucketRun& run) {
  const unsigned parts =
      run.job.terms < kMontgomeryTerms ? Modulus::kDivisor : Modulus::kDivisor | Modulus::kMontgomery;
  ModulusCursor moduli(run.kernels, run.job, run.limbs, parts);
  ProductRun products(run);
  limbs::Buffer result(run.limbs);
  const std::span<Limb> r = result.first(run.limbs);
  for (const std::size_t item : run.items) {
    if (run.job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    if (!products.multiply(r, item, n)) return;
    finish_item(run.job, item, r, n.value());
  }
}

}  // namespace manymod::scalar64

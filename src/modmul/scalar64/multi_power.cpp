// SPDX-License-Identifier: Apache-2.0
// Products of powers, x_0^y_0 x_1^y_1 ... mod n. Variable-time.
#include <vector>

#include "modexp/multi.hpp"
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// With larger tables, Straus's method misses the cache and loses to the bucket method.
constexpr std::size_t kMaxTableLimbs = std::size_t{1} << 17;

class MultiPowerRun {
 public:
  explicit MultiPowerRun(const BucketRun& run)
      : run_(run),
        job_(run.job),
        moduli_(run.kernels, run.job, run.limbs, parts_needed(run.job)),
        exponents_(run.job.terms) {}

  /// Computes all items of the bucket.
  void run() {
    for (const std::size_t item : run_.items) {
      if (!compute(item)) return;
    }
  }

 private:
  const BucketRun& run_;
  const Job& job_;
  ModulusCursor moduli_;
  Inverter inverter_;
  std::vector<std::span<const Limb>> exponents_;
  limbs::Buffer bases_;
  limbs::Buffer elements_;
  limbs::Buffer scratch_;
  limbs::Buffer workspace_;

  /// Computes and stores the result of one item. @return false if a stop was requested, as do all below.
  bool compute(std::size_t item) {
    const Modulus& n = moduli_.at(item);
    scratch_.require(Montgomery::scratch_limbs(run_.limbs));
    inverter_.assign(n);
    bases_.require(job_.terms * run_.limbs);
    Limb invertible = 1;
    std::size_t bits = 0;
    for (std::size_t term = 0; term < job_.terms; ++term) {
      if (job_.stop.requested()) return false;
      invertible &= load_term(item, term, n);
      bits = std::max(bits, limbs::bit_length_var(exponents_[term]));
    }
    limbs::Buffer result(run_.limbs);
    limbs::Buffer parts(2 * run_.limbs);
    const std::span<Limb> value = result.first(run_.limbs);
    if (n.odd()) {
      if (!power_mod_odd(value, n, bits)) return false;
    } else {
      const EvenSplit& split = n.split();
      const std::span<Limb> result_mod_odd = parts.part(0, split.odd_part().size());
      const std::span<Limb> result_mod_2k = parts.part(run_.limbs, split.ring().words());
      if (n.has_odd_part() && !power_mod_odd(result_mod_odd, n, bits)) return false;
      if (!power_mod_2k(result_mod_2k, split.ring(), bits)) return false;
      split.combine(value, result_mod_odd, result_mod_2k);
    }
    finish_item_if(job_, item, value, n.value(), invertible);
    return true;
  }

  /// bases_[term] = the base mod n, inverted if the exponent is negative. @return 0 if that inverse does not
  /// exist and is needed, else 1.
  Limb load_term(std::size_t item, std::size_t term, const Modulus& n) {
    const std::size_t x_index = job_.term_index(job_.x, item, term);
    const std::size_t y_index = job_.term_index(job_.y, item, term);
    const std::span<Limb> base = bases_.part(term * run_.limbs, run_.limbs);
    exponents_[term] = job_.y.magnitude(y_index);
    n.reduce_var(base, job_.x.magnitude(x_index), job_.x.is_negative(x_index), scratch_, job_.stop);
    if (!job_.y.is_negative(y_index)) return 1;
    return inverter_.invert(base, base, TimingClass::public_) | limbs::is_zero(exponents_[term]);
  }

  /// r = the product of powers modulo n's odd part. On input: exponents of at most `bits` bits.
  bool power_mod_odd(std::span<Limb> r, const Modulus& n, std::size_t bits) {
    const Montgomery& mont = n.montgomery();
    const Montgomery* const lane[] = {&mont};
    const MontgomeryLanes lanes(lane, scratch_.data());
    elements_.require(job_.terms * mont.limbs());
    for (std::size_t term = 0; term < job_.terms; ++term) {
      if (job_.stop.requested()) return false;
      mont.to_montgomery(elements_.data() + term * mont.limbs(), bases_.part(term * run_.limbs, run_.limbs),
                         false, scratch_.data());
    }
    if (!power(r, lanes, bits)) return false;
    mont.from_montgomery(r.data(), r.data(), scratch_.data());
    return true;
  }

  /// r = the product of powers modulo 2^k.
  bool power_mod_2k(std::span<Limb> r, const PowerOfTwoRing& ring, std::size_t bits) {
    elements_.require(job_.terms * ring.words());
    for (std::size_t term = 0; term < job_.terms; ++term) {
      if (job_.stop.requested()) return false;
      ring.reduce(elements_.part(term * ring.words(), ring.words()),
                  bases_.part(term * run_.limbs, run_.limbs), false);
    }
    return power(r, ring, bits);
  }

  /// r = the product of powers of elements_, all in the form of m.
  template <Monoid M>
  bool power(std::span<Limb> r, const M& m, std::size_t bits) {
    const MultiPlan plan = plan_multi(job_.terms, bits, kMaxTableLimbs / m.words());
    workspace_.require(multi_workspace(m, plan, job_.terms));
    return multi_power(m, plan, r.data(), elements_.data(), exponents_, bits, workspace_.data(), job_.stop);
  }
};

}  // namespace

void run_multi_power(const BucketRun& run) { MultiPowerRun(run).run(); }

}  // namespace manymod::scalar64

// SPDX-License-Identifier: Apache-2.0
// Inverses modulo n: one inversion (safegcd) per item, or per block of items if the modulus is shared.
#include "modmul/scalar64/operations.hpp"

namespace manymod::scalar64 {
namespace {

/// The ring of residues 0 <= x < n with products reduced by long division, for even moduli. Variable-time.
class DivisionRing {
 public:
  DivisionRing(const Kernels& kernels, const Modulus& n)
      : kernels_(kernels), n_(n), product_(2 * n.limbs()), scratch_(Divisor::scratch_limbs(2 * n.limbs())) {}

  /// from_residue and to_residue convert between residues 0 <= x < n and elements of the ring; mul multiplies
  /// elements.
  void from_residue(Limb* r, const Limb* x) { std::copy_n(x, n_.limbs(), r); }
  void to_residue(Limb* r, const Limb* a) { std::copy_n(a, n_.limbs(), r); }
  void mul(Limb* r, const Limb* a, const Limb* b) {
    kernels_.product(product_.data(), a, n_.limbs(), b, n_.limbs());
    n_.divisor().remainder_var({r, n_.limbs()}, product_.first(2 * n_.limbs()), scratch_.data());
  }

 private:
  const Kernels& kernels_;
  const Modulus& n_;
  limbs::Buffer product_;
  limbs::Buffer scratch_;
};

/// The ring of residues in Montgomery form, for odd moduli.
class MontgomeryRing {
 public:
  explicit MontgomeryRing(const Modulus& n) : n_(n), scratch_(Montgomery::scratch_limbs(n.limbs())) {}

  void from_residue(Limb* r, const Limb* x) {
    n_.montgomery().to_montgomery(r, {x, n_.limbs()}, false, scratch_.data());
  }
  void to_residue(Limb* r, const Limb* a) { n_.montgomery().from_montgomery(r, a, scratch_.data()); }
  void mul(Limb* r, const Limb* a, const Limb* b) { n_.montgomery().mul(r, a, b, scratch_.data()); }

 private:
  const Modulus& n_;
  limbs::Buffer scratch_;
};

/// Montgomery's simultaneous inversion (Montgomery, "Speeding the Pollard and elliptic curve methods of
/// factorization", 1987): x_i^-1 = (x_0 ... x_{i-1}) (x_0 ... x_i)^-1, with one inversion for all.
///
/// On input: values holds `count` residues 0 <= x < n of `limbs` limbs. On output: their inverses. @return
/// false, with the values unchanged, if one of them has no inverse. Variable-time.
template <class Ring>
bool invert_block(Ring& ring, Inverter& inverter, std::span<Limb> values, std::size_t count,
                  std::size_t limbs) {
  limbs::Buffer storage((2 * count + 2) * limbs);
  Limb* elements = storage.data();
  Limb* prefixes = elements + count * limbs;
  Limb* inverse = prefixes + count * limbs;
  Limb* out = inverse + limbs;
  for (std::size_t i = 0; i < count; ++i) {
    ring.from_residue(elements + i * limbs, values.data() + i * limbs);
    if (i == 0) {
      std::copy_n(elements, limbs, prefixes);
    } else {
      ring.mul(prefixes + i * limbs, prefixes + (i - 1) * limbs, elements + i * limbs);
    }
  }
  ring.to_residue(inverse, prefixes + (count - 1) * limbs);
  if (inverter.invert({inverse, limbs}, {inverse, limbs}, TimingClass::public_) == 0) return false;
  ring.from_residue(out, inverse);
  std::copy_n(out, limbs, inverse);
  for (std::size_t i = count; i-- > 0;) {
    if (i == 0) {
      std::copy_n(inverse, limbs, out);
    } else {
      ring.mul(out, inverse, prefixes + (i - 1) * limbs);
      ring.mul(inverse, inverse, elements + i * limbs);
    }
    ring.to_residue(values.data() + i * limbs, out);
  }
  return true;
}

/// invmod of a variable-time job with a shared modulus, block by block.
void run_shared_inverse(const BucketRun& run) {
  const Job& job = run.job;
  ModulusCursor moduli(run.kernels, job, run.limbs, 0);
  const Modulus& n = moduli.at(0);
  Inverter inverter;
  inverter.assign(n);
  limbs::Buffer values(kInversionBlock * run.limbs);
  limbs::Buffer scratch;
  MontgomeryRing montgomery_ring(n);
  DivisionRing division_ring(run.kernels, n);
  for (std::size_t first = 0; first < run.items.size(); first += kInversionBlock) {
    if (job.stop.requested()) return;
    const auto block = run.items.subspan(first, std::min(kInversionBlock, run.items.size() - first));
    for (std::size_t i = 0; i < block.size(); ++i) {
      n.reduce_var(values.part(i * run.limbs, run.limbs), job.x.magnitude(block[i]),
                   job.x.is_negative(block[i]), scratch, job.stop);
    }
    if (job.stop.was_requested()) return;
    const std::span<Limb> all = values.first(block.size() * run.limbs);
    const bool all_invertible = n.odd()
                                    ? invert_block(montgomery_ring, inverter, all, block.size(), run.limbs)
                                    : invert_block(division_ring, inverter, all, block.size(), run.limbs);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::span<Limb> value = values.part(i * run.limbs, run.limbs);
      const Limb invertible = all_invertible ? 1 : inverter.invert(value, value, TimingClass::public_);
      finish_item_if(job, block[i], value, n.value(), invertible);
    }
  }
}

}  // namespace

void Inverter::assign(const Modulus& modulus) {
  modulus_ = &modulus;
  if (modulus.has_odd_part()) gcd_.assign(modulus.montgomery().modulus());
  scratch_.require(Montgomery::scratch_limbs(modulus.limbs()) + 3 * modulus.limbs());
}

Limb Inverter::invert(std::span<Limb> r, std::span<const Limb> x, TimingClass timing) {
  if (!modulus_->odd()) return invert_even_var(r, x);
  return timing == TimingClass::secret ? gcd_.invert(r, x) : gcd_.invert_var(r, x);
}

Limb Inverter::invert_even_var(std::span<Limb> r, std::span<const Limb> x) {
  const EvenSplit& split = modulus_->split();
  const std::size_t limbs = modulus_->limbs();
  const std::size_t odd_limbs = split.odd_part().size();
  const std::span<Limb> x_mod_odd(scratch_.data(), odd_limbs);
  const std::span<Limb> x_mod_2k(scratch_.data() + limbs, split.ring().words());
  const std::span<Limb> inverse_mod_2k(scratch_.data() + 2 * limbs, split.ring().words());
  Limb* work = scratch_.data() + 3 * limbs;
  Limb invertible = x[0] & 1;
  if (invertible != 0 && modulus_->has_odd_part()) {
    modulus_->montgomery().to_montgomery(x_mod_odd.data(), x, false, work);
    modulus_->montgomery().from_montgomery(x_mod_odd.data(), x_mod_odd.data(), work);
    invertible = gcd_.invert_var(x_mod_odd, x_mod_odd);
  } else {
    std::fill(x_mod_odd.begin(), x_mod_odd.end(), Limb{0});
  }
  if (invertible == 0) {
    std::fill(r.begin(), r.end(), Limb{0});
    return 0;
  }
  split.ring().reduce(x_mod_2k, x, false);
  split.ring().invert(inverse_mod_2k.data(), x_mod_2k.data());
  split.combine(r, x_mod_odd, inverse_mod_2k);
  return 1;
}

void run_inverse(const BucketRun& run) {
  const Job& job = run.job;
  if (job.shared != nullptr && job.timing == TimingClass::public_) {
    run_shared_inverse(run);
    return;
  }
  ModulusCursor moduli(run.kernels, job, run.limbs, parts_needed(job));
  Inverter inverter;
  limbs::Buffer value(run.limbs);
  limbs::Buffer scratch(Montgomery::scratch_limbs(run.limbs));
  const std::span<Limb> x = value.first(run.limbs);
  for (const std::size_t item : run.items) {
    if (job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    inverter.assign(n);
    if (job.timing == TimingClass::secret) {
      n.montgomery().to_montgomery(x.data(), job.x.magnitude(item), job.x.is_negative(item), scratch.data(),
                                   job.stop);
      n.montgomery().from_montgomery(x.data(), x.data(), scratch.data());
    } else {
      n.reduce_var(x, job.x.magnitude(item), job.x.is_negative(item), scratch, job.stop);
    }
    if (job.stop.was_requested()) return;
    const Limb invertible = inverter.invert(x, x, job.timing);
    finish_item_if(job, item, x, n.value(), invertible);
  }
}

}  // namespace manymod::scalar64

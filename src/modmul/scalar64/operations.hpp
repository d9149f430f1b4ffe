// SPDX-License-Identifier: Apache-2.0
// The operations of scalar64 on a bucket of items. engine.cpp dispatches to them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "modinv/safegcd.hpp"
#include "modmul/scalar64/modulus.hpp"

namespace manymod::scalar64 {

/// Items of one bucket, all with moduli of the same limb count, and the job they belong to.
struct BucketRun {
  const Kernels& kernels;
  const Job& job;
  Items items;
  std::size_t limbs;  ///< of every modulus in the bucket
};

/// The parts of class Modulus that an operation uses.
unsigned parts_needed(Operation op, TimingClass timing, bool shared_modulus);
inline unsigned parts_needed(const Job& job) {
  return parts_needed(job.op, job.timing, job.shared != nullptr);
}

// Each computes the items of a bucket and stores results and statuses. If a stop is requested, it returns
// early.
void run_add_sub_neg(const BucketRun& run);    ///< variable-time
void run_mul_sqr(const BucketRun& run);        ///< mulmod, sqrmod, fmamod
void run_sums(const BucketRun& run);           ///< summod, dotmod
void run_products(const BucketRun& run);       ///< prodmod
void run_linear_secret(const BucketRun& run);  ///< the operations of the four above, constant-time
void run_inverse(const BucketRun& run);
void run_power(const BucketRun& run);
void run_multi_power(const BucketRun& run);
void run_fixed_base_power(const BucketRun& run);

/// Whether run_short_sums takes the bucket: at most 8 limbs in every array, and no signs.
bool are_short_sums(const BucketRun& run);
/// addmod, submod or negmod of a bucket, variable-time; @return the items that it leaves over, whose operands
/// are not reduced.
std::vector<std::size_t> run_short_sums(const BucketRun& run);

/// Items whose inverses are computed together, with one inversion (shared modulus, variable-time).
inline constexpr std::size_t kInversionBlock = 64;

/// Lanes for moduli of `limbs` limbs. The carry chains of short numbers leave the multiplier idle unless
/// those of other lanes overlap with them.
std::size_t lanes_for(std::size_t limbs);

/// A comb of `base` for fixed_base_powmod with exponents of up to `exponent_bits` bits. Null if a stop was
/// requested.
std::unique_ptr<PreparedBase> prepare_comb(const Kernels& kernels, const BatchView& base,
                                           std::span<const Limb> modulus, std::size_t exponent_bits,
                                           TimingClass timing, const StopToken& stop);

/// Inverses modulo an odd or even modulus.
class Inverter {
 public:
  /// On input: a modulus with part kMontgomery; it must outlive the inversions.
  void assign(const Modulus& modulus);

  /// r = x^-1 mod n. On input: 0 <= x < n in n.limbs() limbs; n odd if `timing` is secret. On output: r < n.
  /// @return 1, or 0 with r = 0 if there is no inverse. Aliasing: r may be x. Timing: as `timing` asks.
  Limb invert(std::span<Limb> r, std::span<const Limb> x, TimingClass timing);

 private:
  const Modulus* modulus_ = nullptr;
  SafeGcd gcd_;
  limbs::Buffer scratch_;

  Limb invert_even_var(std::span<Limb> r, std::span<const Limb> x);
};

/// Stores an item's residue with status ok.
void finish_item(const Job& job, std::size_t item, std::span<const Limb> residue,
                 std::span<const Limb> modulus);

/// Stores an item's residue with status ok if invertible is 1, or 0 with status not_invertible if it is 0. On
/// output: the residue is overwritten. Timing: constant-time, no branch on `invertible`.
void finish_item_if(const Job& job, std::size_t item, std::span<Limb> residue, std::span<const Limb> modulus,
                    Limb invertible);

}  // namespace manymod::scalar64

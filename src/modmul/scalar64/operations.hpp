// SPDX-License-Identifier: Apache-2.0
// The operations of scalar64 on a bucket of items; engine.cpp chooses among them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "modinv/safegcd.hpp"
#include "modmul/scalar64/modulus.hpp"

namespace manymod::scalar64 {

/// Items of a bucket and what is common to them.
struct BucketRun {
  const Kernels& kernels;
  const Job& job;
  Items items;
  std::size_t limbs;  ///< of every modulus in the bucket
};

/// Parts of a modulus that an operation works with. Class secret never divides: the divisor is variable time.
unsigned parts_needed(Operation op, TimingClass timing, bool shared_modulus);
inline unsigned parts_needed(const Job& job) {
  return parts_needed(job.op, job.timing, job.shared != nullptr);
}

void run_add_sub_neg(const BucketRun& run);
void run_mul_sqr(const BucketRun& run);
void run_inverse(const BucketRun& run);
void run_power(const BucketRun& run);
void run_multi_power(const BucketRun& run);
void run_fixed_base_power(const BucketRun& run);

/// Items whose inverses are computed together with one inversion (shared modulus, class public).
inline constexpr std::size_t kInversionBlock = 64;

/// Lanes that pay for `limbs` limbs: short carry chains leave the multiplier idle unless a second one fills
/// in.
std::size_t lanes_for(std::size_t limbs);

/// Null if a stop was requested.
std::unique_ptr<PreparedBase> prepare_comb(const Kernels& kernels, const BatchView& base,
                                           std::span<const Limb> modulus, std::size_t exponent_bits,
                                           TimingClass timing, const StopToken& stop);

/// Inverses modulo one modulus after another, odd or even.
class Inverter {
 public:
  /// The modulus, with part kMontgomery, must outlive the inversions.
  void assign(const Modulus& modulus);

  /// r = x^-1 mod n, 0 <= x < n in n.limbs() limbs; r may be x. Returns 0, and r = 0, if there is none.
  /// Class secret needs an odd n.
  Limb invert(std::span<Limb> r, std::span<const Limb> x, TimingClass timing);

 private:
  const Modulus* modulus_ = nullptr;
  SafeGcd gcd_;
  limbs::Buffer scratch_;

  Limb invert_even_var(std::span<Limb> r, std::span<const Limb> x);
};

/// Store an item's residue, with status ok.
void finish_item(const Job& job, std::size_t item, std::span<const Limb> residue,
                 std::span<const Limb> modulus);

/// The same where `invertible` is 1; where it is 0, store 0 and status not_invertible. No branch on it. The
/// residue is overwritten.
void finish_item_if(const Job& job, std::size_t item, std::span<Limb> residue, std::span<const Limb> modulus,
                    Limb invertible);

}  // namespace manymod::scalar64

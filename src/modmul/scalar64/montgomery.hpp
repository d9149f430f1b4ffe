// SPDX-License-Identifier: Apache-2.0
// Montgomery multiplication on 64-bit limbs (P. L. Montgomery, "Modular multiplication without trial
// division", 1985) modulo an odd number, and its adapter to the concept Monoid of modexp/.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/ticker.hpp"
#include "modmul/scalar64/kernels.hpp"
#include "repr/limbs.hpp"
#include "repr/verify.hpp"

namespace manymod::scalar64 {

/// An odd modulus n > 1 of L limbs (top limb not 0) with precomputed R = 2^(64 L), n0 = -n^-1 mod 2^64, R mod
/// n and R^2 mod n.
///
/// Ranges. An element in Montgomery form is congruent to x R mod n:
///   L <= kUnrolledLimbs: fully reduced, 0 <= element < n;
///   L > kUnrolledLimbs: almost reduced, 0 <= element < R.
/// mul and sqr preserve both ranges: for a, b < R the reduction gives (a b + M n) / R < R + n, and one n is
/// subtracted if that is R or more.
///
/// Timing: constant-time; times and addresses depend on L and on the bit length of n only.
class Montgomery {
 public:
  explicit Montgomery(const Kernels& kernels) : kernels_(&kernels) {}
  Montgomery(Montgomery&&) = default;
  Montgomery& operator=(Montgomery&&) = default;
  Montgomery(const Montgomery&) = delete;
  Montgomery& operator=(const Montgomery&) = delete;
  /// n0 reveals the lowest limb of n, so it is wiped.
  ~Montgomery() { wipe_bytes(&n0_, sizeof n0_); }

  /// Prepares for n. Storage is reused from call to call.
  void assign(std::span<const Limb> n);

  [[nodiscard]] std::size_t limbs() const { return limbs_; }
  [[nodiscard]] std::span<const Limb> modulus() const { return data_.part(0, limbs_); }
  /// R mod n: the element 1.
  [[nodiscard]] const Limb* one() const { return data_.data() + limbs_; }
  [[nodiscard]] const Kernels& kernels() const { return *kernels_; }

  /// Limbs of scratch that each function below needs. Scratch must not overlap operands.
  [[nodiscard]] static constexpr std::size_t scratch_limbs(std::size_t limbs) { return 3 * limbs; }

  /// r = a b / R mod n. On input and output: elements in the range above. Aliasing: r may be a or b.
  void mul(Limb* r, const Limb* a, const Limb* b, Limb* scratch) const {
    if (limbs_ <= kUnrolledLimbs) {
      MANYMOD_VERIFY_RANGE(at_most_n(a) || at_most_n(b));
      kernels_->unrolled_mul[limbs_](r, a, b, data_.data(), n0_);
      MANYMOD_VERIFY_RANGE(limbs::less({r, limbs_}, modulus()) == 1);
    } else {
      kernels_->product(scratch, a, limbs_, b, limbs_);
      kernels_->reduce(r, scratch, data_.data(), n0_, limbs_);
    }
  }
  /// r = a^2 / R mod n. Range as for mul. Aliasing: r may be a.
  void sqr(Limb* r, const Limb* a, Limb* scratch) const {
    if (limbs_ <= kUnrolledLimbs) {
      MANYMOD_VERIFY_RANGE(at_most_n(a));
      kernels_->unrolled_sqr[limbs_](r, a, data_.data(), n0_);
      MANYMOD_VERIFY_RANGE(limbs::less({r, limbs_}, modulus()) == 1);
    } else {
      kernels_->square(scratch, a, limbs_);
      kernels_->reduce(r, scratch, data_.data(), n0_, limbs_);
    }
  }

  /// r = x R mod n, or -|x| R mod n if `negative`, which is public. On input: |x| of any size. On output: 0
  /// <= r < n; some residue if a stop was requested. Aliasing: r must not overlap x.
  void to_montgomery(Limb* r, std::span<const Limb> x, bool negative, Limb* scratch,
                     const StopToken& stop = {}) const;
  /// r = x mod n. On input: x of any size but 0. On output: 0 <= r < n. Aliasing: r must not overlap x.
  void remainder(Limb* r, std::span<const Limb> x, Limb* scratch) const;
  /// r = a b mod n for plain residues. On input: a, b < n. On output: 0 <= r < n. Aliasing: r may be a or b.
  void mul_plain(Limb* r, const Limb* a, const Limb* b, Limb* scratch) const {
    MANYMOD_VERIFY_RANGE(limbs::less({a, limbs_}, modulus()) == 1 &&
                         limbs::less({b, limbs_}, modulus()) == 1);
    mul(r, a, b, scratch);
    mul(r, r, r_squared(), scratch);
    // Since R^2 mod n < n, the second product is below 2 n.
    if (limbs_ > kUnrolledLimbs) limbs::reduce_once({r, limbs_}, modulus());
  }
  /// r = a / R mod n. On input: an element. On output: 0 <= r < n. Aliasing: r may be a.
  void from_montgomery(Limb* r, const Limb* a, Limb* scratch) const;

 private:
  const Kernels* kernels_;
  std::size_t limbs_ = 0;
  Limb n0_ = 0;
  limbs::Buffer data_;  ///< n, R mod n, R^2 mod n: L limbs each; then scratch for assign

  [[nodiscard]] const Limb* r_squared() const { return data_.data() + 2 * limbs_; }
  /// r = x f / R mod n, f < n. Ranges and aliasing as for to_montgomery.
  void combine_chunks(Limb* r, std::span<const Limb> x, const Limb* f, Limb* scratch,
                      const StopToken& stop) const;
#if MANYMOD_VERIFY
  [[nodiscard]] bool at_most_n(const Limb* a) const { return limbs::less(modulus(), {a, limbs_}) == 0; }
#endif
};

/// The elements of `lanes` independent moduli, one after the other in memory. Out-of-order cores overlap the
/// carry chains of different lanes. Models the concepts Monoid and TableMonoid of
/// modexp/monoid.hpp.
class MontgomeryLanes {
 public:
  /// On input: one modulus per lane, all with the same limb count; both the array and the moduli must outlive
  /// this object. scratch: Montgomery::scratch_limbs.
  MontgomeryLanes(std::span<const Montgomery* const> moduli, Limb* scratch)
      : moduli_(moduli), words_(moduli.front()->limbs()), scratch_(scratch) {}

  [[nodiscard]] std::size_t lanes() const { return moduli_.size(); }
  [[nodiscard]] std::size_t words() const { return words_ * lanes(); }
  /// A multiplier of one of the lanes.
  [[nodiscard]] MontgomeryLanes single(std::size_t lane) const {
    return {moduli_.subspan(lane, 1), scratch_};
  }

  void mul(Limb* r, const Limb* a, const Limb* b) const {
    for_each_lane(
        [&](std::size_t lane, std::size_t at) { moduli_[lane]->mul(r + at, a + at, b + at, scratch_); });
  }
  void sqr(Limb* r, const Limb* a) const {
    for_each_lane([&](std::size_t lane, std::size_t at) { moduli_[lane]->sqr(r + at, a + at, scratch_); });
  }
  void set_one(Limb* r) const {
    for_each_lane(
        [&](std::size_t lane, std::size_t at) { std::copy_n(moduli_[lane]->one(), words_, r + at); });
  }
  void gather(Limb* r, const Limb* table, std::span<const std::uint32_t> indices) const {
    for_each_lane([&](std::size_t lane, std::size_t at) {
      std::copy_n(table + indices[lane] * words() + at, words_, r + at);
    });
  }
  void select(Limb* r, const Limb* table, std::size_t entries, std::span<const std::uint32_t> indices) const {
    for_each_lane([&](std::size_t lane, std::size_t at) {
      kernels().select(r + at, table + at, entries, words(), words_, indices[lane]);
    });
  }
  void gather_shared(Limb* r, const Limb* table, std::span<const std::uint32_t> indices) const {
    for_each_lane([&](std::size_t lane, std::size_t at) {
      std::copy_n(table + indices[lane] * words_, words_, r + at);
    });
  }
  void select_shared(Limb* r, const Limb* table, std::size_t entries,
                     std::span<const std::uint32_t> indices) const {
    for_each_lane([&](std::size_t lane, std::size_t at) {
      kernels().select(r + at, table, entries, words_, words_, indices[lane]);
    });
  }

 private:
  std::span<const Montgomery* const> moduli_;
  std::size_t words_;
  Limb* scratch_;

  [[nodiscard]] const Kernels& kernels() const { return moduli_.front()->kernels(); }

  /// step(lane, index of the lane's first limb)
  template <class Step>
  void for_each_lane(Step step) const {
    for (std::size_t lane = 0; lane < lanes(); ++lane) step(lane, lane * words_);
  }
};

}  // namespace manymod::scalar64

// SPDX-License-Identifier: Apache-2.0
// The moduli in the lanes of one vector, prepared for Montgomery arithmetic.
#pragma once

#include <cstddef>
#include <span>

#include "core/ticker.hpp"
#include "lanes/kernels.hpp"
#include "repr/limbs.hpp"

namespace manymod::lanes {

/// G odd moduli n > 1, one per lane, with the values precomputed for multiplication, conversion and final
/// reduction. Notation, elements and ranges: see lanes::Kernels. Timing: constant-time, except that the bit
/// lengths of the moduli are public.
class Moduli {
 public:
  explicit Moduli(const Kernels& kernels) : kernels_(&kernels) {}

  /// Prepares for moduli[lane] in `digits` digits, which is Kernels::digits_for of the longest modulus.
  /// Storage, `scratch` included, is reused from call to call.
  void assign(std::span<const std::span<const Limb>> moduli, std::size_t digits, limbs::Buffer& scratch);

  [[nodiscard]] const Kernels& kernels() const { return *kernels_; }
  [[nodiscard]] std::size_t digits() const { return digits_; }
  /// Words of one element.
  [[nodiscard]] std::size_t words() const { return digits_ * kernels_->lanes; }
  /// Words of scratch, aligned to 64 bytes, that suffice for every function below.
  [[nodiscard]] std::size_t scratch_words() const { return spare_offset() + words(); }

  /// The modulus block (see lanes::Kernels).
  [[nodiscard]] const Limb* block() const { return part(0); }
  /// R mod n, 0 <= value < n.
  [[nodiscard]] const Limb* one() const { return part(1); }

  /// Kernels::mul, sqr and sqr_select modulo these moduli.
  void mul(Limb* r, const Limb* a, const Limb* b, Limb* scratch) const {
    kernels_->mul(r, a, b, part(0), digits_, scratch);
  }
  void sqr(Limb* r, const Limb* a, Limb* scratch) const { kernels_->sqr(r, a, part(0), digits_, scratch); }
  void sqr_select(Limb* r, const Limb* a, Limb* scratch, const SelectShare& share) const {
    kernels_->sqr_select(r, a, part(0), digits_, scratch, share);
  }

  /// r = x[lane] R mod n, or -|x[lane]| R mod n where negative[lane], which is public. On input: |x| of any
  /// size. On output: almost reduced; some residues if a stop was requested. Aliasing: r must not overlap
  /// scratch.
  void to_montgomery(Limb* r, std::span<const std::span<const Limb>> x, std::span<const bool> negative,
                     Limb* scratch, const StopToken& stop = {}) const;
  /// r = a / R mod n. On input: almost reduced. On output: 0 <= r < n, exact digits. Aliasing: r may be a.
  void from_montgomery(Limb* r, const Limb* a, Limb* scratch) const;
  /// r = a mod n. On input: a < 4 n. On output: 0 <= r < n, exact digits. Aliasing: r may be a.
  void reduce(Limb* r, const Limb* a) const;
  /// r = a + b mod n. On input: 0 <= a, b < n, exact digits. On output: 0 <= r < n, exact digits. Aliasing: r
  /// may be a or b.
  void add(Limb* r, const Limb* a, const Limb* b) const { kernels_->add_mod(r, a, b, part(0), digits_); }
  /// r = x[lane], as digits. On input: x < R. spare: words() words, aligned as an element. Aliasing: spare is
  /// not r.
  void import_digits(Limb* r, std::span<const std::span<const Limb>> x, Limb* spare) const;
  /// The canonical limbs of every lane: limb i of lane l in word i G + l. On input: exact digits, a < 2^(64
  /// limb_count).
  void export_limbs(Limb* limbs, std::size_t limb_count, const Limb* a) const;

 private:
  const Kernels* kernels_;
  std::size_t digits_ = 0;
  limbs::Buffer data_;

  /// Parts of data_: 0 the modulus block; 1 R mod n; 2 R^2 mod n; 3 the bound of almost reduced elements, 2 n
  /// (n if headroom_bits < 2); 4 zero.
  [[nodiscard]] const Limb* part(std::size_t index) const { return data_.data() + offset(index); }
  [[nodiscard]] Limb* part(std::size_t index) { return data_.data() + offset(index); }
  [[nodiscard]] std::size_t offset(std::size_t index) const {
    return index == 0 ? 0 : whole_lines(block_words()) + (index - 1) * whole_lines(words());
  }
  /// Words of the modulus block.
  [[nodiscard]] std::size_t block_words() const {
    return kernels_->modulus_words != nullptr ? kernels_->modulus_words(digits_) : words() + kernels_->lanes;
  }
  /// `words` rounded up to whole cache lines of 64 bytes, so that the next part is aligned.
  [[nodiscard]] static std::size_t whole_lines(std::size_t words) { return (words + 7) / 8 * 8; }
  /// Index in scratch of a temporary element, after the scratch of the kernels.
  [[nodiscard]] std::size_t spare_offset() const { return whole_lines(kernels_->scratch_words(digits_)); }
  /// a = 2 a mod bound. On input: a < bound.
  void double_mod(Limb* a, const Limb* bound) const { kernels_->add_mod(a, a, a, bound, digits_); }
  /// Precomputations of assign(): parts 1, 2 and 3. start: the largest number with 2^start < n in all lanes.
  void compute_one(std::size_t start);
  void compute_r_squared(std::size_t start, limbs::Buffer& scratch);
  /// Whether Kernels::shift_mod serves moduli above 2^start.
  [[nodiscard]] bool can_shift(std::size_t start) const {
    return kernels_->shift_mod != nullptr &&
           start + 3 * kernels_->digit_bits >= digits_ * kernels_->digit_bits;
  }
  void set_bound();
  /// a = bound - a in the lanes marked `negative`. On input and output: almost reduced.
  void negate_lanes(Limb* a, std::span<const bool> negative) const;
  /// r = floor(x[lane] / 2^from_bit) mod R, as digits.
  void import_chunk(Limb* r, std::span<const std::span<const Limb>> x, std::size_t from_bit) const;
  /// export_limbs for one lane.
  void export_lane(Limb* limbs, std::size_t limb_count, const Limb* a, std::size_t lane) const;
};

}  // namespace manymod::lanes

// SPDX-License-Identifier: Apache-2.0
// One modulus with everything that the operations of scalar64 precompute for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "engine/engine.hpp"
#include "modmul/constant_time_division.hpp"
#include "modmul/division.hpp"
#include "modmul/power_of_two.hpp"
#include "modmul/scalar64/montgomery.hpp"

namespace manymod::scalar64 {

/// |n| > 1 with precomputed parts. Accessors of parts that assign() did not ask for must not be used.
class Modulus {
 public:
  /// Part: a divisor, for long division by n.
  static constexpr unsigned kDivisor = 1;
  /// Part: Montgomery form modulo n's odd part, and the split of an even n.
  static constexpr unsigned kMontgomery = 2;
  /// Part: a divisor for constant-time remainders.
  static constexpr unsigned kConstantTimeDivisor = 4;

  explicit Modulus(const Kernels& kernels) : montgomery_(kernels) {}

  /// Prepares the parts of n, whose top limb is not 0. n is referenced, not copied; other storage is reused
  /// from call to call.
  void assign(std::span<const Limb> n, unsigned parts);

  [[nodiscard]] std::span<const Limb> value() const { return value_; }
  [[nodiscard]] std::size_t limbs() const { return value_.size(); }
  [[nodiscard]] bool odd() const { return (value_[0] & 1) != 0; }
  /// False for a power of two, whose odd part is 1: montgomery() is unset then.
  [[nodiscard]] bool has_odd_part() const { return odd() || !split_.odd_part_is_one(); }

  [[nodiscard]] bool has(unsigned part) const { return (parts_ & part) != 0; }
  [[nodiscard]] const Divisor& divisor() const { return divisor_; }
  [[nodiscard]] const ConstantTimeDivisor& constant_time_divisor() const { return constant_time_divisor_; }
  [[nodiscard]] const Montgomery& montgomery() const { return montgomery_; }  ///< modulo n, or n's odd part
  [[nodiscard]] const EvenSplit& split() const { return split_; }             ///< n even only

  /// r = x mod n, or -|x| mod n if `negative`. On input: |x| of any size; r.size() == limbs(). On output: 0
  /// <= r < n; some residue if a stop was requested. Aliasing: r may overlap x. Timing: variable. If a
  /// divisor is needed and was not prepared, a temporary one is.
  void reduce_var(std::span<Limb> r, std::span<const Limb> x, bool negative, limbs::Buffer& scratch,
                  const StopToken& stop) const;

  /// The same without a needless copy: returns x's own limbs if 0 <= x < n, else `storage`.
  [[nodiscard]] std::span<const Limb> residue_var(std::span<Limb> storage, std::span<const Limb> x,
                                                  bool negative, limbs::Buffer& scratch,
                                                  const StopToken& stop) const {
    if (!negative && x.size() >= limbs() && limbs::less_var(x, value_)) return x.first(limbs());
    reduce_var(storage, x, negative, scratch, stop);
    return storage;
  }

 private:
  std::span<const Limb> value_;
  unsigned parts_ = 0;
  Divisor divisor_;
  ConstantTimeDivisor constant_time_divisor_;
  Montgomery montgomery_;
  EvenSplit split_;
};

/// A plan's shared modulus.
class PreparedSharedModulus final : public PreparedModulus {
 public:
  PreparedSharedModulus(const Kernels& kernels, std::span<const Limb> n, unsigned parts)
      : value_(n.size()), modulus_(kernels) {
    std::copy(n.begin(), n.end(), value_.data());
    modulus_.assign(value_.first(n.size()), parts);
  }
  [[nodiscard]] const Modulus& modulus() const { return modulus_; }

 private:
  limbs::Buffer value_;
  Modulus modulus_;
};

/// The moduli of one item after another: the plan's shared modulus, or one that is prepared for each item in
/// turn.
class ModulusCursor {
 public:
  ModulusCursor(const Kernels& kernels, const Job& job, std::size_t limbs, unsigned parts)
      : job_(job), limbs_(limbs), parts_(parts), own_(kernels) {}

  /// The modulus of `item`. Valid until the next call. It is a copy: others may write to the caller's memory
  /// meanwhile. If its length has changed since the bucket was formed, it is some modulus of that length; in
  /// constant time it is odd.
  const Modulus& at(std::size_t item) {
    if (job_.shared != nullptr) return static_cast<const PreparedSharedModulus*>(job_.shared)->modulus();
    own_.assign(copied(item), parts_);
    return own_;
  }
  /// The same for a modulus that was seen to be odd, or even. If it no longer is, it is some modulus that is.
  const Modulus& at(std::size_t item, bool odd) {
    if (job_.shared != nullptr) return at(item);
    const std::span<Limb> n = copied(item);
    n[0] = (n[0] & ~Limb{1}) | Limb{odd};
    own_.assign(n, parts_);
    return own_;
  }

 private:
  const Job& job_;
  std::size_t limbs_;
  unsigned parts_;
  limbs::Buffer value_;
  Modulus own_;

  std::span<Limb> copied(std::size_t item) {
    const std::span<const Limb> n = job_.modulus.magnitude(item).first(limbs_);
    value_.require(limbs_);
    const std::span<Limb> copy = value_.first(limbs_);
    std::copy(n.begin(), n.end(), copy.begin());
    // The top limb of n is not 0, and n > 1. Without a branch, as moduli may be secret.
    const Limb shorter = word::is_zero_bit(limbs_ == 1 ? copy.back() >> 1 : copy.back());
    copy.back() |= shorter << (kLimbBits - 1);
    if (job_.timing == TimingClass::secret) copy[0] |= 1;  // no others are computed in constant time
    return copy;
  }
};

}  // namespace manymod::scalar64

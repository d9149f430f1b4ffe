// SPDX-License-Identifier: Apache-2.0
// A field on instances in the lanes of vectors (field/field.hpp), over lanes::Kernels of digits of 29 or 52
// bits: ifma52, radix29 and dpf52. Each lane has its own modulus.
//
// Ranges. With w = digit_bits and L digits, R = 2^(w L), digits are chosen so that R >= 16 n (two bits more
// than lanes::Kernels::headroom_bits, which is at least 2), and B = 2 n.
//   An element of magnitude m is below 2 m n <= 16 n <= R. It has exact digits if a function of this class
//   wrote it, else the digits that Kernels::mul leaves.
//
//   mul: a b < m(a) m(b) (2n)^2 <= 16 n^2 <= R n, so that (a b + q n) / R < 2 n with q < R. Kernels with
//   three bits of headroom leave (a b + q n + q' n) / R with a further q' n / R <= n / 2^w
//   (modmul/ifma52/row.hpp); there R >= 32 n, and the result is below n / 2 + n + n / 2^w < 2 n.
//
//   add, sub: sums stay below R by the rule on magnitudes.
//
//   half: (2 m n + n) / 2 <= ((m + 1) / 2) 2 n, and 2 m n + n < 16 n for m < 8.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>

#include "arch/scalar/word.hpp"
#include "field/field.hpp"
#include "field/lane_digits.hpp"
#include "lanes/moduli.hpp"
#include "lanes/multiplier.hpp"
#include "modinv/safegcd.hpp"
#include "repr/limbs.hpp"

namespace manymod::field {

/// Bits of headroom that a field's digits have beyond those of lanes::Kernels.
inline constexpr std::size_t kLaneHeadroomBits = 2;

/// Digits of a field in lanes for moduli of at most `bits` bits.
constexpr std::size_t lane_field_digits(const lanes::Kernels& kernels, std::size_t bits) {
  return kernels.digits_for(bits + kLaneHeadroomBits);
}

/// Vectors that a field computes side by side: two for short numbers, whose dependent steps leave gaps.
constexpr std::size_t lane_field_vectors(const lanes::Kernels& kernels, std::size_t digits) {
  return digits <= kernels.paired_digits ? 2 : 1;
}

/// A truth value for each lane: all ones or 0.
struct alignas(64) LaneMask {
  Limb lane[kMaxLanes];

  friend LaneMask operator&(const LaneMask& a, const LaneMask& b) {
    LaneMask r;
    for (std::size_t i = 0; i < kMaxLanes; ++i) r.lane[i] = a.lane[i] & b.lane[i];
    return r;
  }
  friend LaneMask operator|(const LaneMask& a, const LaneMask& b) {
    LaneMask r;
    for (std::size_t i = 0; i < kMaxLanes; ++i) r.lane[i] = a.lane[i] | b.lane[i];
    return r;
  }
  friend LaneMask operator~(const LaneMask& a) {
    LaneMask r;
    for (std::size_t i = 0; i < kMaxLanes; ++i) r.lane[i] = ~a.lane[i];
    return r;
  }
};

/// Arithmetic in lanes() lanes at once. Functions: see field/field.hpp. Elements have room for kWords words;
/// words() of them are in use. One thread at a time: functions share the object's scratch memory.
template <std::size_t kWords>
class LaneField {
 public:
  /// Structure of arrays, as lanes::Multiplier has it.
  struct Element : Carried {
    alignas(64) Limb words[kWords];
  };
  using Mask = LaneMask;
  using Source = std::span<const std::span<const Limb>>;  ///< one number a lane, of any number of limbs
  using Sink = std::span<const std::span<Limb>>;  ///< one number a lane; each must have room for its n

  /// One or two objects, of lane_field_digits digits each, which must outlive the field. Throws
  /// std::invalid_argument where the kernels, the digits or kWords do not fit.
  explicit LaneField(std::span<const lanes::Moduli* const> moduli)
      : moduli_(copied(moduli)),
        count_(moduli.size()),
        kernels_(moduli.front()->kernels()),
        operations_(lane_digits(kernels_)),
        digits_(moduli.front()->digits()),
        vector_words_(moduli.front()->words()),
        limb_count_(limbs_for_bits(digits_ * kernels_.digit_bits)),
        scratch_(moduli.front()->scratch_words()),
        constants_(kConstants * words()),
        limbs_(limb_count_ * lanes()),
        multiplier_(std::span(moduli_).first(count_), scratch_.data()) {
    if (operations_ == nullptr || words() > kWords || lanes() > kMaxLanes) {
      throw std::invalid_argument("a field cannot be built on these lane kernels");
    }
    for_each_vector([&](std::size_t v, std::size_t at) {
      const Limb* n = moduli_[v]->block();
      operations_->add(constants(0) + at, n, n, digits_);
      operations_->add(constants(1) + at, constants(0) + at, constants(0) + at, digits_);
      operations_->add(constants(2) + at, constants(1) + at, constants(1) + at, digits_);
    });
  }
  LaneField(const LaneField&) = delete;
  LaneField& operator=(const LaneField&) = delete;

  [[nodiscard]] std::size_t lanes() const { return count_ * kernels_.lanes; }
  [[nodiscard]] std::size_t words() const { return count_ * vector_words_; }

  void zero(Element& r) const {
    Rules::set(r, 1);
    std::fill_n(r.words, words(), Limb{0});
  }
  void one(Element& r) const {
    Rules::set(r, 1);
    multiplier_.set_one(r.words);
  }
  void from_limbs(Element& r, Source x) const {
    Rules::set(r, 1);
    static constexpr bool kPositive[kMaxLanes] = {};
    const std::size_t each = kernels_.lanes;
    for_each_vector([&](std::size_t v, std::size_t at) {
      moduli_[v]->to_montgomery(r.words + at, x.subspan(v * each, each), std::span(kPositive).first(each),
                                scratch_.data());
    });
  }
  void to_limbs(Sink x, const Element& a) const {
    check(a);
    Rules::read(a);
    leave(a);
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      for (std::size_t i = 0; i < x[lane].size(); ++i) x[lane][i] = i < limb_count_ ? limb(lane, i) : 0;
    }
  }

  void mul(Element& r, const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::mul(r, a, b);
    multiplier_.mul(r.words, a.words, b.words);
    check(r);
  }
  void sqr(Element& r, const Element& a) const {
    check(a);
    Rules::sqr(r, a);
    multiplier_.sqr(r.words, a.words);
    check(r);
  }
  void add(Element& r, const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::add(r, a, b);
    for_each_vector([&](std::size_t /*v*/, std::size_t at) {
      operations_->add(r.words + at, a.words + at, b.words + at, digits_);
    });
  }
  template <unsigned kOfB = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    check(a), check(b);
    Rules::sub<kOfB>(r, a, b);
    const Limb* multiple = multiple_of_bound<kOfB>();
    for_each_vector([&](std::size_t /*v*/, std::size_t at) {
      operations_->sub(r.words + at, a.words + at, b.words + at, multiple + at, digits_);
    });
  }
  template <unsigned kOfA = 1>
  void neg(Element& r, const Element& a) const {
    check(a);
    Rules::neg<kOfA>(r, a);
    const Limb* multiple = multiple_of_bound<kOfA>();
    for_each_vector([&](std::size_t /*v*/, std::size_t at) {
      operations_->sub(r.words + at, constants(kZero) + at, a.words + at, multiple + at, digits_);
    });
  }
  void half(Element& r, const Element& a) const {
    check(a);
    Rules::half(r, a);
    for_each_vector([&](std::size_t v, std::size_t at) {
      operations_->half(r.words + at, a.words + at, moduli_[v]->block(), digits_);
    });
  }
  /// From below kOfA B: kOfA / 2 B, .., 2 B, B are subtracted where they fit.
  template <unsigned kOfA = kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    check(a);
    Rules::normalize_weak<kOfA>(r, a);
    for_each_vector([&](std::size_t /*v*/, std::size_t at) {
      const Limb* from = a.words + at;
      if constexpr (kOfA >= 8) from = less(r.words + at, from, multiple_of_bound<4>() + at);
      if constexpr (kOfA >= 4) from = less(r.words + at, from, multiple_of_bound<2>() + at);
      less(r.words + at, from, multiple_of_bound<1>() + at);
    });
  }
  void cmov(Element& r, const Element& a, const Mask& mask) const {
    check(a), check(r);
    Rules::cmov(r, a);
    for_each_vector([&](std::size_t v, std::size_t at) {
      operations_->cmov(r.words + at, a.words + at, mask.lane + v * kernels_.lanes, digits_);
    });
  }
  [[nodiscard]] Mask is_zero(const Element& a) const {
    check(a);
    Rules::read_reduced(a);
    Mask mask{};
    for_each_vector([&](std::size_t v, std::size_t at) {
      operations_->is_zero(mask.lane + v * kernels_.lanes, a.words + at, moduli_[v]->block(), digits_);
    });
    return mask;
  }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const {
    Rules::read_reduced(a), Rules::read_reduced(b);
    Element difference;
    sub(difference, a, b);
    normalize_weak<2>(difference, difference);
    return is_zero(difference);
  }
  /// By division steps in scalar code, lane after lane: for one inversion of many elements, Montgomery's
  /// trick comes first.
  Mask inverse(Element& r, const Element& a) const {
    check(a);
    Rules::read(a);
    std::array<limbs::Buffer, kMaxLanes> values;
    std::array<std::span<const Limb>, kMaxLanes> sources;
    Mask exists{};
    leave(a);
    limbs::Buffer n(limb_count_);
    SafeGcd gcd;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      values[lane].require(limb_count_);
      for (std::size_t i = 0; i < limb_count_; ++i) values[lane].data()[i] = limb(lane, i);
    }
    for_each_vector([&](std::size_t v, std::size_t at) {
      moduli_[v]->export_limbs(limbs_.data() + at / digits_ * limb_count_, limb_count_, moduli_[v]->block());
    });
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      for (std::size_t i = 0; i < limb_count_; ++i) n.data()[i] = limb(lane, i);
      const std::size_t size = limbs::normalized_size_var(n.first(limb_count_));
      gcd.assign(n.first(size));
      const std::span<Limb> x = values[lane].first(size);
      exists.lane[lane] = word::mask_from_bit(gcd.invert(x, x));
      sources[lane] = x;
    }
    from_limbs(r, std::span(sources).first(lanes()));
    return exists;
  }

 private:
  static constexpr std::size_t kMaxVectors = 2;
  static constexpr std::size_t kZero = 3;       ///< constants(kZero) is 0; constants(i), i < 3, is 2^i B
  static constexpr std::size_t kConstants = 4;  ///< elements of constants_

  std::array<const lanes::Moduli*, kMaxVectors> moduli_;
  std::size_t count_;
  const lanes::Kernels& kernels_;
  const LaneDigits* operations_;
  std::size_t digits_;
  std::size_t vector_words_;
  std::size_t limb_count_;  ///< limbs that hold R - 1
  mutable limbs::Buffer scratch_;
  limbs::Buffer constants_;
  mutable limbs::Buffer limbs_;  ///< canonical numbers on their way in or out
  lanes::Multiplier multiplier_;

  static std::array<const lanes::Moduli*, kMaxVectors> copied(std::span<const lanes::Moduli* const> moduli) {
    if (moduli.empty() || moduli.size() > kMaxVectors)
      throw std::invalid_argument("a field needs one or two vectors");
    std::array<const lanes::Moduli*, kMaxVectors> r{};
    std::copy(moduli.begin(), moduli.end(), r.begin());
    return r;
  }

  [[nodiscard]] Limb* constants(std::size_t index) { return constants_.data() + index * words(); }
  [[nodiscard]] const Limb* constants(std::size_t index) const { return constants_.data() + index * words(); }
  template <unsigned kMultiple>
  [[nodiscard]] const Limb* multiple_of_bound() const {
    return constants(kMultiple / 2);
  }

  /// r = a less m where it is at least m; returns r. On input: a < 2 m.
  const Limb* less(Limb* r, const Limb* a, const Limb* m) const {
    kernels_.add_mod(r, a, constants(kZero), m, digits_);
    return r;
  }

  /// limbs_ = a mod n; limb i of a lane: limb(lane, i).
  void leave(const Element& a) const {
    Element canonical;
    for_each_vector([&](std::size_t v, std::size_t at) {
      moduli_[v]->from_montgomery(canonical.words + at, a.words + at, scratch_.data());
      moduli_[v]->export_limbs(limbs_.data() + at / digits_ * limb_count_, limb_count_, canonical.words + at);
    });
  }
  [[nodiscard]] Limb limb(std::size_t lane, std::size_t i) const {
    const std::size_t each = kernels_.lanes;
    return limbs_.data()[lane / each * each * limb_count_ + i * each + lane % each];
  }

  template <class Step>
  void for_each_vector(Step step) const {
    for (std::size_t v = 0; v < count_; ++v) step(v, v * vector_words_);
  }

  /// In VERIFY builds: a < m(a) B in every lane.
  void check([[maybe_unused]] const Element& a) const {
#if MANYMOD_VERIFY
    MANYMOD_VERIFY_RANGE(a.magnitude() >= 1);
    const std::size_t each = kernels_.lanes;
    const unsigned w = kernels_.digit_bits;
    for (std::size_t lane = 0; lane < lanes(); ++lane) {
      std::int64_t rest = -1;  // of m B - a - 1
      for (std::size_t d = 0; d < digits_; ++d) {
        const std::size_t at = lane / each * vector_words_ + d * each + lane % each;
        rest = (rest >> w) + static_cast<std::int64_t>(a.magnitude() * constants(0)[at]) -
               static_cast<std::int64_t>(a.words[at] & ((Limb{1} << w) - 1));
      }
      MANYMOD_VERIFY_RANGE(rest >= 0);
    }
#endif
  }
};

}  // namespace manymod::field

// SPDX-License-Identifier: Apache-2.0
// LaneFieldCalls as a field (field/field.hpp), so that tests written for fields run on it.
#pragma once

#include <cstddef>
#include <string>

#include "core/cpu_features.hpp"
#include "field/field.hpp"
#include "support/lane_field_calls.hpp"

namespace manymod::test {

/// A truth value a lane.
struct LaneFieldMask {
  Limb lane[LaneFieldElement::kMaxLanes];

  friend LaneFieldMask operator&(LaneFieldMask a, const LaneFieldMask& b) {
    for (std::size_t i = 0; i < std::size(a.lane); ++i) a.lane[i] &= b.lane[i];
    return a;
  }
  friend LaneFieldMask operator|(LaneFieldMask a, const LaneFieldMask& b) {
    for (std::size_t i = 0; i < std::size(a.lane); ++i) a.lane[i] |= b.lane[i];
    return a;
  }
  friend LaneFieldMask operator~(LaneFieldMask a) {
    for (Limb& word : a.lane) word = ~word;
    return a;
  }
};

class LaneTestField {
 public:
  using Element = LaneFieldElement;
  using Mask = LaneFieldMask;
  using Source = const Limb*;
  using Sink = Limb*;

  explicit LaneTestField(const LaneFieldCalls& calls) : calls_(calls) {}

  void zero(Element& r) const { calls_.zero(calls_.modulus, r); }
  void one(Element& r) const { calls_.one(calls_.modulus, r); }
  void from_limbs(Element& r, Source x) const { calls_.from_limbs(calls_.modulus, r, x); }
  void to_limbs(Sink x, const Element& a) const { calls_.to_limbs(calls_.modulus, x, a); }
  void mul(Element& r, const Element& a, const Element& b) const { calls_.mul(calls_.modulus, r, a, b); }
  void sqr(Element& r, const Element& a) const { calls_.sqr(calls_.modulus, r, a); }
  void add(Element& r, const Element& a, const Element& b) const { calls_.add(calls_.modulus, r, a, b); }
  template <unsigned k = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    calls_.sub[k / 2](calls_.modulus, r, a, b);
  }
  template <unsigned k = 1>
  void neg(Element& r, const Element& a) const {
    calls_.neg[k / 2](calls_.modulus, r, a);
  }
  void half(Element& r, const Element& a) const { calls_.half(calls_.modulus, r, a); }
  void three_halves(Element& r, const Element& a) const { calls_.three_halves(calls_.modulus, r, a); }
  void mul_sub(Element& r, const Element& a, const Element& b, const Element& c, const Element& d) const {
    calls_.mul_sub(calls_.modulus, r, a, b, c, d);
  }
  void mul_sub_sqr(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.mul_sub_sqr(calls_.modulus, r, a, b, c);
  }
  void sub_twice(Element& x, Element& rest, const Element& a, const Element& v) const {
    calls_.sub_twice(calls_.modulus, x, rest, a, v);
  }
  void sub_and_twice(Element& x, Element& rest, const Element& a, const Element& b, const Element& v) const {
    calls_.sub_and_twice(calls_.modulus, x, rest, a, b, v);
  }
  void add_sub(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.add_sub(calls_.modulus, r, a, b, c);
  }
  void sub_add_twice(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.sub_add_twice(calls_.modulus, r, a, b, c);
  }
  void sub_both(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.sub_both(calls_.modulus, r, a, b, c);
  }
  void add_sub_twice(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.add_sub_twice(calls_.modulus, r, a, b, c);
  }
  void forms(Element (&rstx)[4], const Element& a, const Element& b, const Element& c,
             const Element& d) const {
    calls_.forms(calls_.modulus, rstx, a, b, c, d);
  }
  template <unsigned k = field::kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    calls_.normalize_weak[k / 4](calls_.modulus, r, a);
  }
  void cmov(Element& r, const Element& a, const Mask& mask) const {
    calls_.cmov(calls_.modulus, r, a, mask.lane);
  }
  [[nodiscard]] Mask is_zero(const Element& a) const {
    Mask mask{};
    calls_.is_zero(calls_.modulus, mask.lane, a);
    return mask;
  }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const {
    Mask mask{};
    calls_.equal(calls_.modulus, mask.lane, a, b);
    return mask;
  }
  Mask inverse(Element& r, const Element& a) const {
    Mask mask{};
    calls_.inverse(calls_.modulus, r, mask.lane, a);
    return mask;
  }

 private:
  const LaneFieldCalls& calls_;
};

static_assert(field::Field<LaneTestField>);

/// Why this processor cannot run a backend, or "".
inline std::string missing_lane_fields(std::size_t backend) {
  const auto backends = lane_field_backends();
  if (backend >= backends.size()) return "this build has no such backend";
  const std::string features = cpu_feature_names(backends[backend].needs & ~cpu_info().features);
  if (!features.empty()) return "this processor lacks " + features;
  return backends[backend].left_out ? "configured on a processor that lacks it, this build leaves it out"
                                    : "";
}

}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// field::SpecialLaneCalls as a field (field/field.hpp), so that tests written for fields run on it.
#pragma once

#include <cstddef>
#include <string>

#include "core/cpu_features.hpp"
#include "field/field.hpp"
#include "field/special_lane_calls.hpp"

namespace manymod::test {

/// A truth value a lane.
struct SpecialLaneMask {
  Limb lane[field::SpecialLaneElement::kMaxLanes];

  friend SpecialLaneMask operator&(SpecialLaneMask a, const SpecialLaneMask& b) {
    for (std::size_t i = 0; i < std::size(a.lane); ++i) a.lane[i] &= b.lane[i];
    return a;
  }
  friend SpecialLaneMask operator|(SpecialLaneMask a, const SpecialLaneMask& b) {
    for (std::size_t i = 0; i < std::size(a.lane); ++i) a.lane[i] |= b.lane[i];
    return a;
  }
  friend SpecialLaneMask operator~(SpecialLaneMask a) {
    for (Limb& word : a.lane) word = ~word;
    return a;
  }
};

class SpecialLaneTestField {
 public:
  using Element = field::SpecialLaneElement;
  using Mask = SpecialLaneMask;
  using Source = const Limb*;
  using Sink = Limb*;

  explicit SpecialLaneTestField(const field::SpecialLaneCalls& calls) : calls_(calls) {}

  void zero(Element& r) const { calls_.zero(r); }
  void one(Element& r) const { calls_.one(r); }
  void from_limbs(Element& r, Source x) const { calls_.from_limbs(r, x); }
  void to_limbs(Sink x, const Element& a) const { calls_.to_limbs(x, a); }
  void mul(Element& r, const Element& a, const Element& b) const { calls_.mul(r, a, b); }
  void sqr(Element& r, const Element& a) const { calls_.sqr(r, a); }
  void add(Element& r, const Element& a, const Element& b) const { calls_.add(r, a, b); }
  template <unsigned k = 1>
  void sub(Element& r, const Element& a, const Element& b) const {
    calls_.sub[k / 2](r, a, b);
  }
  template <unsigned k = 1>
  void neg(Element& r, const Element& a) const {
    calls_.neg[k / 2](r, a);
  }
  void half(Element& r, const Element& a) const { calls_.half(r, a); }
  void three_halves(Element& r, const Element& a) const { calls_.three_halves(r, a); }
  void mul_sub(Element& r, const Element& a, const Element& b, const Element& c, const Element& d) const {
    calls_.mul_sub(r, a, b, c, d);
  }
  void mul_sub_sqr(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.mul_sub_sqr(r, a, b, c);
  }
  void sub_twice(Element& x, Element& rest, const Element& a, const Element& v) const {
    calls_.sub_twice(x, rest, a, v);
  }
  void sub_and_twice(Element& x, Element& rest, const Element& a, const Element& b, const Element& v) const {
    calls_.sub_and_twice(x, rest, a, b, v);
  }
  void add_sub(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.add_sub(r, a, b, c);
  }
  void sub_add_twice(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.sub_add_twice(r, a, b, c);
  }
  void sub_both(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.sub_both(r, a, b, c);
  }
  void add_sub_twice(Element& r, const Element& a, const Element& b, const Element& c) const {
    calls_.add_sub_twice(r, a, b, c);
  }
  void forms(Element (&rstx)[4], const Element& a, const Element& b, const Element& c,
             const Element& d) const {
    calls_.forms(rstx, a, b, c, d);
  }
  template <unsigned k = field::kMaxMagnitude>
  void normalize_weak(Element& r, const Element& a) const {
    calls_.normalize_weak[k / 4](r, a);
  }
  void cmov(Element& r, const Element& a, const Mask& mask) const { calls_.cmov(r, a, mask.lane); }
  [[nodiscard]] Mask is_zero(const Element& a) const {
    Mask mask{};
    calls_.is_zero(mask.lane, a);
    return mask;
  }
  [[nodiscard]] Mask equal(const Element& a, const Element& b) const {
    Mask mask{};
    calls_.equal(mask.lane, a, b);
    return mask;
  }
  Mask inverse(Element& r, const Element& a) const {
    Mask mask{};
    calls_.inverse(r, mask.lane, a);
    return mask;
  }

 private:
  const field::SpecialLaneCalls& calls_;
};

static_assert(field::Field<SpecialLaneTestField>);

/// Why this processor cannot run a backend, or "".
inline std::string missing_special_lanes(std::size_t backend) {
  const auto backends = field::special_lane_backends();
  if (backend >= backends.size()) return "this build has no such backend";
  const std::string features = cpu_feature_names(backends[backend].needs & ~cpu_info().features);
  return features.empty() ? "" : "this processor lacks " + features;
}

}  // namespace manymod::test

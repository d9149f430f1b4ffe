// SPDX-License-Identifier: Apache-2.0
// The functions of field::SpecialLaneField by pointers, for code that is not compiled for their instruction
// set: each call loads its operands and stores its result.
#pragma once

#include <cstddef>
#include <span>

#include "core/cpu_features.hpp"
#include "core/limb.hpp"
#include "field/magnitude.hpp"

namespace manymod::field {

/// An element in memory: digit i of lane l at digit[i lanes + l].
struct SpecialLaneElement : Carried {
  static constexpr std::size_t kMaxDigits = 19;
  static constexpr std::size_t kMaxLanes = 8;
  alignas(64) Limb digit[kMaxDigits * kMaxLanes];
};

/// The functions of one field on one instruction set: see field/field.hpp, and special_lanes.hpp for ranges
/// and for the layout of limbs. Masks are a word a lane. Arrays of functions are for k = 1, 2, 4 (sub, neg)
/// and k = 2, 4, 8 (normalize_weak). Constant-time.
struct SpecialLaneCalls {
  using Element = SpecialLaneElement;

  const char* prime;
  std::span<const Limb> p;
  unsigned bits;  ///< of p
  std::size_t lanes;
  std::size_t digits;
  unsigned digit_bits;
  unsigned radix_bits;  ///< elements stand for x 2^radix_bits mod p

  void (*zero)(Element& r);
  void (*one)(Element& r);
  void (*from_limbs)(Element& r, const Limb* x);
  void (*to_limbs)(Limb* x, const Element& a);
  void (*mul)(Element& r, const Element& a, const Element& b);
  void (*sqr)(Element& r, const Element& a);
  void (*add)(Element& r, const Element& a, const Element& b);
  void (*sub[3])(Element& r, const Element& a, const Element& b);
  void (*neg[3])(Element& r, const Element& a);
  void (*half)(Element& r, const Element& a);
  // field/fused.hpp
  void (*three_halves)(Element& r, const Element& a);
  void (*mul_sub)(Element& r, const Element& a, const Element& b, const Element& c, const Element& d);
  void (*mul_sub_sqr)(Element& r, const Element& a, const Element& b, const Element& c);
  void (*sub_twice)(Element& x, Element& rest, const Element& a, const Element& v);
  void (*sub_and_twice)(Element& x, Element& rest, const Element& a, const Element& b, const Element& v);
  void (*add_sub)(Element& r, const Element& a, const Element& b, const Element& c);
  void (*sub_add_twice)(Element& r, const Element& a, const Element& b, const Element& c);
  void (*sub_both)(Element& r, const Element& a, const Element& b, const Element& c);
  void (*add_sub_twice)(Element& r, const Element& a, const Element& b, const Element& c);
  /// r = (a b + c d) (a b - c d), s = (a b - c d + 2 c^2)^2, t = a b, x = 3 a b / 2, by products, sums and
  /// factors in the forms of field/uncarried.hpp. m(a) m(b) <= 4, m(c) = m(d) = 1; m(r) = m(s) = m(t) = 1,
  /// m(x) = 2.
  void (*forms)(Element (&rstx)[4], const Element& a, const Element& b, const Element& c, const Element& d);
  void (*mul_small)(Element& r, const Element& a, Limb k);  ///< null where the prime has none
  void (*normalize_weak[3])(Element& r, const Element& a);
  void (*cmov)(Element& r, const Element& a, const Limb* mask);
  void (*is_zero)(Limb* mask, const Element& a);
  void (*equal)(Limb* mask, const Element& a, const Element& b);
  void (*inverse)(Element& r, Limb* exists, const Element& a);
};

/// What the functions need of the processor, and one entry for each prime in the order of primes::All.
struct SpecialLaneBackend {
  const char* name;
  CpuFeatures needs;
  std::span<const SpecialLaneCalls> fields;
};

/// All backends of this build, fastest first; none on processors other than x86-64.
std::span<const SpecialLaneBackend> special_lane_backends();

#if MANYMOD_X86_64
std::span<const SpecialLaneCalls> avx512ifma_special_lanes();
std::span<const SpecialLaneCalls> avx512f_special_lanes();
std::span<const SpecialLaneCalls> avx2_special_lanes();
#endif

}  // namespace manymod::field

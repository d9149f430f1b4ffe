// SPDX-License-Identifier: Apache-2.0
// The functions of fields in lanes (field/inlined_lanes.hpp) by pointers, for tests that are not compiled for
// their instruction set: each call loads its operands and stores its result.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/limb.hpp"
#include "field/magnitude.hpp"
#include "modmul/montgomery_lanes/constants.hpp"

namespace manymod::test {

/// An element in memory: digit i of lane l at digit[i lanes + l].
struct LaneFieldElement : field::Carried {
  static constexpr std::size_t kMaxDigits = 19;
  static constexpr std::size_t kMaxLanes = 8;
  alignas(64) Limb digit[kMaxDigits * kMaxLanes];
};

/// The functions of one field on one instruction set: see field/field.hpp, and inlined_lanes.hpp for ranges
/// and for the layout of limbs. Their first argument is `modulus`. Masks are a word a lane. Arrays of
/// functions are for k = 1, 2, 4 (sub, neg) and k = 2, 4, 8 (normalize_weak). Constant-time.
struct LaneFieldCalls {
  using Element = LaneFieldElement;
  using Modulus = const montgomery_lanes::Constants*;

  Modulus modulus;  ///< null where the prime is known at compile time
  const char* prime;
  std::span<const Limb> p;
  unsigned bits;  ///< of p
  std::size_t lanes;
  std::size_t digits;
  unsigned digit_bits;
  unsigned radix_bits;  ///< elements stand for x 2^radix_bits mod p

  void (*zero)(Modulus, Element& r);
  void (*one)(Modulus, Element& r);
  void (*from_limbs)(Modulus, Element& r, const Limb* x);
  void (*to_limbs)(Modulus, Limb* x, const Element& a);
  void (*mul)(Modulus, Element& r, const Element& a, const Element& b);
  void (*sqr)(Modulus, Element& r, const Element& a);
  void (*add)(Modulus, Element& r, const Element& a, const Element& b);
  void (*sub[3])(Modulus, Element& r, const Element& a, const Element& b);
  void (*neg[3])(Modulus, Element& r, const Element& a);
  void (*half)(Modulus, Element& r, const Element& a);
  // field/fused.hpp
  void (*three_halves)(Modulus, Element& r, const Element& a);
  void (*mul_sub)(Modulus, Element& r, const Element& a, const Element& b, const Element& c,
                  const Element& d);
  void (*mul_sub_sqr)(Modulus, Element& r, const Element& a, const Element& b, const Element& c);
  void (*sub_twice)(Modulus, Element& x, Element& rest, const Element& a, const Element& v);
  void (*sub_and_twice)(Modulus, Element& x, Element& rest, const Element& a, const Element& b,
                        const Element& v);
  void (*add_sub)(Modulus, Element& r, const Element& a, const Element& b, const Element& c);
  void (*sub_add_twice)(Modulus, Element& r, const Element& a, const Element& b, const Element& c);
  void (*sub_both)(Modulus, Element& r, const Element& a, const Element& b, const Element& c);
  void (*add_sub_twice)(Modulus, Element& r, const Element& a, const Element& b, const Element& c);
  /// r = (a b + c d) (a b - c d), s = (a b - c d + 2 c^2)^2, t = a b, x = 3 a b / 2, by products, sums and
  /// factors in the forms of field/uncarried.hpp. m(a) m(b) <= 4, m(c) = m(d) = 1; m(r) = m(s) = m(t) = 1,
  /// m(x) = 2.
  void (*forms)(Modulus, Element (&rstx)[4], const Element& a, const Element& b, const Element& c,
                const Element& d);
  void (*mul_small)(Modulus, Element& r, const Element& a, Limb k);  ///< null where the prime has none
  void (*normalize_weak[3])(Modulus, Element& r, const Element& a);
  void (*cmov)(Modulus, Element& r, const Element& a, const Limb* mask);
  void (*is_zero)(Modulus, Limb* mask, const Element& a);
  void (*equal)(Modulus, Limb* mask, const Element& a, const Element& b);
  void (*inverse)(Modulus, Element& r, Limb* exists, const Element& a);
};

/// What the functions need of the processor; one entry for each prime in the order of primes::All, then one
/// for each of kRuntimePrimes primes that are known at run time.
struct LaneFieldBackend {
  const char* name;
  CpuFeatures needs;
  std::vector<LaneFieldCalls> fields;
  bool left_out;  ///< LaneFieldTables
};

inline constexpr std::size_t kRuntimePrimes = 6;

/// All backends of this build, fastest first; none on processors other than x86-64.
std::span<const LaneFieldBackend> lane_field_backends();

/// The entries of one instruction set: of all special primes, and of fields of several numbers of digits,
/// whose prime is missing. Processors without the instructions read them too, so that functions return
/// references to constants.
struct LaneFieldTables {
  std::span<const LaneFieldCalls> special, runtime;
  bool left_out = false;  ///< of this build: the entries are those of another set
};

#if MANYMOD_X86_64
const LaneFieldTables& avx512ifma_lane_fields();
const LaneFieldTables& avx512f_lane_fields();
const LaneFieldTables& avx2_lane_fields();
/// A stand-in for a set that this build leaves out, with as many fields: tests only read their names.
const LaneFieldTables& left_out_lane_fields();
#endif

}  // namespace manymod::test

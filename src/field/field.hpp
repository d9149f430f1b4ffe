// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo one odd number n, 1 < n, as point arithmetic on elliptic curves needs it: the same
// functions on scalar CPU code (field/scalar.hpp), on instances in the lanes of vectors
// (field/inlined_lanes.hpp) and in device code (field/device.cuda.hpp). A formula written for the concept
// Field runs on all of them.
//
// Elements and magnitudes. An Element stands for x R mod n, where R is the backend's Montgomery radix, by a
// number that need not be below n. Each backend has a bound B, a multiple of n or a power of two above n, and
// an element has a magnitude m, a small integer:
//
//     0 <= value < m B        (scalar: B = n; lanes: B = 2 n; device: B = 2^kBoundBits, see there)
//
// Magnitudes are rules about code, not data: the author of a formula adds them up by the table below. A
// backend may reduce its results further than the table requires; a formula that keeps to the table is
// correct on every backend. In VERIFY builds (CMake option MANYMOD_VERIFY) elements carry their magnitude,
// and a call with operands outside of the stated range stops the program. Other builds have neither the
// member nor the check.
//
//   function                     on input                                   on output
//   mul(r, a, b)                 m(a) m(b) <= kMaxProduct = 4               r = a b, m(r) = 1
//   sqr(r, a)                    m(a)^2 <= kMaxProduct                      r = a^2, m(r) = 1
//   add(r, a, b)                 m(a) + m(b) <= kMaxMagnitude = 8           r = a + b, m(r) = m(a) + m(b)
//   sub<k>(r, a, b)              m(b) <= k, m(a) + k <= kMaxMagnitude       r = a - b, m(r) = m(a) + k
//   neg<k>(r, a)                 m(a) <= k                                  r = -a, m(r) = k + 1
//   half(r, a)                   m(a) < kMaxMagnitude                       r = a / 2,
//                                                                           m(r) = floor(m(a) / 2) + 1
//   normalize_weak<k>(r, a)      m(a) <= k                                  r = a, m(r) = 1
//   cmov(r, a, mask)             any m(r), m(a)                             r = mask ? a : r,
//                                                                           m(r) = max of both
//   is_zero(a), equal(a, b)      m(a) = m(b) = 1                            a mask
//   zero(r), one(r)                                                         m(r) = 1
//   from_limbs(r, x)             x < 2^(64 l), l the limbs of the field     r = x mod n, m(r) = 1
//   to_limbs(x, a)               any m(a)                                   x = a mod n, 0 <= x < n
//   inverse(r, a)                any m(a)                                   r = 1/a, or 0 if gcd(a, n) > 1;
//                                                                           m(r) = 1; a mask: whether the
//                                                                           inverse exists
//
// k is a template parameter: 1 (the default), 2 or 4 for sub and neg; 2, 4 or 8 (the default) for
// normalize_weak. half multiplies by 1/2 mod n.
//
// Masks hold one truth value for each instance: all ones or 0, in the words of the backend. They are combined
// with &, | and ~.
//
// Forms that spare carries, for backends that have them: field/uncarried.hpp.
//
// Aliasing: r may be an operand. Timing: constant-time. No branch and no address depends on an element, on a
// mask or on n, but for the bit length of n. Secrets: elements are plain data; code that keeps a secret in
// one must erase it (repr/wipe.hpp).
#pragma once

#include <concepts>

#include "field/magnitude.hpp"

namespace manymod::field {

template <class F>
concept Field =
    requires {
      typename F::Element;
      typename F::Mask;
      typename F::Source;  ///< canonical numbers to read, one for each instance
      typename F::Sink;    ///< canonical numbers to write
    } &&
    requires(const F& f, typename F::Element& r, const typename F::Element& a, const typename F::Mask& mask,
             const typename F::Source& source, const typename F::Sink& sink) {
      f.zero(r);
      f.one(r);
      f.from_limbs(r, source);
      f.to_limbs(sink, a);
      f.mul(r, a, a);
      f.sqr(r, a);
      f.add(r, a, a);
      f.sub(r, a, a);
      f.template sub<4>(r, a, a);
      f.neg(r, a);
      f.template neg<4>(r, a);
      f.half(r, a);
      f.normalize_weak(r, a);
      f.template normalize_weak<2>(r, a);
      f.cmov(r, a, mask);
      { f.is_zero(a) } -> std::same_as<typename F::Mask>;
      { f.equal(a, a) } -> std::same_as<typename F::Mask>;
      { f.inverse(r, a) } -> std::same_as<typename F::Mask>;
      { mask& mask } -> std::convertible_to<typename F::Mask>;
      { mask | mask } -> std::convertible_to<typename F::Mask>;
      { ~mask } -> std::convertible_to<typename F::Mask>;
    };

}  // namespace manymod::field

// SPDX-License-Identifier: Apache-2.0
// Independent elements of a field that a formula computes together, operation by operation: a formula whose
// products wait for each other leaves an out-of-order core idle, which then computes those of the other
// elements. It has the functions of a field that the ladder calls (ecc/formulas/ladder.hpp).
#pragma once

#include <cstdint>

#include "field/uncarried.hpp"
#include "modmul/special_primes/digit_columns.hpp"

namespace manymod::field {

/// kParts elements of `F` side by side. Ranges, aliasing and timing are those of F.
template <class F, unsigned kParts>
class Interleaved {
  template <class T>
  struct Parts {
    T part[kParts];
  };

 public:
  using Element = Parts<typename F::Element>;
  using Uncarried = Parts<field::Uncarried<F>>;
  using Unmasked = Parts<field::Unmasked<F>>;
  using FixedFactor = Parts<field::FixedFactor<F>>;
  struct Mask {
    typename F::Mask part[kParts];
  };

  constexpr explicit Interleaved(const F& field) : f_(field) {}

  MANYMOD_INLINE void zero(auto& r) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.zero(r.part[i]); });
  }
  MANYMOD_INLINE void one(auto& r) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.one(r.part[i]); });
  }
  MANYMOD_INLINE void mul(auto& r, const auto& a, const auto& b) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.mul(r.part[i], a.part[i], b.part[i]); });
  }
  MANYMOD_INLINE void mul_small(auto& r, const auto& a, std::uint32_t k) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.mul_small(r.part[i], a.part[i], k); });
  }
  MANYMOD_INLINE void sqr(auto& r, const auto& a) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.sqr(r.part[i], a.part[i]); });
  }
  MANYMOD_INLINE void add(auto& r, const auto& a, const auto& b) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.add(r.part[i], a.part[i], b.part[i]); });
  }
  MANYMOD_INLINE void sub(auto& r, const auto& a, const auto& b) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.sub(r.part[i], a.part[i], b.part[i]); });
  }
  MANYMOD_INLINE void cmov(auto& r, const auto& a, const Mask& mask) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { f_.cmov(r.part[i], a.part[i], mask.part[i]); });
  }
  MANYMOD_INLINE void convert(auto& r, const auto& a) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { field::convert(f_, r.part[i], a.part[i]); });
  }
  MANYMOD_INLINE void fix(FixedFactor& r, const Element& a) const {
    each([&](unsigned i) MANYMOD_INLINE_STEP { field::fix(f_, r.part[i], a.part[i]); });
  }

 private:
  const F& f_;

  template <class Step>
  static MANYMOD_INLINE void each(const Step& step) {
    for (unsigned i = 0; i < kParts; ++i) step(i);
  }
};

}  // namespace manymod::field

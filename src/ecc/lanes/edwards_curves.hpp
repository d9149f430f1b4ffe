// SPDX-License-Identifier: Apache-2.0
// The Edwards curves of the lanes with the Montgomery curves over the same fields, and how points of each are
// operands: for a = -1 and a = 1 (ecc/formulas/edwards.hpp). For inclusion in instruction-set files only.
#pragma once

#include <cstddef>

#include "core/limb.hpp"
#include "ecc/formulas/edwards.hpp"
#include "field/fused.hpp"
#include "modmul/special_primes/primes.hpp"

namespace manymod::ecc::lanes {

/// Operands of additions, and the doubling, on curves with a = kA. kPrepared and kCached are the coordinates
/// that tables hold; kNeutral and kMagnitude are those of the neutral element and the magnitudes of cached
/// points.
template <int kA, field::Field F>
struct EdwardsForms;

template <field::Field F>
struct EdwardsForms<-1, F> {
  using Element = typename F::Element;
  using Prepared = edwards::Prepared<F>;
  using Cached = edwards::Cached<F>;
  static constexpr Element Prepared::* kPrepared[3] = {&Prepared::plus, &Prepared::minus, &Prepared::t};
  static constexpr Element Cached::* kCached[4] = {&Cached::plus, &Cached::minus, &Cached::z, &Cached::t};
  static constexpr unsigned kNeutral[4] = {1, 1, 2, 0};
  static constexpr unsigned kMagnitude[4] = {2, 2, 2, 1};
  static constexpr unsigned kPreparedProducts = 7, kCachedProducts = 8;
  /// `cache` takes this multiple of d.
  static constexpr unsigned kOfD = 2;

  template <edwards::WithT kWithT>
  static void twice(const F& f, edwards::Extended<F>& p) {
    edwards::double_point<kWithT>(f, p, p);
  }
  /// u of the point of curve25519 that belongs to p, as a quotient: (1 + y) / (1 - y) (RFC 7748,
  /// section 4.1).
  static void montgomery_u(const F& f, Element& numerator, Element& denominator,
                           const edwards::Extended<F>& p) {
    f.add(numerator, p.z, p.y);
    f.template normalize_weak<2>(numerator, numerator);
    f.sub(denominator, p.z, p.y);
    f.template normalize_weak<2>(denominator, denominator);
  }
};

template <field::Field F>
struct EdwardsForms<1, F> {
  using Element = typename F::Element;
  using Prepared = edwards::PreparedOne<F>;
  using Cached = edwards::CachedOne<F>;
  static constexpr Element Prepared::* kPrepared[3] = {&Prepared::x, &Prepared::y, &Prepared::t};
  static constexpr Element Cached::* kCached[4] = {&Cached::x, &Cached::y, &Cached::z, &Cached::t};
  static constexpr unsigned kNeutral[4] = {0, 1, 1, 0};
  static constexpr unsigned kMagnitude[4] = {1, 1, 1, 1};
  static constexpr unsigned kPreparedProducts = 8, kCachedProducts = 9;
  static constexpr unsigned kOfD = 1;

  template <edwards::WithT kWithT>
  static void twice(const F& f, edwards::Extended<F>& p) {
    edwards::double_point_one<kWithT>(f, p, p);
  }
  /// The same on curve448, by the isogeny of degree 4 that takes the generator to the base point: (y / x)^2
  /// (RFC 7748, section 4.2).
  static void montgomery_u(const F& f, Element& numerator, Element& denominator,
                           const edwards::Extended<F>& p) {
    f.sqr(numerator, p.y);
    f.sqr(denominator, p.x);
  }
};

/// edwards25519, d = -121665 / 121666, and curve25519.
struct Curves25519 {
  using Prime = primes::Curve25519;
  static constexpr int kA = -1;
  static constexpr unsigned kOrderBits = 253, kCofactorBits = 3;
  static constexpr Limb kD[Prime::kLimbs] = {0x75eb4dca135978a3, 0x00700a4d4141d8ab, 0x8cc740797779e898,
                                             0x52036cee2b6ffe73};
  static constexpr field::Small kA24{121665};
};

/// edwards448, d = -39081, and curve448.
struct Curves448 {
  using Prime = primes::Curve448;
  static constexpr int kA = 1;
  static constexpr unsigned kOrderBits = 446, kCofactorBits = 2;
  static constexpr Limb kD[Prime::kLimbs] = {0xffffffffffff6756, 0xffffffffffffffff, 0xffffffffffffffff,
                                             0xfffffffeffffffff, 0xffffffffffffffff, 0xffffffffffffffff,
                                             0xffffffffffffffff};
  static constexpr field::Small kA24{39081};
};

}  // namespace manymod::ecc::lanes

// SPDX-License-Identifier: Apache-2.0
// Points of common elliptic curves in CUDA kernels of your own, by one thread for each point.
//
//   using Curve = manymod::device::Secp256k1;
//
//   __global__ void multiples(const std::uint32_t* k, std::uint32_t* x, std::uint32_t* y, unsigned count) {
//     const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
//     if (item >= count) return;
//     const auto point = Curve::multiply(Curve::generator(), k + item * Curve::kOrderWords);
//     const auto affine = Curve::to_affine(point);
//     Curve::Field::store(x + item * Curve::kWords, affine.x);
//     Curve::Field::store(y + item * Curve::kWords, affine.y);
//   }
//
// docs/device.md is the guide: costs, exceptional cases, and many additions for one inversion.
#pragma once

#include <manymod/device/special_primes.cuh>

#include <cstdint>

#include "core/portable.hpp"
#include "ecc/cuda/curves.cuda.hpp"
#include "ecc/cuda/points.cuda.hpp"
#include "ecc/formulas/affine.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "ecc/hex_curves.hpp"
#include "repr/word_memory.hpp"

namespace manymod::device {

/// The group of points of y^2 = x^3 + a x + b over one of the primes of special_primes.cuh, of prime order n.
/// There is no state: all functions are static.
///
/// Coordinates. An Affine point (x, y) is never infinity. A Jacobian point (X, Y, Z) is (X / Z^2, Y / Z^3),
/// and infinity where Z = 0. Their members are elements of Field.
///
/// On input: points are on the curve. Nothing checks that but is_on_curve().
///
/// Timing: constant-time, except for the functions that are marked as variable-time. M and S below are a
/// product and a squaring of Field.
template <class C, const ecc::hex_curves::HexCurve& kNumbers>
class CurveGroup {
 public:
  using Field = PrimeField<typename C::Prime>;
  using Element = typename Field::Element;
  using Affine = typename C::Affine;   ///< members x, y
  using Jacobian = typename C::Point;  ///< members x, y, z

  static constexpr unsigned kWords = Field::kWords;                ///< 32-bit words of a coordinate in memory
  static constexpr unsigned kOrderBits = C::kOrderBits;            ///< of n
  static constexpr unsigned kOrderWords = (kOrderBits + 31) / 32;  ///< 32-bit words of a scalar in memory

  /// Word j of n, 0 <= j < kOrderWords.
  MM_DEVICE static std::uint32_t order_word(unsigned j) {
    constexpr HexWords kOrder(kNumbers.n);
    return kOrder.words[j];
  }

  // ---- affine points --------------------------------------------------------------------------------------

  /// G.
  MM_DEVICE static Affine generator() {
    constexpr HexWords kX(kNumbers.x), kY(kNumbers.y);
    return {Field::load({kX.words, kWords}), Field::load({kY.words, kWords})};
  }
  /// -p.
  MM_DEVICE static Affine negate(const Affine& p) { return {p.x, Field::neg(p.y)}; }
  /// condition ? p : q, without a branch.
  MM_DEVICE static Affine select(bool condition, const Affine& p, const Affine& q) {
    return {Field::select(condition, p.x, q.x), Field::select(condition, p.y, q.y)};
  }
  /// Whether p and q are the same point.
  MM_DEVICE static bool equal(const Affine& p, const Affine& q) {
    return (Inline().equal(p.x, q.x) & Inline().equal(p.y, q.y)) != 0;
  }
  /// Whether y^2 = x^3 + a x + b for p = (x, y). M + 2S.
  MM_DEVICE static bool is_on_curve(const Affine& p) {
    constexpr HexWords kB(kNumbers.b);
    Element t = Field::sqr(p.x);
    if constexpr (C::kA == ecc::jacobian::CoefficientA::minus_three) {
      const Element one = Field::one();
      t = Field::sub(t, Field::add(one, Field::add(one, one)));
    }
    t = Field::add(Field::mul(t, p.x), Field::load({kB.words, kWords}));
    return Field::equal(Field::sqr(p.y), t);
  }

  /// p + q, given inverse = 1 / (q.x - p.x), for points with different x. 2M + S.
  MM_DEVICE static Affine add_affine(const Affine& p, const Affine& q, const Element& inverse) {
    ecc::jacobian::AffinePoint<Inline> r;
    ecc::affine::add(Inline(), r, inlined(p), inlined(q), inverse);
    return {r.x, r.y};
  }
  /// 2 p, given inverse = 1 / (2 p.y). 2M + 2S.
  MM_DEVICE static Affine twice_affine(const Affine& p, const Element& inverse) {
    ecc::jacobian::AffinePoint<Inline> r;
    ecc::affine::twice(Inline(), C::template coefficient<Inline>(), r, inlined(p), inverse);
    return {r.x, r.y};
  }

  /// Sums of `count` pairs of affine points, for one inversion: 5M + S each. Variable-time: pairs with equal
  /// x take a branch of their own.
  ///
  /// load(i, p, q) gives the pair i, 0 <= i < count, twice each. store(i, sum, finite) takes p + q, or
  /// finite = false for q = -p. Pairs are stored from the last to the first, each after its second load: i
  /// may be stored where it was loaded from. `scratch`: kWords count words of this thread's own.
  template <class Load, class Store>
  MM_DEVICE static void add_affine(unsigned count, LaneMemory scratch, const Load& load, const Store& store) {
    typename Field::Inverses inverses;
    Affine p, q;
    MM_ROLLED
    for (unsigned i = 0; i < count; ++i) {
      load(i, p, q);
      const Element before = inverses.push(denominator(p, q));
      MM_UNROLL
      for (unsigned j = 0; j < kWords; ++j) scratch[i * kWords + j] = before.words[j];
    }
    inverses.invert();
    MM_ROLLED
    for (unsigned i = count; i-- > 0;) {
      load(i, p, q);
      const LaneMemory kept{&scratch[i * kWords], scratch.stride};
      const Element inverse = inverses.pop(denominator(p, q), Field::from_words(kept));
      if (!Field::equal(p.x, q.x)) {
        store(i, add_affine(p, q, inverse), true);
      } else {
        store(i, twice_affine(p, inverse), Field::equal(p.y, q.y));
      }
    }
  }

  // ---- Jacobian points ------------------------------------------------------------------------------------

  /// The point at infinity.
  MM_DEVICE static Jacobian infinity() { return {Field::one(), Field::one(), Field::zero()}; }
  /// p with Z = 1.
  MM_DEVICE static Jacobian from_affine(const Affine& p) { return {p.x, p.y, Field::one()}; }
  /// Whether p is the point at infinity. A comparison of Z.
  MM_DEVICE static bool is_infinity(const Jacobian& p) { return Field::is_zero(p.z); }
  /// -p.
  MM_DEVICE static Jacobian negate(const Jacobian& p) { return {p.x, Field::neg(p.y), p.z}; }
  /// condition ? p : q, without a branch.
  MM_DEVICE static Jacobian select(bool condition, const Jacobian& p, const Jacobian& q) {
    return {Field::select(condition, p.x, q.x), Field::select(condition, p.y, q.y),
            Field::select(condition, p.z, q.z)};
  }
  /// Whether p and q are the same point, infinity included. 6M + 2S.
  MM_DEVICE static bool equal(const Jacobian& p, const Jacobian& q) {
    return ecc::jacobian::equal(Inline(), inlined(p), inlined(q)) != 0;
  }

  /// 2 p of any point, 4M + 4S for a = -3 and 3M + 4S for a = 0.
  MM_DEVICE static Jacobian twice(const Jacobian& p) {
    Jacobian r = p;
    ecc::cuda::twice_in_loop<C>(r);
    return r;
  }
  /// p + q of any points. 15M + 8S, called rather than inlined.
  MM_DEVICE static Jacobian add(const Jacobian& p, const Affine& q) {
    Jacobian r = p;
    ecc::cuda::Calls<C>::add_complete(r, q);
    return r;
  }
  /// 16M + 8S, called rather than inlined.
  MM_DEVICE static Jacobian add(const Jacobian& p, const Jacobian& q) {
    Jacobian r = p;
    ecc::cuda::Calls<C>::add_complete(r, q);
    return r;
  }
  /// p + q of different points, neither of which is infinity. 8M + 3S. For p = q, and where p is infinity,
  /// the result has Z = 0, as have all sums computed from it in this way: is_infinity() of the last one finds
  /// that an exceptional case occurred, or that the sum is infinity.
  MM_DEVICE static Jacobian add_distinct(const Jacobian& p, const Affine& q) {
    Jacobian r = p;
    ecc::cuda::add_in_loop<C>(r, q);
    return r;
  }
  /// 12M + 4S, called rather than inlined.
  MM_DEVICE static Jacobian add_distinct(const Jacobian& p, const Jacobian& q) {
    Jacobian r = p;
    ecc::cuda::Calls<C>::add(r, q);
    return r;
  }
  /// p + q of any points in the time of add_distinct(), but for exceptional cases. Variable-time.
  MM_DEVICE static Jacobian add_public(const Jacobian& p, const Affine& q) {
    Jacobian r = p;
    ecc::cuda::add_public<C>(r, q);
    return r;
  }

  /// The affine form, given inverse = 1 / p.z. 3M + S.
  MM_DEVICE static Affine to_affine(const Jacobian& p, const Element& inverse) {
    Affine r;
    ecc::cuda::Calls<C>::to_affine(r, p, inverse);
    return r;
  }
  /// The affine form, (0, 0) of infinity. An inversion and 3M + S. For many points use Field::Inverses.
  MM_DEVICE static Affine to_affine(const Jacobian& p) { return to_affine(p, Field::inverse(p.z)); }

  // ---- multiples ------------------------------------------------------------------------------------------

  /// k p, 0 <= k < n: kOrderWords little-endian words. An addition for every 4 bits of n, kOrderBits
  /// doublings (half of them on secp256k1), and about 270 kWords bytes of the thread's local memory.
  MM_DEVICE static Jacobian multiply(const Affine& p, const std::uint32_t* k) { return multiply<true>(p, k); }
  /// k p as multiply(). Variable-time: addresses depend on k.
  MM_DEVICE static Jacobian multiply_public(const Affine& p, const std::uint32_t* k) {
    return multiply<false>(p, k);
  }

 private:
  using Inline = field::SpecialField<typename C::Prime>;

  struct HexWords {
    std::uint32_t words[kOrderWords > kWords ? kOrderWords : kWords] = {};

    MM_DEVICE constexpr explicit HexWords(const char* hex) {
      unsigned left = 0;
      while (hex[left] != 0) ++left;
      for (; *hex != 0; ++hex) {
        --left;
        const auto value = static_cast<std::uint32_t>(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10);
        words[left / 8] |= value << (4 * (left % 8));
      }
    }
  };

  MM_DEVICE static ecc::jacobian::AffinePoint<Inline> inlined(const Affine& p) { return {p.x, p.y}; }
  MM_DEVICE static ecc::jacobian::Point<Inline> inlined(const Jacobian& p) { return {p.x, p.y, p.z}; }

  /// That of the slope: 2 y of equal points, else q.x - p.x, or 2 y for q = -p, whose sum has none. Never 0,
  /// as n is odd and there are no points with y = 0.
  MM_DEVICE static Element denominator(const Affine& p, const Affine& q) {
    const Element difference = Field::sub(q.x, p.x);
    return Field::is_zero(difference) ? Field::add(p.y, p.y) : difference;
  }

  template <bool kSecret>
  MM_DEVICE static Jacobian multiply(const Affine& p, const std::uint32_t* k) {
    std::uint32_t n[kOrderWords];
    MM_UNROLL
    for (unsigned j = 0; j < kOrderWords; ++j) n[j] = order_word(j);
    Jacobian r;
    ecc::cuda::multiply_point<kSecret, C>(r, p, k, n);
    return r;
  }
};

using P256 = CurveGroup<ecc::cuda::P256, ecc::hex_curves::kP256>;
using P384 = CurveGroup<ecc::cuda::P384, ecc::hex_curves::kP384>;
using P521 = CurveGroup<ecc::cuda::P521, ecc::hex_curves::kP521>;
using Secp256k1 = CurveGroup<ecc::cuda::Secp256k1, ecc::hex_curves::kSecp256k1>;
using Sm2 = CurveGroup<ecc::cuda::Sm2, ecc::hex_curves::kSm2>;

}  // namespace manymod::device

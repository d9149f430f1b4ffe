// SPDX-License-Identifier: Apache-2.0
// The entries of SpecialLaneCalls for one instruction set. For inclusion in instruction-set files only.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

#include "field/fused.hpp"
#include "field/special_lane_calls.hpp"
#include "field/special_lanes.hpp"
#include "field/uncarried.hpp"

namespace manymod::field {

/// `Arch`: see modmul/special_primes/lane_arithmetic.hpp.
template <class Prime, class Arch>
class SpecialLaneEntry {
  using F = SpecialLaneField<Prime, Arch>;
  static_assert(Field<F>);
  using Memory = SpecialLaneElement;
  using Element = typename F::Element;
  using Vector = typename F::Vector;
  /// A copy, since Prime::kLimb is a symbol that files without this instruction set define as well.
  static constexpr std::array<Limb, Prime::kLimbs> kPrime = std::to_array(Prime::kLimb);
  static_assert(F::kDigits <= Memory::kMaxDigits && F::kLanes <= Memory::kMaxLanes);

 public:
  static constexpr SpecialLaneCalls calls() {
    return {Prime::kName,
            kPrime,
            Prime::kBits,
            F::kLanes,
            F::kDigits,
            Arch::kDigitBits,
            special_primes::LaneArithmetic<Prime, Arch>::radix_bits(),
            constant<[](const F& f, auto&&... x) { f.zero(x...); }>,
            constant<[](const F& f, auto&&... x) { f.one(x...); }>,
            from_limbs,
            to_limbs,
            binary<[](const F& f, auto&&... x) { f.mul(x...); }>,
            unary<[](const F& f, auto&&... x) { f.sqr(x...); }>,
            binary<[](const F& f, auto&&... x) { f.add(x...); }>,
            {binary<[](const F& f, auto&&... x) { f.template sub<1>(x...); }>,
             binary<[](const F& f, auto&&... x) { f.template sub<2>(x...); }>,
             binary<[](const F& f, auto&&... x) { f.template sub<4>(x...); }>},
            {unary<[](const F& f, auto&&... x) { f.template neg<1>(x...); }>,
             unary<[](const F& f, auto&&... x) { f.template neg<2>(x...); }>,
             unary<[](const F& f, auto&&... x) { f.template neg<4>(x...); }>},
            unary<[](const F& f, auto&&... x) { f.half(x...); }>,
            unary<[](const F& f, auto&&... x) { f.three_halves(x...); }>,
            mul_sub,
            mul_sub_sqr,
            sub_twice,
            sub_and_twice,
            add_sub,
            sub_add_twice,
            sub_both,
            add_sub_twice,
            forms,
            mul_small_of_prime(),
            {unary<[](const F& f, auto&&... x) { f.template normalize_weak<2>(x...); }>,
             unary<[](const F& f, auto&&... x) { f.template normalize_weak<4>(x...); }>,
             unary<[](const F& f, auto&&... x) { f.template normalize_weak<8>(x...); }>},
            cmov,
            is_zero,
            equal,
            inverse};
  }

 private:
  static Vector& at(Limb* p, std::size_t i) { return reinterpret_cast<Vector*>(p)[i]; }
  static const Vector& at(const Limb* p, std::size_t i) { return reinterpret_cast<const Vector*>(p)[i]; }

  static Element read(const Memory& a) {
    Element r;
    r.set_magnitude(a.magnitude());
    for (std::size_t i = 0; i < F::kDigits; ++i) r.number.digit[i] = at(a.digit, i);
    return r;
  }
  static void write(Memory& r, const Element& a) {
    r.set_magnitude(a.magnitude());
    for (std::size_t i = 0; i < F::kDigits; ++i) at(r.digit, i) = a.number.digit[i];
  }
  /// Masks in memory need no alignment.
  static Vector read_mask(const Limb* mask) {
    Vector r{};
    for (std::size_t lane = 0; lane < F::kLanes; ++lane) r[lane] = mask[lane];
    return r;
  }
  static void write_mask(Limb* mask, Vector value) {
    for (std::size_t lane = 0; lane < F::kLanes; ++lane) mask[lane] = value[lane];
  }

  template <auto kFunction>
  static void constant(Memory& r) {
    Element result;
    kFunction(F{}, result);
    write(r, result);
  }
  template <auto kFunction>
  static void unary(Memory& r, const Memory& a) {
    Element result;
    kFunction(F{}, result, read(a));
    write(r, result);
  }
  template <auto kFunction>
  static void binary(Memory& r, const Memory& a, const Memory& b) {
    Element result;
    kFunction(F{}, result, read(a), read(b));
    write(r, result);
  }
  static void mul_sub(Memory& r, const Memory& a, const Memory& b, const Memory& c, const Memory& d) {
    Element result;
    field::mul_sub(F{}, result, read(a), read(b), read(c), read(d));
    write(r, result);
  }
  static void mul_sub_sqr(Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::mul_sub_sqr(F{}, result, read(a), read(b), read(c));
    write(r, result);
  }
  static void sub_twice(Memory& x, Memory& rest, const Memory& a, const Memory& v) {
    Element result, other;
    field::sub_twice(F{}, result, other, read(a), read(v));
    write(x, result);
    write(rest, other);
  }
  static void add_sub(Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::add_sub(F{}, result, read(a), read(b), read(c));
    write(r, result);
  }
  static void sub_add_twice(Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::sub_add_twice(F{}, result, read(a), read(b), read(c));
    write(r, result);
  }
  static void sub_both(Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::sub_both(F{}, result, read(a), read(b), read(c));
    write(r, result);
  }
  static void add_sub_twice(Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::add_sub_twice(F{}, result, read(a), read(b), read(c));
    write(r, result);
  }
  static void forms(Memory (&rstx)[4], const Memory& a, const Memory& b, const Memory& c, const Memory& d) {
    const F f;
    Uncarried<F> ab, cd, cc;
    Unmasked<F> sum, difference;
    Element r, s, t, x;
    f.mul(ab, read(a), read(b));
    f.mul(cd, read(c), read(d));
    f.sqr(cc, read(c));
    f.add(sum, ab, cd);
    f.sub(difference, ab, cd);
    f.mul(r, sum, difference);
    field::sub_add_twice(f, sum, ab, cd, cc);
    f.sqr(s, sum);
    field::convert(f, t, ab);
    field::three_halves(f, x, ab);
    write(rstx[0], r), write(rstx[1], s), write(rstx[2], t), write(rstx[3], x);
  }
  template <class Any = F>
  static void mul_small(Memory& r, const Memory& a, Limb k) {
    Element result;
    Any{}.mul_small(result, read(a), k);
    write(r, result);
  }
  static constexpr auto mul_small_of_prime() -> void (*)(Memory&, const Memory&, Limb) {
    if constexpr (requires(Element& r, const Element& a) { F{}.mul_small(r, a, Limb{1}); }) {
      return mul_small<F>;
    } else {
      return nullptr;
    }
  }
  static void sub_and_twice(Memory& x, Memory& rest, const Memory& a, const Memory& b, const Memory& v) {
    Element result, other;
    field::sub_and_twice(F{}, result, other, read(a), read(b), read(v));
    write(x, result);
    write(rest, other);
  }
  static void from_limbs(Memory& r, const Limb* x) {
    Element result;
    F{}.from_limbs(result, x);
    write(r, result);
  }
  static void to_limbs(Limb* x, const Memory& a) { F{}.to_limbs(x, read(a)); }
  static void cmov(Memory& r, const Memory& a, const Limb* mask) {
    Element result = read(r);
    F{}.cmov(result, read(a), read_mask(mask));
    write(r, result);
  }
  static void is_zero(Limb* mask, const Memory& a) { write_mask(mask, F{}.is_zero(read(a))); }
  static void equal(Limb* mask, const Memory& a, const Memory& b) {
    write_mask(mask, F{}.equal(read(a), read(b)));
  }
  static void inverse(Memory& r, Limb* exists, const Memory& a) {
    Element result;
    write_mask(exists, F{}.inverse(result, read(a)));
    write(r, result);
  }
};

/// One entry for each prime.
template <class Arch, class Primes = primes::All>
struct SpecialLaneEntries;
template <class Arch, class... Prime>
struct SpecialLaneEntries<Arch, std::tuple<Prime...>> {
  static constexpr SpecialLaneCalls kFields[] = {SpecialLaneEntry<Prime, Arch>::calls()...};
};

}  // namespace manymod::field

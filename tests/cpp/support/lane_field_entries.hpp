// SPDX-License-Identifier: Apache-2.0
// The entries of LaneFieldCalls for one instruction set. For inclusion in instruction-set files only.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>

#include "field/fused.hpp"
#include "field/runtime_lanes.hpp"
#include "field/special_lanes.hpp"
#include "field/uncarried.hpp"
#include "support/lane_field_calls.hpp"

namespace manymod::test {

/// A field modulo a special prime. `Arch`: see modmul/special_primes/lane_arithmetic.hpp.
template <class Prime, class Arch>
struct SpecialLanes {
  using Field = field::SpecialLaneField<Prime, Arch>;
  static constexpr const char* kName = Prime::kName;
  /// A copy, since Prime::kLimb is a symbol that files without this instruction set define as well.
  static constexpr std::array<Limb, Prime::kLimbs> kPrime = std::to_array(Prime::kLimb);
  static constexpr unsigned kBits = Prime::kBits;
  static constexpr unsigned kDigitBits = Arch::kDigitBits;
  static constexpr unsigned kRadixBits = special_primes::LaneArithmetic<Prime, Arch>::radix_bits();

  static Field make(LaneFieldCalls::Modulus /*modulus*/) { return {}; }
};

/// A field of kDigits digits modulo a prime that is known at run time.
template <std::size_t kDigits, class Arch>
struct RuntimeLanes {
  using Field = field::RuntimeLaneField<kDigits, Arch>;
  static constexpr const char* kName = "";
  static constexpr std::array<Limb, 0> kPrime{};
  static constexpr unsigned kBits = 0;
  static constexpr unsigned kDigitBits = Arch::kDigitBits;
  static constexpr unsigned kRadixBits = kDigits * kDigitBits;

  static Field make(LaneFieldCalls::Modulus modulus) {
    return Field(montgomery_lanes::LaneArithmetic<kDigits, Arch>(*modulus));
  }
};

/// `Lanes`: SpecialLanes or RuntimeLanes.
template <class Lanes>
class LaneFieldEntry {
  using F = typename Lanes::Field;
  static_assert(field::Field<F>);
  using Modulus = LaneFieldCalls::Modulus;
  using Memory = LaneFieldElement;
  using Element = typename F::Element;
  using Vector = typename F::Vector;
  static_assert(F::kDigits <= Memory::kMaxDigits && F::kLanes <= Memory::kMaxLanes);
#if !MANYMOD_VERIFY
  // Elements are their digits alone.
  static_assert(sizeof(Element) == F::kDigits * sizeof(Vector));
#endif

 public:
  static constexpr LaneFieldCalls calls() {
    return {nullptr,
            Lanes::kName,
            Lanes::kPrime,
            Lanes::kBits,
            F::kLanes,
            F::kDigits,
            Lanes::kDigitBits,
            Lanes::kRadixBits,
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
  static void constant(Modulus m, Memory& r) {
    Element result;
    kFunction(Lanes::make(m), result);
    write(r, result);
  }
  template <auto kFunction>
  static void unary(Modulus m, Memory& r, const Memory& a) {
    Element result;
    kFunction(Lanes::make(m), result, read(a));
    write(r, result);
  }
  template <auto kFunction>
  static void binary(Modulus m, Memory& r, const Memory& a, const Memory& b) {
    Element result;
    kFunction(Lanes::make(m), result, read(a), read(b));
    write(r, result);
  }
  static void mul_sub(Modulus m, Memory& r, const Memory& a, const Memory& b, const Memory& c,
                      const Memory& d) {
    Element result;
    field::mul_sub(Lanes::make(m), result, read(a), read(b), read(c), read(d));
    write(r, result);
  }
  static void mul_sub_sqr(Modulus m, Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::mul_sub_sqr(Lanes::make(m), result, read(a), read(b), read(c));
    write(r, result);
  }
  static void sub_twice(Modulus m, Memory& x, Memory& rest, const Memory& a, const Memory& v) {
    Element result, other;
    field::sub_twice(Lanes::make(m), result, other, read(a), read(v));
    write(x, result);
    write(rest, other);
  }
  static void add_sub(Modulus m, Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::add_sub(Lanes::make(m), result, read(a), read(b), read(c));
    write(r, result);
  }
  static void sub_add_twice(Modulus m, Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::sub_add_twice(Lanes::make(m), result, read(a), read(b), read(c));
    write(r, result);
  }
  static void sub_both(Modulus m, Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::sub_both(Lanes::make(m), result, read(a), read(b), read(c));
    write(r, result);
  }
  static void add_sub_twice(Modulus m, Memory& r, const Memory& a, const Memory& b, const Memory& c) {
    Element result;
    field::add_sub_twice(Lanes::make(m), result, read(a), read(b), read(c));
    write(r, result);
  }
  static void forms(Modulus m, Memory (&rstx)[4], const Memory& a, const Memory& b, const Memory& c,
                    const Memory& d) {
    const F f = Lanes::make(m);
    field::Uncarried<F> ab, cd, cc;
    field::Unmasked<F> sum, difference;
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
  static void mul_small(Modulus m, Memory& r, const Memory& a, Limb k) {
    Element result;
    const Any f = Lanes::make(m);
    f.mul_small(result, read(a), k);
    write(r, result);
  }
  static constexpr auto mul_small_of_prime() -> void (*)(Modulus, Memory&, const Memory&, Limb) {
    if constexpr (requires(const F& f, Element& r, const Element& a) { f.mul_small(r, a, Limb{1}); }) {
      return mul_small<F>;
    } else {
      return nullptr;
    }
  }
  static void sub_and_twice(Modulus m, Memory& x, Memory& rest, const Memory& a, const Memory& b,
                            const Memory& v) {
    Element result, other;
    field::sub_and_twice(Lanes::make(m), result, other, read(a), read(b), read(v));
    write(x, result);
    write(rest, other);
  }
  static void from_limbs(Modulus m, Memory& r, const Limb* x) {
    Element result;
    Lanes::make(m).from_limbs(result, x);
    write(r, result);
  }
  static void to_limbs(Modulus m, Limb* x, const Memory& a) { Lanes::make(m).to_limbs(x, read(a)); }
  static void cmov(Modulus m, Memory& r, const Memory& a, const Limb* mask) {
    Element result = read(r);
    Lanes::make(m).cmov(result, read(a), read_mask(mask));
    write(r, result);
  }
  static void is_zero(Modulus m, Limb* mask, const Memory& a) {
    write_mask(mask, Lanes::make(m).is_zero(read(a)));
  }
  static void equal(Modulus m, Limb* mask, const Memory& a, const Memory& b) {
    write_mask(mask, Lanes::make(m).equal(read(a), read(b)));
  }
  static void inverse(Modulus m, Memory& r, Limb* exists, const Memory& a) {
    Element result;
    write_mask(exists, Lanes::make(m).inverse(result, read(a)));
    write(r, result);
  }
};

/// One entry for each special prime.
template <class Arch, class Primes = primes::All>
struct SpecialLaneEntries;
template <class Arch, class... Prime>
struct SpecialLaneEntries<Arch, std::tuple<Prime...>> {
  static constexpr LaneFieldCalls kFields[] = {LaneFieldEntry<SpecialLanes<Prime, Arch>>::calls()...};
};

/// One entry for each number of digits.
template <class Arch, std::size_t... kDigits>
struct RuntimeLaneEntries {
  static constexpr LaneFieldCalls kFields[] = {LaneFieldEntry<RuntimeLanes<kDigits, Arch>>::calls()...};
};

}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo the primes of common curves in CUDA kernels of your own, by one thread for each number.
// A product takes about 0.6 of the time that it takes in manymod/device/modular.cuh, whose moduli are any odd
// numbers.
//
//   using Field = manymod::device::PrimeField<manymod::device::Secp256k1Prime>;
//   const Field::Element x = Field::load(a), y = Field::load(b);
//   Field::store(r, Field::mul(x, y));
//
// docs/device.md is the guide.
#pragma once

#if __cplusplus < 202002L
#error "manymod/device is C++20: compile with -std=c++20 (the CMake target manymod::device does)"
#endif

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"
#include "field/running_product.hpp"
#include "field/special.cuda.hpp"
#include "modmul/special_primes/reductions.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::device {

using manymod::LaneMemory;

using P256Prime = special_primes::P256;              ///< 2^256 - 2^224 + 2^192 + 2^96 - 1
using P384Prime = special_primes::P384;              ///< 2^384 - 2^128 - 2^96 + 2^32 - 1
using P521Prime = special_primes::P521;              ///< 2^521 - 1
using Secp256k1Prime = special_primes::Secp256k1;    ///< 2^256 - 2^32 - 977
using Sm2Prime = special_primes::Sm2;                ///< 2^256 - 2^224 - 2^96 + 2^64 - 1
using Curve25519Prime = special_primes::Curve25519;  ///< 2^255 - 19

/// Arithmetic modulo one of the primes above. There is no state: all functions are static.
///
/// Ranges, with B = 2^kBoundBits: an Element stands for a number modulo p, or for it times R, by kWords words
/// below B, which need not be below p. All functions take and return elements below B; equal() and is_zero()
/// are right for each of a number's representations.
///
/// Timing: constant-time.
template <class Prime>
class PrimeField {
  using Base = field::SpecialField<Prime>;

 public:
  static constexpr unsigned kWords = Base::kWords;          ///< 32-bit words of a number in memory
  static constexpr unsigned kLimbs = (kWords + 1) / 2;      ///< 64-bit limbs of a number in memory
  static constexpr unsigned kBoundBits = Base::kBoundBits;  ///< elements are below B = 2^kBoundBits

  /// `words` are its kWords words.
  using Element = typename Base::Element;

  // ---- memory ---------------------------------------------------------------------------------------------

  /// The element of a number below B of kWords little-endian words, or of kLimbs limbs below B^2. A product
  /// modulo P-256's and SM2's primes, whose elements stand for numbers times R.
  MM_DEVICE static Element load(const std::uint32_t* a) { return load({a, kWords}); }
  MM_DEVICE static Element load(const std::uint64_t* a) { return load({a, kLimbs}); }
  MM_DEVICE static Element load(const integers::Words& a) {
    return element([&](Element& r) { Base().from_limbs(r, a); });
  }
  /// Writes the number below p, in kWords words or kLimbs limbs.
  MM_DEVICE static void store(std::uint32_t* r, const Element& a) {
    Base().to_limbs(integers::WordsOut(r, kWords), a);
  }
  MM_DEVICE static void store(std::uint64_t* r, const Element& a) {
    Base().to_limbs(integers::WordsOut(r, kLimbs), a);
  }
  /// The element of the words a[0], .., a[kWords - 1] of another one: for memory between kernels. No
  /// arithmetic. `Words`: a pointer, a LaneMemory, or any other class with this operator.
  template <class Words>
  MM_DEVICE static Element from_words(const Words& a) {
    return element([&](Element& r) { Base().load(r, a); });
  }

  // ---- arithmetic -----------------------------------------------------------------------------------------

  /// 0.
  MM_DEVICE static Element zero() {
    return element([](Element& r) { Base().zero(r); });
  }
  /// 1.
  MM_DEVICE static Element one() {
    return element([](Element& r) { Base().one(r); });
  }
  /// a + b.
  MM_DEVICE static Element add(const Element& a, const Element& b) {
    return element([&](Element& r) { Base().add(r, a, b); });
  }
  /// a - b.
  MM_DEVICE static Element sub(const Element& a, const Element& b) {
    return element([&](Element& r) { Base().sub(r, a, b); });
  }
  /// -a.
  MM_DEVICE static Element neg(const Element& a) {
    return element([&](Element& r) { Base().neg(r, a); });
  }
  /// a / 2
  MM_DEVICE static Element half(const Element& a) {
    return element([&](Element& r) { Base().half(r, a); });
  }
  /// a b.
  MM_DEVICE static Element mul(const Element& a, const Element& b) {
    return element([&](Element& r) { Base().mul(r, a, b); });
  }
  /// a^2.
  MM_DEVICE static Element sqr(const Element& a) {
    return element([&](Element& r) { Base().sqr(r, a); });
  }
  /// condition ? a : b, without a branch.
  MM_DEVICE static Element select(bool condition, const Element& a, const Element& b) {
    Element r = b;
    Base().cmov(r, a, cuda::opaque(0 - static_cast<std::uint32_t>(condition)));
    return r;
  }
  /// a = b.
  MM_DEVICE static bool equal(const Element& a, const Element& b) { return Base().equal(a, b) != 0; }
  /// a = 0.
  MM_DEVICE static bool is_zero(const Element& a) { return Base().is_zero(a) != 0; }

  /// 1/a, or 0 for a = 0. (45907 kBoundBits + 30179) / 19929 division steps: about the time of 40 products
  /// for 256 bits.
  MM_DEVICE static Element inverse(const Element& a) {
    return element([&](Element& r) { static_cast<void>(Base().inverse(r, a)); });
  }

  /// Inverses of many elements for one inversion and three products each: push() all, and keep what it
  /// returns for each of them; invert(); then pop() from the last to the first. An element 0 makes all
  /// inverses 0.
  class Inverses {
   public:
    /// No elements.
    MM_DEVICE Inverses() : product_(Base()) {}

    /// Takes x. Returns what pop() needs for it.
    MM_DEVICE Element push(const Element& x) {
      const Element before = product_.before();
      product_.push(Base(), x);
      return before;
    }
    /// Inverts the product of all elements that were pushed. An inversion.
    MM_DEVICE void invert() { product_.invert(Base()); }
    /// 1/x for the last x that is left; `before` is what push() returned for it.
    MM_DEVICE Element pop(const Element& x, const Element& before) {
      return element([&](Element& r) { product_.pop(Base(), r, x, before); });
    }

   private:
    field::RunningProduct<Base> product_;
  };

 private:
  // Results are below B whatever their magnitude by the rules of fields.
  template <class Compute>
  MM_DEVICE static Element element(Compute compute) {
    Element r;
    compute(r);
    field::Rules::set(r, 1);
    return r;
  }
};

}  // namespace manymod::device

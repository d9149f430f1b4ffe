// SPDX-License-Identifier: Apache-2.0
// Modular arithmetic in CUDA kernels of your own, by one thread or a group of threads for each number.
//
//   using Field = manymod::device::Modulus<256>;
//
//   __global__ void products(const std::uint32_t* n, const std::uint32_t* a, const std::uint32_t* b,
//                            std::uint32_t* r, unsigned count) {
//     const unsigned item = blockIdx.x * blockDim.x + threadIdx.x;
//     if (item >= count) return;
//     const unsigned at = item * Field::kWords;
//     const Field field(Field::words(n + at));
//     const auto x = field.to_montgomery(field.load(a + at));
//     const auto y = field.to_montgomery(field.load(b + at));
//     field.store(r + at, field.from_montgomery(field.mul(x, y)));
//   }
//
// docs/device.md is the guide: groups of threads, shared memory, costs, and what replaces CGBN's functions.
#pragma once

#if __cplusplus < 202002L
#error "manymod/device/modular.cuh is C++20: compile with -std=c++20 (the CMake target manymod::device does)"
#endif

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "core/portable.hpp"
#include "field/device.cuda.hpp"
#include "modexp/windows.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::device {

// Techniques: Row32, on the integer multipliers of any device, and Dpf52, in double precision.
using field::Dpf52;
using field::Row32;

// Numbers in memory, and views of them.
using integers::bit_length;
using integers::ShiftedLeft;
using integers::ShiftedRight;
using integers::Words;
using integers::WordsOut;
using manymod::LaneMemory;

/// Arithmetic modulo one odd number n, 1 < n < 2^(32 kWords), for each group of kThreads neighbouring threads
/// of a warp (1, 2, 4, .. 32). `Group` is for tests on the host.
///
/// With kThreads > 1 all threads of a warp call every function together; a group without a number of its own
/// works on a copy of another's. With kThreads = 1 threads may diverge.
///
/// Ranges, with B = 2^kBoundBits: a Residue stands for a R mod n by a number below B, which need not be below
/// n. All functions take and return numbers below B; only equal() and is_zero() of residues reduce them, at
/// the cost of a product. An Integer is a number below 2^(32 kWords) with one representation; from_montgomery
/// returns one below n.
///
/// Timing: constant-time, except for the functions that are marked as variable-time. No branch and no address
/// depends on a number, except that the length of n in bits is public.
template <unsigned kBits, unsigned kThreads = 1, class Technique = Row32,
          class Group = cuda::ThreadGroup<kThreads>>
class Modulus {
  using Field = field::DeviceField<kBits, kThreads, Technique, Group>;
  using Element = typename Field::Element;

 public:
  static constexpr unsigned kWords = Field::kWords;          ///< 32-bit words of a number in memory
  static constexpr unsigned kLimbs = (kBits + 63) / 64;      ///< 64-bit limbs of a number in memory
  static constexpr unsigned kRadixBits = Field::kRadixBits;  ///< R = 2^kRadixBits
  static constexpr unsigned kBoundBits = Field::kBoundBits;  ///< residues are below B = 2^kBoundBits
  /// 32-bit words of a thread's part of a residue.
  static constexpr unsigned kResidueWords = Field::kElementWords;
  /// 32-bit words of working memory that each thread needs, best in shared memory; 0 for many shapes.
  static constexpr unsigned kSharedWords = Field::kSharedWords;

  /// A thread's part of a R mod n, below B.
  struct Residue {
    Element element;

    /// This thread's words of it, for tables and exchanges of your own. 0 <= j < kResidueWords
    MM_DEVICE std::uint32_t word(unsigned j) const { return element.word(j); }
    /// Sets the word j to `value`.
    MM_DEVICE void set_word(unsigned j, std::uint32_t value) { element.set_word(j, value); }
  };
  /// A thread's part of a number below 2^(32 kWords).
  struct Integer {
    Element element;
  };

  // ---- memory ---------------------------------------------------------------------------------------------

  /// A number of kWords little-endian words, or kLimbs limbs.
  MM_DEVICE static Words words(const std::uint32_t* a) { return {a, kWords}; }
  MM_DEVICE static Words words(const std::uint64_t* a) { return {a, kLimbs}; }

  /// Words that each thread's table of powers takes for windows of `window` bits.
  MM_DEVICE static constexpr unsigned table_words(unsigned window) { return kResidueWords << window; }

#if defined(__CUDACC__)
  /// This thread's own words in `memory`, which holds those of all blockDim.x threads interleaved, such as
  /// kSharedWords blockDim.x words of shared memory. One-dimensional blocks.
  __device__ __forceinline__ static LaneMemory thread_memory(std::uint32_t* memory) {
    return {memory + threadIdx.x, blockDim.x};
  }
#endif

  // ---- construction ---------------------------------------------------------------------------------------

  /// Whether n can be a modulus: odd, above 1, of at most kWords words. With any other n the results are
  /// undefined numbers. Variable-time.
  MM_DEVICE static bool is_valid(const Words& n) {
    const unsigned bits = bit_length(n);
    return (n[0] & 1) != 0 && bits >= 2 && bits <= 32 * kWords;
  }

  /// About log2(kRadixBits) squarings. `n` must stay where it is as long as inverse, inverse_of_prime and
  /// gcd_with_modulus are called. `memory`: kSharedWords words of this thread's own.
  MM_DEVICE Modulus(const Words& n, LaneMemory memory, Group group = Group()) : field_(n, memory, group) {}
  MM_DEVICE explicit Modulus(const Words& n, Group group = Group())
    requires(kSharedWords == 0)
      : Modulus(n, LaneMemory{}, group) {}

  /// For a modulus that is used again: `radix_squared` is what store() wrote of radix_squared_modulo(). No
  /// squarings. `n` and `memory` as in the constructor.
  MM_DEVICE static Modulus with_radix_squared(const Words& n, const Words& radix_squared, LaneMemory memory,
                                              Group group = Group()) {
    return Modulus(Field::with_radix_squared(n, radix_squared, memory, group));
  }
  /// R^2 mod n, below n.
  MM_DEVICE Integer radix_squared_modulo() const {
    return integer([&](Element& r) { field_.radix_squared_modulo(r); });
  }

  // ---- integers -------------------------------------------------------------------------------------------

  /// A number below 2^(32 kWords), which need not be below n.
  MM_DEVICE Integer load(const Words& a) const {
    return integer([&](Element& r) { field_.load(r, a); });
  }
  MM_DEVICE Integer load(const std::uint32_t* a) const { return load(words(a)); }
  MM_DEVICE Integer load(const std::uint64_t* a) const { return load(words(a)); }
  /// The number `a`.
  MM_DEVICE Integer small(std::uint32_t a) const {
    return integer([&](Element& r) { field_.load(r, integers::SmallWord{a}); });
  }

  /// Writes kWords words, or kLimbs limbs; nothing without `keep`, for groups without a number of their own.
  MM_DEVICE void store(std::uint32_t* r, const Integer& a, bool keep = true) const {
    field_.store(WordsOut(r, keep ? kWords : 0), a.element);
  }
  MM_DEVICE void store(std::uint64_t* r, const Integer& a, bool keep = true) const {
    field_.store(WordsOut(r, keep ? kLimbs : 0), a.element);
  }

  /// The modulus.
  MM_DEVICE Integer modulus() const {
    return integer([&](Element& r) { field_.modulus(r); });
  }

  /// -1, 0 or 1 for a < b, a = b, a > b, in all threads of the group.
  MM_DEVICE int compare(const Integer& a, const Integer& b) const {
    return field_.compare(a.element, b.element);
  }
  /// a = b, in all threads of the group.
  MM_DEVICE bool equal(const Integer& a, const Integer& b) const {
    return field_.same(a.element, b.element) != 0;
  }
  /// a = 0, in all threads of the group.
  MM_DEVICE bool is_zero(const Integer& a) const { return equal(a, small(0)); }
  /// condition ? a : b, without a branch.
  MM_DEVICE Integer select(bool condition, const Integer& a, const Integer& b) const {
    return {selected(condition, a.element, b.element)};
  }

  /// gcd(n, a), in division steps as inverse(), by each thread of the group for itself. In: a < 2^(32 kWords)
  MM_DEVICE Integer gcd_with_modulus(const Integer& a) const {
    return integer([&](Element& r) { field_.gcd_with_modulus(r, a.element); });
  }

  // ---- residues -------------------------------------------------------------------------------------------

  /// On input: a < 2^(32 kWords). One product.
  MM_DEVICE Residue to_montgomery(const Integer& a) const {
    return residue([&](Element& r) { field_.to_montgomery(r, a.element); });
  }
  /// Below n. One product.
  MM_DEVICE Integer from_montgomery(const Residue& a) const {
    return integer([&](Element& r) { field_.from_montgomery(r, a.element); });
  }

  /// 0.
  MM_DEVICE Residue zero() const {
    return residue([&](Element& r) { field_.zero(r); });
  }
  /// R mod n, which stands for 1.
  MM_DEVICE Residue one() const {
    return residue([&](Element& r) { field_.one(r); });
  }

  /// a + b mod n.
  MM_DEVICE Residue add(const Residue& a, const Residue& b) const {
    return residue([&](Element& r) { field_.add(r, a.element, b.element); });
  }
  /// a - b mod n.
  MM_DEVICE Residue sub(const Residue& a, const Residue& b) const {
    return residue([&](Element& r) { field_.sub(r, a.element, b.element); });
  }
  /// -a mod n.
  MM_DEVICE Residue neg(const Residue& a) const {
    return residue([&](Element& r) { field_.neg(r, a.element); });
  }
  /// a b mod n. One product.
  MM_DEVICE Residue mul(const Residue& a, const Residue& b) const {
    return residue([&](Element& r) { field_.mul(r, a.element, b.element); });
  }
  /// a^2 mod n. One squaring.
  MM_DEVICE Residue sqr(const Residue& a) const {
    return residue([&](Element& r) { field_.sqr(r, a.element); });
  }

  /// condition ? a : b, without a branch.
  MM_DEVICE Residue select(bool condition, const Residue& a, const Residue& b) const {
    return {selected(condition, a.element, b.element)};
  }
  /// a = b mod n, in all threads of the group. A difference and a product.
  MM_DEVICE bool equal(const Residue& a, const Residue& b) const {
    return field_.equal(a.element, b.element) != 0;
  }
  /// a = 0 mod n. A product.
  MM_DEVICE bool is_zero(const Residue& a) const { return field_.is_zero(a.element) != 0; }

  /// The residue of a number of any length. A product and a sum for each kWords words or a few more.
  MM_DEVICE Residue reduce(const Words& a) const {
    return residue([&](Element& r) { field_.reduce(r, a); });
  }

  // ---- powers ---------------------------------------------------------------------------------------------
  // Exponents e are objects with words e[j] of 32 bits, 0 beyond the last one, such as words(memory).

  /// a^e, 0 <= e < 2^bits. Fixed windows of kWindow bits: `bits` squarings and bits / kWindow + 2^kWindow
  /// products. `table`: table_words(kWindow) words of this thread's own, all of which are read for each
  /// digit. With kThreads > 1 `bits` is the same in all threads of a warp; the exponents, in memory, may
  /// differ.
  template <unsigned kWindow, windows::ExponentWords Exponent>
  MM_DEVICE Residue pow(const Residue& a, const Exponent& e, unsigned bits, LaneMemory table) const {
    return windows::fixed_windows<kWindow, true>(*this, a, e, bits, table);
  }
  /// The same with a table in local memory, which the device interleaves by itself.
  template <unsigned kWindow = 4, windows::ExponentWords Exponent>
  MM_DEVICE Residue pow(const Residue& a, const Exponent& e, unsigned bits) const {
    std::uint32_t table[table_words(kWindow)];
    return windows::fixed_windows<kWindow, true>(*this, a, e, bits, LaneMemory{table, 1});
  }

  /// a^e as pow(), in variable time: one element of the table is read for each digit.
  template <unsigned kWindow, windows::ExponentWords Exponent>
  MM_DEVICE Residue pow_public(const Residue& a, const Exponent& e, unsigned bits, LaneMemory table) const {
    return windows::fixed_windows<kWindow, false>(*this, a, e, bits, table);
  }
  template <unsigned kWindow = 4, windows::ExponentWords Exponent>
  MM_DEVICE Residue pow_public(const Residue& a, const Exponent& e, unsigned bits) const {
    std::uint32_t table[table_words(kWindow)];
    return windows::fixed_windows<kWindow, false>(*this, a, e, bits, LaneMemory{table, 1});
  }

  /// a^e for an exponent that all threads of a warp share (any exponent where kThreads = 1). Variable-time:
  /// sliding windows of up to kWindow bits, a product for each, over 2^(kWindow - 1) odd powers. `table`:
  /// table_words(kWindow - 1) words.
  template <unsigned kWindow, windows::ExponentWords Exponent>
  MM_DEVICE Residue pow_uniform(const Residue& a, const Exponent& e, unsigned bits, LaneMemory table) const {
    return windows::sliding_windows<kWindow>(*this, a, e, bits, table);
  }
  /// The same without a table: a product for each bit that is 1.
  template <windows::ExponentWords Exponent>
  MM_DEVICE Residue pow_uniform(const Residue& a, const Exponent& e, unsigned bits) const {
    return windows::by_sliding_digits<1>(*this, e, bits, [&](std::uint32_t /*digit*/) { return a; });
  }
  MM_DEVICE Residue pow_uniform(const Residue& a, std::uint32_t e) const {
    return pow_uniform(a, integers::SmallWord{e}, 32);
  }

  // ---- inverses -------------------------------------------------------------------------------------------

  /// 1/a mod n for any n; 0 where gcd(a, n) > 1. `exists`, the same in all threads of the group, is false
  /// there. Two products and (45907 bits + 30179) / 19929 division steps for bits = 32 kWords, by each
  /// thread of the group for itself.
  MM_DEVICE Residue inverse(const Residue& a, bool& exists) const {
    return residue([&](Element& r) { exists = field_.inverse(r, a.element) != 0; });
  }

  /// 1/a mod n for a prime n, by Fermat: a^(n - 2); 0 for a = 0. As pow with 32 kWords bits. A group of many
  /// threads shares this work, but not that of inverse(). `table` as in pow().
  template <unsigned kWindow>
  MM_DEVICE Residue inverse_of_prime(const Residue& a, LaneMemory table) const {
    return pow<kWindow>(a, integers::LessTwo(field_.n()), 32 * kWords, table);
  }
  template <unsigned kWindow = 4>
  MM_DEVICE Residue inverse_of_prime(const Residue& a) const {
    return pow<kWindow>(a, integers::LessTwo(field_.n()), 32 * kWords);
  }

 private:
  Field field_;

  MM_DEVICE explicit Modulus(const Field& field) : field_(field) {}

  // The field's results are below B whatever their magnitude by its rules.
  template <class Compute>
  MM_DEVICE static Residue residue(Compute compute) {
    Residue r;
    compute(r.element);
    field::Rules::set(r.element, 1);
    return r;
  }
  template <class Compute>
  MM_DEVICE static Integer integer(Compute compute) {
    Integer r;
    compute(r.element);
    return r;
  }

  MM_DEVICE Element selected(bool condition, const Element& a, const Element& b) const {
    Element r = b;
    field_.cmov(r, a, cuda::opaque(0 - static_cast<std::uint32_t>(condition)));
    return r;
  }
};

}  // namespace manymod::device

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

#include <cstdint>

#include "arch/cuda/thread_group.cuda.hpp"
#include "core/portable.hpp"
#include "modexp/windows.cuda.hpp"
#include "modinv/divsteps.cuda.hpp"
#include "modmul/dpf52/numbers.cuda.hpp"
#include "modmul/row32/numbers.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::device {

/// Technique: rows of 32-bit products with carry chains, on the integer multipliers. Any device.
struct Row32 {
  template <class Group, unsigned kPerThread>
  using Numbers = row32::Numbers<Group, kPerThread>;

  /// 32-bit words of each thread: an even number.
  MM_DEVICE static constexpr unsigned per_thread(unsigned words, unsigned threads) {
    return ((words + threads - 1) / threads + 1) / 2 * 2;
  }
};

/// Technique: 52-bit digits in double precision. For devices with FP64 at half of the FP32 rate (sm_80,
/// sm_90, sm_100); on others it is slow.
struct Dpf52 {
  template <class Group, unsigned kPerThread>
  using Numbers = dpf52::Numbers<Group, kPerThread>;

  /// 52-bit digits of each thread: two bits stay free in all; from 11 digits on they are taken in blocks.
  MM_DEVICE static constexpr unsigned per_thread(unsigned words, unsigned threads) {
    unsigned digits = 2;
    while (52 * digits * threads < 32 * words + 2 || (digits > 10 && digits % (digits / 5) != 0)) ++digits;
    return digits;
  }
};

/// Arithmetic modulo one odd number n, 1 < n < 2^(32 kWords), for each group of kThreads neighbouring threads
/// of a warp (1, 2, 4, .. 32). `Group` is for tests on the host.
///
/// With kThreads > 1 every function is called by all threads of a warp together: a group that has no number
/// of its own works on a copy of another's. With kThreads = 1 threads may diverge as they like.
///
/// Ranges, with B = 2^kBoundBits: a Residue stands for a R mod n by a number below B, not necessarily below
/// n. All functions take and return numbers below B; only equal() and is_zero() of residues reduce them,
/// which takes a product. An Integer is a number below 2^(32 kWords) with one representation; from_montgomery
/// returns one below n.
///
/// Timing: no branch and no address depends on a number, but for n's length in bits, which is public, and
/// where a function is said to be of class public.
template <unsigned kBits, unsigned kThreads = 1, class Technique = Row32,
          class Group = cuda::ThreadGroup<kThreads>>
class Modulus {
  static_assert(Group::kSize == kThreads && kBits >= 2);
  static constexpr unsigned kPerThread = Technique::per_thread((kBits + 31) / 32, kThreads);
  using Numbers = typename Technique::template Numbers<Group, kPerThread>;
  using Multiplier = typename Numbers::Multiplier;
  using Element = typename Numbers::Element;

 public:
  static constexpr unsigned kWords = (kBits + 31) / 32;           ///< 32-bit words of a number in memory
  static constexpr unsigned kLimbs = (kBits + 63) / 64;           ///< 64-bit limbs of a number in memory
  static constexpr unsigned kRadixBits = Multiplier::kRadixBits;  ///< R = 2^kRadixBits
  static constexpr unsigned kBoundBits = Numbers::kBoundBits;     ///< residues are below B = 2^kBoundBits
  /// 32-bit words of a thread's part of a residue.
  static constexpr unsigned kResidueWords = Multiplier::kLaneWords;
  /// 32-bit words of working memory that each thread needs, best in shared memory; 0 for many shapes.
  static constexpr unsigned kSharedWords = Multiplier::kSharedWords;

  /// A thread's part of a R mod n, below B.
  struct Residue {
    Element element;

    /// This thread's words of it, for tables and exchanges of your own. 0 <= j < kResidueWords
    MM_DEVICE std::uint32_t word(unsigned j) const { return Multiplier::lane_word(element, j); }
    MM_DEVICE void set_word(unsigned j, std::uint32_t value) { Multiplier::set_lane_word(element, j, value); }
  };
  /// A thread's part of a number below 2^(32 kWords).
  struct Integer {
    Element element;
  };

  // ---- memory ---------------------------------------------------------------------------------------------

  /// A number of kWords little-endian words, or kLimbs limbs.
  MM_DEVICE static Words words(const std::uint32_t* a) { return {a, kWords}; }
  MM_DEVICE static Words words(const std::uint64_t* a) { return {a, kLimbs}; }

  /// Words of a table of powers for a window of so many bits, of each thread.
  MM_DEVICE static constexpr unsigned table_words(unsigned window) { return kResidueWords << window; }

#if defined(__CUDACC__)
  /// This thread's own words among blockDim.x threads' in `memory`, side by side, such as kSharedWords
  /// blockDim.x words of shared memory. One-dimensional blocks.
  __device__ __forceinline__ static LaneMemory thread_memory(std::uint32_t* memory) {
    return {memory + threadIdx.x, blockDim.x};
  }
#endif

  // ---- construction ---------------------------------------------------------------------------------------

  /// Whether n can be a modulus: odd, above 1, of at most kWords words. Else results are undefined numbers.
  /// Class public.
  MM_DEVICE static bool is_valid(const Words& n) {
    const unsigned bits = bit_length(n);
    return (n[0] & 1) != 0 && bits >= 2 && bits <= 32 * kWords;
  }

  /// About log2(kRadixBits) squarings. `n`: stays where it is while inverse_of_prime may be called. `memory`:
  /// kSharedWords words of this thread's own.
  MM_DEVICE Modulus(const Words& n, LaneMemory memory, Group group = Group())
      : Modulus(n, memory, group, Element{}) {
    radix_squared_ = radix_squared();
  }
  MM_DEVICE explicit Modulus(const Words& n, Group group = Group())
    requires(kSharedWords == 0)
      : Modulus(n, LaneMemory{}, group) {}

  /// For a modulus that is used again: `radix_squared` is what store(.., radix_squared_modulo()) gave. No
  /// squarings.
  MM_DEVICE static Modulus with_radix_squared(const Words& n, const Words& radix_squared, LaneMemory memory,
                                              Group group = Group()) {
    Modulus m(n, memory, group, Element{});
    m.radix_squared_ = m.load(radix_squared).element;
    return m;
  }
  /// R^2 mod n, below n.
  MM_DEVICE Integer radix_squared_modulo() const {
    return from_montgomery(mul({radix_squared_}, {radix_squared_}));
  }

  // ---- integers -------------------------------------------------------------------------------------------

  /// A number below 2^(32 kWords), which need not be below n.
  MM_DEVICE Integer load(const Words& a) const { return {Numbers::load(group_, a)}; }
  MM_DEVICE Integer load(const std::uint32_t* a) const { return load(words(a)); }
  MM_DEVICE Integer load(const std::uint64_t* a) const { return load(words(a)); }
  MM_DEVICE Integer small(std::uint32_t a) const { return {Numbers::load(group_, SmallWord{a})}; }

  /// kWords words, or kLimbs limbs; or nothing if not `keep`, for groups without a number of their own.
  MM_DEVICE void store(std::uint32_t* r, const Integer& a, bool keep = true) const {
    Numbers::store(group_, WordsOut(r, keep ? kWords : 0), a.element);
  }
  MM_DEVICE void store(std::uint64_t* r, const Integer& a, bool keep = true) const {
    Numbers::store(group_, WordsOut(r, keep ? kLimbs : 0), a.element);
  }

  /// The modulus.
  MM_DEVICE Integer modulus() const { return {multiplier_.modulus()}; }

  /// -1, 0 or 1 for a < b, a = b, a > b, in all threads of the group.
  MM_DEVICE int compare(const Integer& a, const Integer& b) const {
    bool less = false, greater = false;
    MM_UNROLL
    for (unsigned j = 0; j < kResidueWords; ++j) {
      // Doubles that are not negative are ordered as their bit patterns are.
      const std::uint32_t x = Multiplier::lane_word(a.element, j), y = Multiplier::lane_word(b.element, j);
      const bool same = x == y;
      less = (x < y) | (same & less);
      greater = (x > y) | (same & greater);
    }
    const std::uint32_t lanes_less = group_.ballot(less), lanes_greater = group_.ballot(greater);
    return static_cast<int>(lanes_greater > lanes_less) - static_cast<int>(lanes_greater < lanes_less);
  }
  MM_DEVICE bool equal(const Integer& a, const Integer& b) const {
    return group_.ballot(difference(a.element, b.element) != 0) == 0;
  }
  MM_DEVICE bool is_zero(const Integer& a) const { return equal(a, small(0)); }
  /// condition ? a : b, without a branch.
  MM_DEVICE Integer select(bool condition, const Integer& a, const Integer& b) const {
    return {selected(condition, a.element, b.element)};
  }

  /// gcd(n, a), in divsteps as inverse(), by each thread of the group for itself. In: a < 2^(32 kWords)
  MM_DEVICE Integer gcd_with_modulus(const Integer& a) const {
    Steps steps = divsteps(a);
    steps.template run<false>();
    return {Numbers::load(group_, GcdWords{steps})};
  }

  // ---- residues -------------------------------------------------------------------------------------------

  /// In: a < 2^(32 kWords). One product.
  MM_DEVICE Residue to_montgomery(const Integer& a) const {
    return {multiplier_.mul(a.element, radix_squared_)};
  }
  /// Below n. One product.
  MM_DEVICE Integer from_montgomery(const Residue& a) const {
    const Element r = multiplier_.mul(a.element, Numbers::load(group_, SmallWord{1}));
    return {Numbers::canonical(group_, r, multiplier_.modulus())};
  }

  MM_DEVICE Residue zero() const { return {Numbers::load(group_, SmallWord{0})}; }
  MM_DEVICE Residue one() const { return {Numbers::radix(group_, multiple_)}; }

  MM_DEVICE Residue add(const Residue& a, const Residue& b) const {
    return {Numbers::add(group_, a.element, b.element, multiple_)};
  }
  MM_DEVICE Residue sub(const Residue& a, const Residue& b) const {
    return {Numbers::sub(group_, a.element, b.element, multiple_)};
  }
  MM_DEVICE Residue neg(const Residue& a) const { return sub(zero(), a); }
  MM_DEVICE Residue mul(const Residue& a, const Residue& b) const {
    return {multiplier_.mul(a.element, b.element)};
  }
  MM_DEVICE Residue sqr(const Residue& a) const { return {multiplier_.sqr(a.element)}; }

  /// condition ? a : b, without a branch.
  MM_DEVICE Residue select(bool condition, const Residue& a, const Residue& b) const {
    return {selected(condition, a.element, b.element)};
  }
  /// a = b mod n, in all threads of the group. A difference and a product.
  MM_DEVICE bool equal(const Residue& a, const Residue& b) const { return is_zero(sub(a, b)); }
  /// a = 0 mod n. A product.
  MM_DEVICE bool is_zero(const Residue& a) const { return is_zero(from_montgomery(a)); }

  /// The residue of a number of any length. A product and a sum for each kWords words or a few more.
  MM_DEVICE Residue reduce(const Words& a) const {
    constexpr unsigned kChunk = Multiplier::kWords;
    const Element half = multiplier_.mul(radix_squared_, Numbers::load(group_, PowerOfTwo{32 * kChunk - 1}));
    const Residue shift = add({half}, {half});  // 2^(32 kChunk) in Montgomery form
    Residue sum = zero();
    MM_ROLLED
    for (unsigned left = (a.count() + kChunk - 1) / kChunk; left > 0; --left) {
      const ChunkWords chunk{a, (left - 1) * kChunk, kChunk};
      sum = add(mul(sum, shift), {Numbers::load(group_, chunk)});
    }
    return to_montgomery({sum.element});
  }

  // ---- powers ---------------------------------------------------------------------------------------------

  /// a^e, 0 <= e < 2^bits. Fixed windows of kWindow bits: `bits` squarings, bits / kWindow + 2^kWindow
  /// products. `table`: table_words(kWindow) words of this thread's own, all of which are read for each
  /// digit. `bits` is the same in all threads of a warp where kThreads > 1; the exponents, in memory, need
  /// not be.
  template <unsigned kWindow, class Exponent>
  MM_DEVICE Residue pow(const Residue& a, const Exponent& e, unsigned bits, LaneMemory table) const {
    return fixed_windows<kWindow, true>(*this, a, e, bits, table);
  }
  /// The same with a table in local memory, where the device puts it side by side by itself.
  template <unsigned kWindow = 4, class Exponent>
  MM_DEVICE Residue pow(const Residue& a, const Exponent& e, unsigned bits) const {
    std::uint32_t table[table_words(kWindow)];
    return fixed_windows<kWindow, true>(*this, a, e, bits, LaneMemory{table, 1});
  }

  /// The same in class public: one element of the table is read for each digit.
  template <unsigned kWindow, class Exponent>
  MM_DEVICE Residue pow_public(const Residue& a, const Exponent& e, unsigned bits, LaneMemory table) const {
    return fixed_windows<kWindow, false>(*this, a, e, bits, table);
  }
  template <unsigned kWindow = 4, class Exponent>
  MM_DEVICE Residue pow_public(const Residue& a, const Exponent& e, unsigned bits) const {
    std::uint32_t table[table_words(kWindow)];
    return fixed_windows<kWindow, false>(*this, a, e, bits, LaneMemory{table, 1});
  }

  /// a^e for an exponent that all threads of a warp share (any where kThreads = 1). Class public: sliding
  /// windows of up to kWindow bits, a product for each, over 2^(kWindow - 1) odd powers. `table`:
  /// table_words(kWindow - 1) words.
  template <unsigned kWindow, class Exponent>
  MM_DEVICE Residue pow_uniform(const Residue& a, const Exponent& e, unsigned bits, LaneMemory table) const {
    return sliding_windows<kWindow>(*this, a, e, bits, table);
  }
  /// The same without a table: a product for each bit that is 1.
  template <class Exponent>
  MM_DEVICE Residue pow_uniform(const Residue& a, const Exponent& e, unsigned bits) const {
    return by_digits<1>(*this, e, bits, [&](std::uint32_t /*digit*/) { return a; });
  }
  MM_DEVICE Residue pow_uniform(const Residue& a, std::uint32_t e) const {
    return pow_uniform(a, SmallWord{e}, 32);
  }

  // ---- inverses -------------------------------------------------------------------------------------------

  /// 1/a mod n for any n; 0 where gcd(a, n) > 1, which `exists`, the same in all threads of the group, tells.
  /// Two products and (49 bits + 57) / 17 divsteps for bits = 32 kWords, by each thread of the group for
  /// itself.
  MM_DEVICE Residue inverse(const Residue& a, bool& exists) const {
    Steps steps = divsteps(from_montgomery(a));
    steps.template run<true>();
    exists = steps.invertible();
    const std::uint32_t mask = 0 - static_cast<std::uint32_t>(exists);
    return to_montgomery({Numbers::load(group_, InverseWords{steps, mask})});
  }

  /// 1/a mod n for a prime n, by Fermat: a^(n - 2); 0 for a = 0. As pow with 32 kWords bits. A group of many
  /// threads shares this work, not that of inverse().
  template <unsigned kWindow>
  MM_DEVICE Residue inverse_of_prime(const Residue& a, LaneMemory table) const {
    return pow<kWindow>(a, LessTwo(n_), 32 * kWords, table);
  }
  template <unsigned kWindow = 4>
  MM_DEVICE Residue inverse_of_prime(const Residue& a) const {
    return pow<kWindow>(a, LessTwo(n_), 32 * kWords);
  }

 private:
  using Steps = Divsteps<32 * kWords>;

  struct GcdWords {
    const Steps& steps;
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return steps.gcd_word(j); }
  };
  struct InverseWords {
    const Steps& steps;
    std::uint32_t mask;
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return steps.inverse_word(j) & mask; }
  };

  Words n_;
  Group group_;
  Multiplier multiplier_;
  Element multiple_;  // n 2^z, B/2 < n 2^z < B
  Element radix_squared_;

  MM_DEVICE Modulus(const Words& n, LaneMemory memory, Group group, const Element& radix_squared)
      : n_(n),
        group_(group),
        multiplier_(group, memory, n),
        multiple_(Numbers::load(group, ShiftedLeft{n, kBoundBits - bit_length(n)})),
        radix_squared_(radix_squared) {}

  // 2^kRadixBits in Montgomery form, from its highest bit down.
  MM_DEVICE Element radix_squared() const {
    unsigned top = 31;
    while ((kRadixBits >> top & 1) == 0) --top;
    Residue r = one();
    r = add(r, r);
    MM_ROLLED
    for (; top > 0; --top) {
      r = sqr(r);
      if ((kRadixBits >> (top - 1) & 1) != 0) r = add(r, r);
    }
    return r.element;
  }

  MM_DEVICE static std::uint32_t difference(const Element& a, const Element& b) {
    std::uint32_t r = 0;
    MM_UNROLL
    for (unsigned j = 0; j < kResidueWords; ++j)
      r |= Multiplier::lane_word(a, j) ^ Multiplier::lane_word(b, j);
    return r;
  }

  MM_DEVICE static Element selected(bool condition, const Element& a, const Element& b) {
    const std::uint32_t mask = 0 - static_cast<std::uint32_t>(condition);
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kResidueWords; ++j) {
      const std::uint32_t x = Multiplier::lane_word(a, j), y = Multiplier::lane_word(b, j);
      Multiplier::set_lane_word(r, j, (x & mask) | (y & ~mask));
    }
    return r;
  }

  // Every thread has all of a.
  MM_DEVICE Steps divsteps(const Integer& a) const {
    std::uint32_t all[Numbers::kTotalWords];
    Numbers::gather(group_, all, a.element);
    return Steps(n_, Words(all, Numbers::kTotalWords));
  }
};

}  // namespace manymod::device

// SPDX-License-Identifier: Apache-2.0
// Residues for point arithmetic by one thread, with the operands in registers, in local memory or in shared
// memory (Giorgi, Izard, Tisserand, "Comparison of modular arithmetic algorithms on GPUs", sections 1 to 3).
//
// Unlike a field of field/field.hpp, these classes say where a number is stored: number(index) returns the
// storage of number `index`, and operations write to storage that exists. All have
//
//   Element                 the storage of a number, in registers the number itself
//   number(index)           storage of its own for each index < the kernel's number of numbers
//   mul, sqr, add, sub      r = a b, a^2, a + b, a - b mod n
//   copy(r, a)              r = a
//   is_zero(a)              whether a = 0 mod n
//   from_words(r, x, t)     r = x in Montgomery form. On input: x < n
//   to_words(sink, a, t)    the number a, below n
//   one(r, t)               r = 1 in Montgomery form
//
// where t is storage that may be overwritten, other than r and a. In and out: elements in the technique's
// range. Aliasing: r may be a or b.
//
// Timing: mul, sqr, add, sub and copy are constant-time, as the techniques are; is_zero is for branches.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arch/cuda/address_space.cuda.hpp"
#include "core/portable.hpp"
#include "ecc/giorgi/job.hpp"
#include "field/device.cuda.hpp"
#include "modmul/fios/arithmetic.cuda.hpp"
#include "modmul/fios/digits.cuda.hpp"
#include "modmul/fios/multiplier.cuda.hpp"
#include "modmul/fios/rows.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::ecc::giorgi {

/// A group of one thread: it exchanges nothing, so that it needs no device.
struct OneThread {
  static constexpr unsigned kSize = 1;
  MM_DEVICE static constexpr unsigned lane() { return 0; }
  template <class T>
  MM_DEVICE static constexpr T shuffle(T value, unsigned /*source*/) {
    return value;
  }
  template <class T>
  MM_DEVICE static constexpr T from_above(T value) {
    return value;
  }
  template <class T>
  MM_DEVICE static constexpr T from_below(T value) {
    return value;
  }
  MM_DEVICE static constexpr std::uint32_t ballot(bool condition) { return condition ? 1 : 0; }
  MM_DEVICE static constexpr void sync() {}
};

/// A block's shared memory: the numbers of the curve, which all threads share, and those of each thread.
struct BlockMemory {
  std::uint32_t* first = nullptr;
  unsigned thread = 0;
  unsigned threads = 1;
};

// ---- in registers -----------------------------------------------------------------------------------------

/// What ValueNumbers need of a technique: elements by value, products, sums, and the test for 0.
template <class Technique, unsigned kWords>
struct Values;

/// fios in registers: elements are below n, so that 0 has one form. A squaring is a multiplication, as the
/// paper counts them.
template <unsigned kDigitBits>
struct FiosRegisters {};
template <unsigned kDigitBits, unsigned kWords>
struct Values<FiosRegisters<kDigitBits>, kWords> {
  using Multiplier = fios::Multiplier<OneThread, kWords, kDigitBits, fios::InRegisters>;
  using Element = typename Multiplier::Element;
  static constexpr bool kSquares = false;
  static constexpr bool kCallsSums = true;

  Multiplier multiplier;
  MM_DEVICE Values(LaneMemory memory, const ItemWords& n)
      : multiplier(OneThread(), memory, WordSource{n.first, n.count, 0}) {}

  MM_DEVICE static Element load(const ItemWords& a) {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.word[j] = a[j];
    return r;
  }
  MM_DEVICE static Element load_one() { return {{1}}; }
  /// What sums need.
  using Reducer = Multiplier;
  [[nodiscard]] MM_DEVICE const Reducer& reducer() const { return multiplier; }
  MM_DEVICE static Element add(const Reducer& m, const Element& a, const Element& b) { return m.add(a, b); }
  MM_DEVICE static Element sub(const Reducer& m, const Element& a, const Element& b) { return m.sub(a, b); }
  /// On input: a b / R for an integer a < n.
  MM_DEVICE static Element canonical(const Element& a) { return a; }
  MM_DEVICE static void store(const ItemSink& r, const Element& a) {
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.set(j, a.word[j]);
  }
};

/// row32 and dpf52 (field::Row32, field::Dpf52), with the ranges of field::DeviceField.
template <class Technique, unsigned kWords>
struct Values {
  static constexpr unsigned kPerThread = Technique::per_thread(kWords, 1);
  using Numbers = typename Technique::template Numbers<OneThread, kPerThread>;
  using Multiplier = typename Numbers::Multiplier;
  using Element = typename Numbers::Element;
  static constexpr bool kSquares = true;
  static constexpr bool kCallsSums = std::is_same_v<Technique, field::Dpf52>;  // they are long

  Multiplier multiplier;
  Element multiple;  ///< n 2^z, B/2 < n 2^z < B = 2^kBoundBits
  MM_DEVICE Values(LaneMemory memory, const ItemWords& n)
      : Values(memory, integers::Words(n.first, n.count)) {}
  MM_DEVICE Values(LaneMemory memory, const integers::Words& n)
      : multiplier(OneThread(), memory, n),
        multiple(Numbers::load(OneThread(),
                               integers::ShiftedLeft{n, Numbers::kBoundBits - integers::bit_length(n)})) {}

  MM_DEVICE static Element load(const ItemWords& a) { return Numbers::load(OneThread(), a); }
  MM_DEVICE static Element load_one() { return Numbers::load(OneThread(), integers::SmallWord{1}); }
  using Reducer = Element;
  [[nodiscard]] MM_DEVICE const Reducer& reducer() const { return multiple; }
  MM_DEVICE static Element add(const Reducer& m, const Element& a, const Element& b) {
    return Numbers::add(OneThread(), a, b, m);
  }
  MM_DEVICE static Element sub(const Reducer& m, const Element& a, const Element& b) {
    return Numbers::sub(OneThread(), a, b, m);
  }
  /// On input: a b / R for an integer a < n.
  MM_DEVICE Element canonical(const Element& a) const {
    return Numbers::canonical(OneThread(), a, multiplier.modulus());
  }
  MM_DEVICE static void store(const ItemSink& r, const Element& a) { Numbers::store(OneThread(), r, a); }
};

/// Numbers that are C++ values, which the compiler keeps in registers as far as they go. Products are calls:
/// a kernel has 26 and more, which do not fit into the instruction caches inlined.
template <class Technique, unsigned kWordsOfNumbers>
class ValueNumbers {
  using Parts = Values<Technique, kWordsOfNumbers>;
  using Multiplier = typename Parts::Multiplier;
  using Reducer = typename Parts::Reducer;

 public:
  static constexpr unsigned kWords = kWordsOfNumbers;
  static constexpr unsigned kRadixBits = Multiplier::kRadixBits;
  using Element = typename Parts::Element;

  /// 32-bit words of a block's shared memory.
  MM_DEVICE static constexpr unsigned shared_words(unsigned threads, unsigned /*numbers*/) {
    return threads * Multiplier::kSharedWords;
  }

  MM_DEVICE ValueNumbers(const PointJob& job, const BlockMemory& memory)
      : radix_squared_(constant_of(job, 2)),
        parts_({memory.first + memory.thread, memory.threads}, constant_of(job, 0)) {}

  MM_DEVICE static Element number(unsigned /*index*/) { return {}; }
  /// Storage that all threads of a block share, for a number that is the same for all.
  MM_DEVICE static Element common_number() { return {}; }

  MM_DEVICE void mul(Element& r, const Element& a, const Element& b) const {
    r = product(parts_.multiplier, a, b);
  }
  MM_DEVICE void sqr(Element& r, const Element& a) const {
    if constexpr (Parts::kSquares) {
      r = square(parts_.multiplier, a);
    } else {
      mul(r, a, a);
    }
  }
  MM_DEVICE void add(Element& r, const Element& a, const Element& b) const {
    if constexpr (Parts::kCallsSums) {
      r = sum(parts_.reducer(), a, b);
    } else {
      r = Parts::add(parts_.reducer(), a, b);
    }
  }
  MM_DEVICE void sub(Element& r, const Element& a, const Element& b) const {
    if constexpr (Parts::kCallsSums) {
      r = difference(parts_.reducer(), a, b);
    } else {
      r = Parts::sub(parts_.reducer(), a, b);
    }
  }
  MM_DEVICE static void copy(Element& r, const Element& a) { r = a; }

  [[nodiscard]] MM_DEVICE bool is_zero(const Element& a) const {
    const Element number = parts_.canonical(product(parts_.multiplier, a, parts_.load_one()));
    std::uint32_t any = 0;
    MM_UNROLL
    for (unsigned j = 0; j < Multiplier::kLaneWords; ++j) any |= Multiplier::lane_word(number, j);
    return any == 0;
  }
  MM_DEVICE void from_words(Element& r, const ItemWords& x, Element& /*t*/) const {
    r = product(parts_.multiplier, load(x), load(radix_squared_));
  }
  MM_DEVICE void to_words(const ItemSink& sink, const Element& a, Element& /*t*/) const {
    store(sink, parts_.canonical(product(parts_.multiplier, a, parts_.load_one())));
  }
  MM_DEVICE void one(Element& r, Element& /*t*/) const {
    r = product(parts_.multiplier, parts_.load_one(), load(radix_squared_));
  }

 private:
  ItemWords radix_squared_;
  Parts parts_;

  MM_DEVICE_CALL static Element product(Multiplier multiplier, Element a, Element b) {
    return multiplier.mul(a, b);
  }
  MM_DEVICE_CALL static Element square(Multiplier multiplier, Element a) { return multiplier.sqr(a); }
  MM_DEVICE_CALL static Element sum(Reducer reducer, Element a, Element b) {
    return Parts::add(reducer, a, b);
  }
  MM_DEVICE_CALL static Element difference(Reducer reducer, Element a, Element b) {
    return Parts::sub(reducer, a, b);
  }
  MM_DEVICE_CALL static Element load(ItemWords a) { return Parts::load(a); }
  MM_DEVICE_CALL static void store(ItemSink r, Element a) { Parts::store(r, a); }
};

// ---- in local or shared memory ----------------------------------------------------------------------------

/// fios on operands that stay in fios::InLocalMemory or fios::InSharedMemory: points, intermediate values and
/// the sums of products. Elements are below n. Squarings are multiplications.
template <unsigned kDigitBits, class Place, unsigned kWordsOfNumbers>
class PlacedNumbers {
  static constexpr unsigned kDigits = 32 * kWordsOfNumbers / kDigitBits;
  static constexpr bool kShared = std::is_same_v<Place, fios::InSharedMemory>;
  static constexpr unsigned kCommon = 2;  // n and common_number()
  using Digit = fios::Radix<kDigitBits>;

  struct Digits {
    std::uint32_t digit[kDigits];
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return digit[j]; }
    MM_DEVICE std::uint32_t& operator[](unsigned j) { return digit[j]; }
  };

 public:
  using Element = std::conditional_t<kShared, LaneMemory, Digits>;
  static constexpr unsigned kWords = kWordsOfNumbers;
  static constexpr unsigned kRadixBits = 32 * kWords;

  /// 32-bit words of a block's shared memory.
  MM_DEVICE static constexpr unsigned shared_words(unsigned threads, unsigned numbers) {
    return kShared ? kDigits * (kCommon + (numbers + 1) * threads) : 0;
  }

  /// All threads write the same n to shared memory, each before it reads it.
  MM_DEVICE PlacedNumbers(const PointJob& job, const BlockMemory& memory)
      : memory_(memory), radix_squared_(constant_of(job, 2)), n_(common(0)), sum_(stored(0)) {
    load(n_, constant_of(job, 0));
    n0_ = cuda::negative_inverse(constant_of(job, 0)[0]) & Digit::kMask;
  }

  MM_DEVICE Element number(unsigned index) const { return stored(index + 1); }
  MM_DEVICE Element common_number() const { return common(1); }

  MM_DEVICE void mul(Element& r, const Element& a, const Element& b) { product(r, sum_, a, b, n_, n0_); }
  MM_DEVICE void sqr(Element& r, const Element& a) { mul(r, a, a); }
  MM_DEVICE void add(Element& r, const Element& a, const Element& b) const { sum(r, a, b, n_); }
  MM_DEVICE void sub(Element& r, const Element& a, const Element& b) const { difference(r, a, b, n_); }
  MM_DEVICE static void copy(Element& r, const Element& a) {
    MM_FIOS_DIGIT_LOOP
    for (unsigned j = 0; j < kDigits; ++j) r[j] = digit(a, j);
  }

  [[nodiscard]] MM_DEVICE static bool is_zero(const Element& a) {
    std::uint32_t any = 0;
    MM_FIOS_DIGIT_LOOP
    for (unsigned j = 0; j < kDigits; ++j) any |= digit(a, j);
    return any == 0;
  }
  MM_DEVICE void from_words(Element& r, const ItemWords& x, Element& t) {
    load(t, radix_squared_);
    load(r, x);
    mul(r, r, t);
  }
  MM_DEVICE void to_words(const ItemSink& sink, const Element& a, Element& t) {
    load(t, integers::SmallWord{1});
    mul(t, a, t);
    MM_ROLLED
    for (unsigned j = 0; j < kWords; ++j) sink.set(j, Digit::word(t, j));
  }
  MM_DEVICE void one(Element& r, Element& t) {
    load(t, radix_squared_);
    load(r, integers::SmallWord{1});
    mul(r, r, t);
  }

 private:
  using Products = fios::Rows<OneThread, Digit, Place, kDigits, Element>;
  using Operations = fios::Arithmetic<Digit, Place, kDigits>;

  BlockMemory memory_;
  ItemWords radix_squared_;
  Element n_;
  Element sum_;           // of the rows of a product, until it is reduced
  std::uint32_t n0_ = 0;  // -1/n mod beta

  // How functions are passed numbers: the place of shared memory by value, a local array by its address.
  using Written = std::conditional_t<kShared, LaneMemory, Digits&>;
  using Read = std::conditional_t<kShared, LaneMemory, const Digits&>;

  MM_DEVICE static void assume_place(const LaneMemory& a) { cuda::assume_shared(a.first); }
  MM_DEVICE static void assume_place(const Digits& a) { cuda::assume_local(&a); }

  /// r = a b / R mod n; `rows` is overwritten.
  MM_DEVICE_CALL static void product(Written r, Written rows, Read a, Read b, Read n, std::uint32_t n0) {
    assume_place(r), assume_place(rows), assume_place(a), assume_place(b), assume_place(n);
    const std::uint32_t top = Products(OneThread(), n, n0).product(rows, a, b);
    Operations::reduce_once(r, rows, top, n);
  }
  MM_DEVICE_CALL static void sum(Written r, Read a, Read b, Read n) {
    assume_place(r), assume_place(a), assume_place(b), assume_place(n);
    Operations::add(r, a, b, n);
  }
  MM_DEVICE_CALL static void difference(Written r, Read a, Read b, Read n) {
    assume_place(r), assume_place(a), assume_place(b), assume_place(n);
    Operations::subtract(r, a, b, n);
  }
  MM_DEVICE static std::uint32_t digit(const Element& a, unsigned j) { return a[j]; }

  MM_DEVICE Element common(unsigned index) const {
    if constexpr (kShared) {
      return {memory_.first + index * kDigits, 1};
    } else {
      return {};
    }
  }
  MM_DEVICE Element stored(unsigned index) const {
    if constexpr (kShared) {
      return {
          memory_.first + kCommon * kDigits + std::size_t{index} * kDigits * memory_.threads + memory_.thread,
          memory_.threads};
    } else {
      return {};
    }
  }
  template <class Words>
  MM_DEVICE static void load(Element& r, const Words& x) {
    MM_ROLLED
    for (unsigned j = 0; j < kDigits; ++j) r[j] = Digit::digit(x, j);
  }
};

/// fios on operands in local or in shared memory.
template <unsigned kDigitBits, class Place>
struct FiosPlaced {};

template <class Technique, unsigned kWords>
struct NumbersOf {
  using Type = ValueNumbers<Technique, kWords>;
};
template <unsigned kDigitBits, class Place, unsigned kWords>
struct NumbersOf<FiosPlaced<kDigitBits, Place>, kWords> {
  using Type = PlacedNumbers<kDigitBits, Place, kWords>;
};
/// The numbers of a technique: FiosRegisters, FiosPlaced, field::Row32 or field::Dpf52.
template <class Technique, unsigned kWords>
using Numbers = typename NumbersOf<Technique, kWords>::Type;

}  // namespace manymod::ecc::giorgi

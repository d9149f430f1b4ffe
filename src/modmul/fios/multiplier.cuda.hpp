// SPDX-License-Identifier: Apache-2.0
// Technique fios: finely integrated operand scanning Montgomery multiplication, in radix 2^16 or 2^32, with
// the operands in registers, shared memory or local memory. One thread an instance.
//
// Numbers are fully reduced, below n, but for those that from_words makes of larger ones. For a, b < R the
// product (a b + q n) / R with q < R is below R + n, so that it is below R after one subtraction; where a < n
// or b <= n it is below 2 n, so that it is below n then.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arch/cuda/thread_group.hpp"
#include "arch/cuda/words.hpp"
#include "modmul/device/multiplier.hpp"
#include "modmul/fios/arithmetic.cuda.hpp"
#include "modmul/fios/digits.cuda.hpp"

namespace manymod::fios {

/// See modmul/device/multiplier.hpp; a digit there is a 32-bit word. Programs hand elements from step to step
/// by value, in words. For each operation the digits of its operands are put into their place, and the result
/// is taken from there: 3 kDigits words beside 2 kDigits^2 products. Arithmetic by itself works in place.
template <class Group, unsigned kPerThread, unsigned kDigitBits, class Place>
class Multiplier {
  static_assert(Group::kSize == 1, "fios has one thread an instance");
  using Digit = Radix<kDigitBits>;
  static constexpr unsigned kDigits = 32 * kPerThread / kDigitBits;
  static constexpr bool kShared = std::is_same_v<Place, InSharedMemory>;
  using Operations = Arithmetic<Digit, Place, kDigits>;

 public:
  static constexpr unsigned kWords = kPerThread;
  static constexpr unsigned kRadixBits = 32 * kWords;
  static constexpr unsigned kLaneWords = kWords;
  static constexpr unsigned kSharedWords = kShared ? 4 * kDigits : 0;

  struct Element {
    std::uint32_t word[kWords];
  };

  MM_DEVICE Multiplier(Group /*group*/, device::LaneMemory memory, device::WordSource n)
      : memory_(memory), n_(operand(from_words(n), 0)), n0_(cuda::negative_inverse(n[0]) & Digit::kMask) {}

  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.word[j] = a[j];
    return r;
  }

  /// In: a < n, as mul(b, one) returns it for any b < R
  MM_DEVICE void to_words(device::WordSink r, const Element& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.set(j, a.word[j]);
  }

  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    return product(operand(a, 1), operand(b, 2));
  }
  MM_DEVICE Element sqr(const Element& a) const {
    const Operand x = operand(a, 1);
    return product(x, x);
  }

  /// a + b mod n. In: a, b < n
  MM_DEVICE Element add(const Element& a, const Element& b) const {
    Operand r = place(3);
    Operations::add(r, operand(a, 1), operand(b, 2), n_);
    return element(r);
  }
  /// a - b mod n. In: a, b < n
  MM_DEVICE Element sub(const Element& a, const Element& b) const {
    Operand r = place(3);
    Operations::subtract(r, operand(a, 1), operand(b, 2), n_);
    return element(r);
  }

  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) { return a.word[j]; }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) { a.word[j] = word; }

 private:
  struct Digits {
    std::uint32_t digit[kDigits];
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return digit[j]; }
    MM_DEVICE std::uint32_t& operator[](unsigned j) { return digit[j]; }
  };
  using Operand = std::conditional_t<kShared, device::LaneMemory, Digits>;

  device::LaneMemory memory_;
  Operand n_;
  std::uint32_t n0_;  // -1/n mod beta

  /// The place of a number: shared memory holds kDigits words each for n (index 0), two operands and a
  /// result.
  MM_DEVICE Operand place(unsigned index) const {
    if constexpr (kShared) {
      return {&memory_[index * kDigits], memory_.stride};
    } else {
      return {};
    }
  }

  MM_DEVICE Operand operand(const Element& a, unsigned index) const {
    Operand r = place(index);
    MM_UNROLL
    for (unsigned j = 0; j < kDigits; ++j) r[j] = Digit::digit(a.word, j);
    return r;
  }

  MM_DEVICE static Element element(const Operand& a) {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.word[j] = Digit::word(a, j);
    return r;
  }

  MM_DEVICE Element product(const Operand& a, const Operand& b) const {
    Operand r = place(3);
    const std::uint32_t top = Operations::product(r, a, b, n_, n0_);
    Operations::reduce_once(r, top, n_);
    return element(r);
  }
};

// One technique for each radix and place, to be named as such.
#define MM_FIOS_TECHNIQUE(name, digit_bits, place)                                 \
  namespace name {                                                                 \
  template <class Group, unsigned kPerThread>                                      \
  using Multiplier = fios::Multiplier<Group, kPerThread, digit_bits, fios::place>; \
  }
MM_FIOS_TECHNIQUE(radix16_registers, 16, InRegisters)
MM_FIOS_TECHNIQUE(radix16_shared, 16, InSharedMemory)
MM_FIOS_TECHNIQUE(radix16_local, 16, InLocalMemory)
MM_FIOS_TECHNIQUE(radix32_registers, 32, InRegisters)
MM_FIOS_TECHNIQUE(radix32_shared, 32, InSharedMemory)
MM_FIOS_TECHNIQUE(radix32_local, 32, InLocalMemory)
#undef MM_FIOS_TECHNIQUE

}  // namespace manymod::fios

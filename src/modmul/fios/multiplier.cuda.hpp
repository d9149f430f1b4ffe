// SPDX-License-Identifier: Apache-2.0
// Technique fios: Montgomery multiplication by finely integrated operand scanning in radix 2^16 or 2^32, with
// the operands in registers, in shared memory or in local memory. One thread per instance may use any of the
// three; a group uses registers or shared memory. (Local memory serves numbers too large for both, and a
// group divides a number until each lane's part fits.) A lane accesses only its own part of a number; lanes
// exchange digits by shuffles.
//
// Range. Elements are fully reduced, 0 <= element < n, except those that from_words builds from larger
// numbers. For a, b < R and q < R the product (a b + q n) / R is below R + n, so one subtraction of n brings
// it below R. If a < n or b <= n, it is below 2 n, and the subtraction brings it below n.
//
// Timing: every function is constant-time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modmul/fios/arithmetic.cuda.hpp"
#include "modmul/fios/digits.cuda.hpp"
#include "modmul/fios/rows.cuda.hpp"
#include "repr/lane_words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::fios {

/// Models the multiplier of gpu/program/multiplier.cuda.hpp, whose digits are 32-bit words. Programs pass
/// elements between steps by value, as words. Each operation copies the digits of its operands into their
/// place and reads the result from there: 3 kDigits words beside 2 kDigits^2 products. Class Arithmetic works
/// in place.
///
/// Lane l holds words l kPerThread to (l + 1) kPerThread - 1 and their digits. In a group, carries between
/// lanes and the final subtraction are computed on words, after the last row.
template <class Group, unsigned kPerThread, unsigned kDigitBits, class Place>
class Multiplier {
  static constexpr unsigned kLanes = Group::kSize;
  static constexpr unsigned kDigits = 32 * kPerThread / kDigitBits;
  static constexpr bool kShared = std::is_same_v<Place, InSharedMemory>;
  static_assert(kLanes == 1 || !std::is_same_v<Place, InLocalMemory>,
                "a lane's part of a number has room in registers or shared memory");

  struct Digits {
    std::uint32_t digit[kDigits];
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return digit[j]; }
    MM_DEVICE std::uint32_t& operator[](unsigned j) { return digit[j]; }
  };
  using Operand = std::conditional_t<kShared, LaneMemory, Digits>;
  using Digit = Radix<kDigitBits>;
  using Operations = Arithmetic<Digit, Place, kDigits>;
  using Products = Rows<Group, Digit, Place, kDigits, Operand>;

 public:
  static constexpr unsigned kWords = kPerThread * kLanes;
  static constexpr unsigned kRadixBits = 32 * kWords;
  static constexpr unsigned kLaneWords = kPerThread;
  static constexpr unsigned kSharedWords = kShared ? 4 * kDigits : 0;

  struct Element {
    std::uint32_t word[kPerThread];
  };

  MM_DEVICE Multiplier(Group group, LaneMemory memory, WordSource n)
      : group_(group),
        memory_(memory),
        n_(operand(from_words(n), 0)),
        n0_(cuda::negative_inverse(n[0]) & Digit::kMask) {}

  /// a. On input: a < R.
  template <class Words>
  MM_DEVICE Element from_words(const Words& a) const {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.word[j] = a[group_.lane() * kPerThread + j];
    return r;
  }

  /// r = a. On input: a < n. mul(b, one) returns such an element for any b < R.
  MM_DEVICE void to_words(WordSink r, const Element& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.set(group_.lane() * kPerThread + j, a.word[j]);
  }

  /// a b / R mod n. On input: a, b < R. On output: below n if a < n or b <= n, else below R.
  MM_DEVICE Element mul(const Element& a, const Element& b) const {
    Operand r = place(3);
    return reduced(r, Products(group_, n_, n0_).product(r, operand(a, 1), operand(b, 2)));
  }
  /// a^2 / R mod n. Range as for mul.
  MM_DEVICE Element sqr(const Element& a) const {
    Element twice;
    twice.word[0] = a.word[0] << 1;
    MM_UNROLL
    for (unsigned j = 1; j < kPerThread; ++j) {
      twice.word[j] = cuda::shift_left(a.word[j - 1], a.word[j], 1);
    }
    Operand doubled = operand(twice, 1);
    Operand r = place(3);
    return reduced(r, Products(group_, n_, n0_).square(r, doubled, a.word[kPerThread - 1] >> 31));
  }

  /// a + b mod n. On input: a, b < n. On output: below n.
  MM_DEVICE Element add(const Element& a, const Element& b) const {
    if constexpr (kLanes == 1) {
      Operand r = place(3);
      Operations::add(r, operand(a, 1), operand(b, 2), n_);
      return element(r);
    } else {
      Element r;
      const std::uint32_t carry = lane_words::add_masked<kPerThread>(group_, r.word, a.word, b.word, kAll);
      return reduced(r, carry);
    }
  }
  /// a - b mod n. On input: a, b < n. On output: below n.
  MM_DEVICE Element sub(const Element& a, const Element& b) const {
    if constexpr (kLanes == 1) {
      Operand r = place(3);
      Operations::subtract(r, operand(a, 1), operand(b, 2), n_);
      return element(r);
    } else {
      Element r;
      const std::uint32_t borrow =
          lane_words::subtract_masked<kPerThread>(group_, r.word, a.word, b.word, kAll);
      lane_words::add_masked<kPerThread>(group_, r.word, r.word, element(n_).word, 0 - borrow);
      return r;
    }
  }

  MM_DEVICE static std::uint32_t lane_word(const Element& a, unsigned j) { return a.word[j]; }
  MM_DEVICE static void set_lane_word(Element& a, unsigned j, std::uint32_t word) { a.word[j] = word; }

 private:
  static constexpr std::uint32_t kAll = 0xffffffffu;

  Group group_;
  LaneMemory memory_;
  Operand n_;
  std::uint32_t n0_;  // -1/n mod beta

  /// The place of number `index`: shared memory has kDigits words each for n (0), two operands (1, 2) and a
  /// result (3); elsewhere it is a new array.
  MM_DEVICE Operand place(unsigned index) const {
    if constexpr (kShared) {
      return {&memory_[index * kDigits], memory_.stride};
    } else {
      return {};
    }
  }

  /// The digits of a, copied to the place of number `index`.
  MM_DEVICE Operand operand(const Element& a, unsigned index) const {
    Operand r = place(index);
    MM_UNROLL
    for (unsigned j = 0; j < kDigits; ++j) r[j] = Digit::digit(a.word, j);
    return r;
  }

  /// The element with the digits of a.
  MM_DEVICE static Element element(const Operand& a) {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.word[j] = Digit::word(a, j);
    return r;
  }

  /// The sum of r + top beta^kDigits over all lanes, minus n once (see Arithmetic::reduce_once). On input:
  /// the sum is below R + n.
  MM_DEVICE Element reduced(Operand& r, std::uint32_t top) const {
    if constexpr (kLanes == 1) {
      Operations::reduce_once(r, r, top, n_);
      return element(r);
    } else {
      Element sum = element(r);
      const std::uint32_t overflow = lane_words::resolve_carries<kPerThread>(group_, sum.word, top);
      return reduced(sum, overflow);
    }
  }

  /// The same for a + overflow R.
  MM_DEVICE Element reduced(const Element& a, std::uint32_t overflow) const {
    Element r;
    lane_words::reduce_once<kPerThread>(group_, r.word, a.word, element(n_).word, overflow);
    return r;
  }
};

// Namespaces that name a radix and a place, as MM_DEVICE_KERNEL expects a technique.
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

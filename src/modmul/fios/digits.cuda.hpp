// SPDX-License-Identifier: Apache-2.0
// The digits of fios: their radix, and where the digits of operands are stored.
//
// After Giorgi, Izard, Tisserand, "Comparison of modular arithmetic algorithms on GPUs", section 1: radix
// 2^16 in 32-bit words, or radix 2^32; operands in local memory, in shared memory or in registers.
#pragma once

#include <cstdint>

#include "arch/cuda/halves.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::fios {

// Precedes a loop over the digits of a lane; `Place` gives the unrolling factor.
#if defined(__CUDA_ARCH__)
#define MM_FIOS_DIGIT_LOOP _Pragma("unroll (Place::kDigitUnrolling)")
#else
#define MM_FIOS_DIGIT_LOOP
#endif

/// The type of a product of two digits of kBits bits.
template <unsigned kBits>
struct WideDigit;
template <>
struct WideDigit<16> {
  using Type = std::uint32_t;
};
template <>
struct WideDigit<32> {
  using Type = std::uint64_t;
};

/// Digits 0 <= d < 2^kBits, one per 32-bit word.
template <unsigned kDigitBits>
struct Radix {
  static constexpr unsigned kBits = kDigitBits;
  static constexpr std::uint32_t kMask = 0xffffffffu >> (32 - kBits);
  using Wide = typename WideDigit<kBits>::Type;

  /// a b + c + d. On input: digits. On output: at most (2^kBits - 1)^2 + 2 (2^kBits - 1) = 2^(2 kBits) - 1.
  MM_DEVICE static Wide multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    if constexpr (kBits == 16) {
      return cuda::mad_halves(a, b, c) + d;
    } else {
      // IADD3, SEL, IMAD.WIDE: fewer instructions than ptxas emits for the same sum in 64-bit C++.
      std::uint32_t lo = cuda::add_cc(c, d);
      std::uint32_t hi = cuda::addc(0, 0);
      cuda::mad_wide_cc(lo, hi, a, b, lo, hi);
      return static_cast<Wide>(hi) << 32 | lo;
    }
  }

  /// The low and the high digit of a sum of two digits' width.
  MM_DEVICE static std::uint32_t low(Wide sum) { return static_cast<std::uint32_t>(sum) & kMask; }
  MM_DEVICE static std::uint32_t high(Wide sum) { return static_cast<std::uint32_t>(sum >> kBits); }

  /// Digit j of the number with 32-bit words a[0], a[1], ..
  template <class Words>
  MM_DEVICE static std::uint32_t digit(const Words& a, unsigned j) {
    const unsigned first = j * kBits;
    return (a[first / 32] >> (first % 32)) & kMask;
  }

  /// 32-bit word j of the number with digits a[0], a[1], ..
  template <class Digits>
  MM_DEVICE static std::uint32_t word(const Digits& a, unsigned j) {
    if constexpr (kBits == 32) {
      return a[j];
    } else {
      return a[2 * j] | a[2 * j + 1] << 16;
    }
  }
};

// Where the digits of operands are stored. Each place gives the unrolling factor of loops over digits, and
// that of the loop over the rows of a product.

/// An array whose indices are all compile-time constants is kept in registers. The paper achieves this by
/// compile-time recursion over a recursive structure (its figures 2 and 3); here loops are fully unrolled.
struct InRegisters {
  static constexpr unsigned kDigitUnrolling = 1024;  // more than any loop has iterations
  static constexpr unsigned kRowUnrolling = kDigitUnrolling;
};

/// An array indexed by a rolled loop is placed in local memory, which the device interleaves so that the
/// threads of a warp access neighbouring words. For numbers held by a single thread.
struct InLocalMemory {
  static constexpr unsigned kDigitUnrolling = 1;
  static constexpr unsigned kRowUnrolling = 1;
};

/// A LaneMemory in shared memory: word j of neighbouring threads, of the same group or not, is at
/// neighbouring addresses and thus in different banks. This is the paper's layout of global memory (its
/// figure 1: consecutive words of a number are as far apart as there are threads, so that the accesses of a
/// warp coalesce). The interpreter's table in global memory follows the same layout, in chunks of up to 16
/// bytes.
struct InSharedMemory {
  static constexpr unsigned kDigitUnrolling = 4;
  static constexpr unsigned kRowUnrolling = 1;
};

}  // namespace manymod::fios

// SPDX-License-Identifier: Apache-2.0
// Digits of fios: their radix, and where the digits of operands are kept.
//
// After Giorgi, Izard, Tisserand, "Comparison of modular arithmetic algorithms on GPUs", section 1: radix
// 2^16 in 32-bit words, or 2^32; operands in local memory, shared memory or registers.
#pragma once

#include <cstdint>

#include "arch/cuda/halves.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::fios {

// Of a loop over the digits of a lane: `Place` says how it is unrolled.
#if defined(__CUDA_ARCH__)
#define MM_FIOS_LOOP _Pragma("unroll (Place::kUnrolling)")
#else
#define MM_FIOS_LOOP
#endif

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

/// Digits d of kBits bits, 0 <= d < 2^kBits, one in each 32-bit word.
template <unsigned kDigitBits>
struct Radix {
  static constexpr unsigned kBits = kDigitBits;
  static constexpr std::uint32_t kMask = 0xffffffffu >> (32 - kBits);
  using Wide = typename WideDigit<kBits>::Type;

  /// a b + c + d of digits, which is at most (2^kBits - 1)^2 + 2 (2^kBits - 1) = 2^(2 kBits) - 1.
  MM_DEVICE static Wide multiply_add(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    if constexpr (kBits == 16) {
      return cuda::mad_halves(a, b, c) + d;
    } else {
      // IADD3, SEL, IMAD.WIDE: fewer instructions than ptxas makes of the sum written in 64 bits
      std::uint32_t lo = cuda::add_cc(c, d);
      std::uint32_t hi = cuda::addc(0, 0);
      cuda::mad_wide_cc(lo, hi, a, b, lo, hi);
      return static_cast<Wide>(hi) << 32 | lo;
    }
  }

  MM_DEVICE static std::uint32_t low(Wide sum) { return static_cast<std::uint32_t>(sum) & kMask; }
  MM_DEVICE static std::uint32_t high(Wide sum) { return static_cast<std::uint32_t>(sum >> kBits); }

  /// Digit j of the number whose 32-bit words are a[0], a[1], ..
  template <class Words>
  MM_DEVICE static std::uint32_t digit(const Words& a, unsigned j) {
    const unsigned first = j * kBits;
    return (a[first / 32] >> (first % 32)) & kMask;
  }

  /// 32-bit word j of the number whose digits are a[0], a[1], ..
  template <class Digits>
  MM_DEVICE static std::uint32_t word(const Digits& a, unsigned j) {
    if constexpr (kBits == 32) {
      return a[j];
    } else {
      return a[2 * j] | a[2 * j + 1] << 16;
    }
  }
};

// Where the operands' digits are: anything with digits at [j]. A place says how far loops over them are
// unrolled, and how far the loop over the rounds of a product.

/// An array whose every index is known when it is compiled lives in registers. The paper's compile-time loops
/// over a recursive structure do this (its figures 2 and 3); loops that are unrolled do it now.
struct InRegisters {
  static constexpr unsigned kUnrolling = 1024;  // loops are shorter
  static constexpr unsigned kRounds = kUnrolling;
};

/// An array that a rolled loop indexes lives in local memory, which the device interleaves by itself, so that
/// the threads of a warp read neighbouring words. For numbers that one thread works on.
struct InLocalMemory {
  static constexpr unsigned kUnrolling = 1;
  static constexpr unsigned kRounds = 1;
};

/// A LaneMemory: word j of neighbouring threads, of one group or of several, stand side by side, in
/// different banks. This is the paper's rule for global memory (its figure 1: consecutive words of a number
/// are as far apart as there are threads, so that a warp's accesses coalesce), which the interpreter's table
/// follows there, in chunks of up to 16 bytes.
struct InSharedMemory {
  static constexpr unsigned kUnrolling = 4;
  static constexpr unsigned kRounds = 1;
};

}  // namespace manymod::fios

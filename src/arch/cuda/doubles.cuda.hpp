// SPDX-License-Identifier: Apache-2.0
// Doubles that hold integers, and their bit patterns. Instructions on the device; on the host exact integer
// arithmetic, whose results depend neither on the rounding mode nor on how a compiler treats floating-point
// expressions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

/// The number of fraction bits of a double.
inline constexpr unsigned kFractionBits = 52;
inline constexpr std::uint64_t kFractionMask = (std::uint64_t{1} << kFractionBits) - 1;
/// The bit pattern of 2^52. The pattern of 2^52 + x, for an integer 0 <= x <= 2^52, is this plus x.
inline constexpr std::uint64_t kPatternOfTwo52 = std::uint64_t{0x433} << kFractionBits;
inline constexpr auto kHighPatternOfTwo52 = static_cast<std::uint32_t>(kPatternOfTwo52 >> 32);

/// The bit pattern of x.
MM_DEVICE std::uint64_t pattern(double x) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint64_t>(__double_as_longlong(x));
#else
  return std::bit_cast<std::uint64_t>(x);
#endif
}

/// The double with this bit pattern.
MM_DEVICE double from_pattern(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __longlong_as_double(static_cast<long long>(bits));
#else
  return std::bit_cast<double>(bits);
#endif
}

#if !defined(__CUDA_ARCH__)
namespace host {

__extension__ using Integer = __int128;
__extension__ using Magnitude = unsigned __int128;

/// x rounded toward zero to a double.
inline double toward_zero(Integer x) {
  Magnitude magnitude = x < 0 ? -static_cast<Magnitude>(x) : static_cast<Magnitude>(x);
  const auto high = static_cast<std::uint64_t>(magnitude >> 64);
  const int zeros =
      high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(magnitude));
  const int dropped = std::max(127 - zeros - static_cast<int>(kFractionBits), 0);
  magnitude = magnitude >> dropped << dropped;
  const auto rounded = static_cast<double>(magnitude);
  return x < 0 ? -rounded : rounded;
}

}  // namespace host
#endif

/// a b + c, rounded once toward zero. On input: integers, |a|, |b| <= 2^53, |c| <= 2^106.
MM_DEVICE double fma_toward_zero(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rz(a, b, c);
#else
  return host::toward_zero(static_cast<host::Integer>(a) * static_cast<host::Integer>(b) +
                           static_cast<host::Integer>(c));
#endif
}

/// a - b. On input: the difference is a double, so that nothing is rounded.
MM_DEVICE double subtract_exact(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dsub_rn(a, b);
#else
  return a - b;
#endif
}

/// x as a double. On input: 0 <= x <= 2^52.
MM_DEVICE double to_double(std::uint64_t x) {
  return subtract_exact(from_pattern(x + kPatternOfTwo52), 0x1p52);
}

/// 2^52 + x mod 2^52. two52_high is the high word of the pattern of 2^52; where the compiler does not know
/// its value, one instruction both masks and inserts the pattern.
MM_DEVICE double fraction_plus_two52(std::uint64_t x, std::uint32_t two52_high) {
  return from_pattern((x & kFractionMask) | std::uint64_t{two52_high} << 32);
}

/// x mod 2^52.
MM_DEVICE double fraction_to_double(std::uint64_t x, std::uint32_t two52_high = kHighPatternOfTwo52) {
  return subtract_exact(fraction_plus_two52(x, two52_high), 0x1p52);
}

/// x as an integer. On input: x is an integer, 0 <= x <= 2^52.
MM_DEVICE std::uint64_t to_integer(double x) { return pattern(subtract_exact(x, -0x1p52)) - kPatternOfTwo52; }

}  // namespace manymod::cuda

// SPDX-License-Identifier: Apache-2.0
// Instructions on 32-bit words: carry chains, wide products, funnel shifts. PTX on the device, plain C++ on
// the host. All are constant-time.
//
// A carry chain is a sequence of calls. A function with `_cc` in its name sets the carry flag; one with
// `addc`, `subc` or `madc` reads it. Only such calls may be between them. In subtractions the flag is a
// borrow.
#pragma once

#include <cstdint>

#include "core/portable.hpp"

namespace manymod::cuda {

#if !defined(__CUDA_ARCH__)
/// The host's stand-in for the device's carry flag. No chain spans a call into a thread group, so one for
/// each host thread suffices.
inline thread_local std::uint32_t carry_flag = 0;

namespace host {
/// The low word of a sum, or of a difference; the flag becomes its carry or borrow.
inline std::uint32_t keep(std::uint64_t sum) {
  carry_flag = static_cast<std::uint32_t>(sum >> 32);
  return static_cast<std::uint32_t>(sum);
}
inline std::uint32_t keep_borrow(std::uint64_t difference) {
  carry_flag = static_cast<std::uint32_t>(difference >> 32) & 1;
  return static_cast<std::uint32_t>(difference);
}
inline std::uint64_t wide(std::uint32_t value) { return value; }
}  // namespace host
#endif

// Defines name(a, b): a PTX instruction, or the expression on_host.
#if defined(__CUDA_ARCH__)
#define MM_CHAIN_OPERATION(name, instruction, on_host)                   \
  MM_DEVICE std::uint32_t name(std::uint32_t a, std::uint32_t b) {       \
    std::uint32_t r;                                                     \
    asm volatile(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); \
    return r;                                                            \
  }
#else
#define MM_CHAIN_OPERATION(name, instruction, on_host) \
  MM_DEVICE std::uint32_t name(std::uint32_t a, std::uint32_t b) { return on_host; }
#endif
MM_CHAIN_OPERATION(add_cc, "add.cc.u32", host::keep(host::wide(a) + b))
MM_CHAIN_OPERATION(addc_cc, "addc.cc.u32", host::keep(host::wide(a) + b + carry_flag))
MM_CHAIN_OPERATION(addc, "addc.u32", a + b + carry_flag)
MM_CHAIN_OPERATION(sub_cc, "sub.cc.u32", host::keep_borrow(host::wide(a) - b))
MM_CHAIN_OPERATION(subc_cc, "subc.cc.u32", host::keep_borrow(host::wide(a) - b - carry_flag))
MM_CHAIN_OPERATION(subc, "subc.u32", a - b - carry_flag)
#undef MM_CHAIN_OPERATION

/// {hi, lo} = a b + {hi_in, lo_in}, setting the carry. One IMAD.WIDE.U32 on current devices, which fuse
/// adjacent mad.lo and mad.hi of the same operands (and split mad.wide).
MM_DEVICE void mad_wide_cc(std::uint32_t& lo, std::uint32_t& hi, std::uint32_t a, std::uint32_t b,
                           std::uint32_t lo_in, std::uint32_t hi_in) {
#if defined(__CUDA_ARCH__)
  asm volatile("mad.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.cc.u32 %1, %2, %3, %5;"
               : "=&r"(lo), "=r"(hi)
               : "r"(a), "r"(b), "r"(lo_in), "r"(hi_in));
#else
  const std::uint64_t product = host::wide(a) * b;
  const std::uint32_t low = host::keep((product & 0xffffffffu) + lo_in);
  hi = host::keep((product >> 32) + hi_in + carry_flag);
  lo = low;
#endif
}

/// {hi, lo} = a b + {hi_in, lo_in} + carry, setting the carry.
MM_DEVICE void madc_wide_cc(std::uint32_t& lo, std::uint32_t& hi, std::uint32_t a, std::uint32_t b,
                            std::uint32_t lo_in, std::uint32_t hi_in) {
#if defined(__CUDA_ARCH__)
  asm volatile("madc.lo.cc.u32 %0, %2, %3, %4;\n\tmadc.hi.cc.u32 %1, %2, %3, %5;"
               : "=&r"(lo), "=r"(hi)
               : "r"(a), "r"(b), "r"(lo_in), "r"(hi_in));
#else
  const std::uint64_t product = host::wide(a) * b;
  const std::uint32_t low = host::keep((product & 0xffffffffu) + lo_in + carry_flag);
  hi = host::keep((product >> 32) + hi_in + carry_flag);
  lo = low;
#endif
}

/// The low word of a b. Preserves the carry and, as a volatile instruction, its position within a chain.
MM_DEVICE std::uint32_t mul_low(std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  std::uint32_t r;
  asm volatile("mul.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
#else
  return a * b;
#endif
}

/// The low word of {hi, lo} >> bits. On input: 0 <= bits < 32.
MM_DEVICE std::uint32_t shift_right(std::uint32_t lo, std::uint32_t hi, unsigned bits) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_r(lo, hi, bits);
#else
  return bits == 0 ? lo : (lo >> bits) | (hi << (32 - bits));
#endif
}

/// The high word of {hi, lo} << bits. On input: 0 <= bits < 32.
MM_DEVICE std::uint32_t shift_left(std::uint32_t lo, std::uint32_t hi, unsigned bits) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(lo, hi, bits);
#else
  return bits == 0 ? hi : (hi << bits) | (lo >> (32 - bits));
#endif
}

/// -1/n mod 2^32 for odd n, by Newton's iteration: n has 3 correct bits, and each step doubles them: 6, 12,
/// 24, 48.
MM_DEVICE std::uint32_t negative_inverse(std::uint32_t n) {
  std::uint32_t x = n;
  x *= 2 - n * x;
  x *= 2 - n * x;
  x *= 2 - n * x;
  x *= 2 - n * x;
  return ~x + 1;
}

/// sum + a_0 b_0 + a_1 b_1 + a_2 b_2 + a_3 b_3 mod 2^32, where a_p, b_p are the unsigned bytes of a and b.
MM_DEVICE std::uint32_t add_byte_products(std::uint32_t sum, std::uint32_t a, std::uint32_t b) {
#if defined(__CUDA_ARCH__)
  return __dp4a(a, b, sum);
#else
  for (unsigned p = 0; p < 32; p += 8) sum += (a >> p & 255) * (b >> p & 255);
  return sum;
#endif
}

/// A word of four bytes of a and b. Digit i of kSelector (4 bits) selects byte i of the result: 0 .. 3 are
/// the bytes of a, 4 .. 7 those of b; 8 more gives eight copies of the top bit of that byte.
template <std::uint32_t kSelector>
MM_DEVICE std::uint32_t permute_bytes(std::uint32_t a, std::uint32_t b) {
  std::uint32_t r = 0;
#if defined(__CUDA_ARCH__)
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "n"(kSelector));
#else
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned digit = kSelector >> 4 * i & 15;
    const auto byte = static_cast<std::uint32_t>(bytes >> 8 * (digit & 7) & 255);
    r |= (digit < 8 ? byte : 255 * (byte >> 7)) << 8 * i;
  }
#endif
  return r;
}

}  // namespace manymod::cuda

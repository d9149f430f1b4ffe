// SPDX-License-Identifier: Apache-2.0
// Sums and differences of long numbers at one instruction a limb. GCC keeps a carry that is computed in 128
// bits in a register of its own; with its operations for the carry flag, eight limbs are one chain.
#pragma once

#include <cstddef>

#include "arch/scalar/word.hpp"
#include "core/limb.hpp"

namespace manymod::scalar64 {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
inline Limb chained_add(Limb a, Limb b, unsigned char& carry) {
  unsigned long long sum = 0;
  carry = __builtin_ia32_addcarryx_u64(carry, a, b, &sum);
  return sum;
}
inline Limb chained_sub(Limb a, Limb b, unsigned char& borrow) {
  unsigned long long difference = 0;
  borrow = __builtin_ia32_sbb_u64(borrow, a, b, &difference);
  return difference;
}
using ChainFlag = unsigned char;
#else
inline Limb chained_add(Limb a, Limb b, Limb& carry) { return word::add_carry(a, b, carry); }
inline Limb chained_sub(Limb a, Limb b, Limb& borrow) { return word::sub_borrow(a, b, borrow); }
using ChainFlag = Limb;
#endif

/// r[i] = step(i, flag) for i < size, in chains of eight limbs. @return the last flag.
template <class Step>
inline Limb chained(Limb* r, std::size_t size, const Step& step) {
  ChainFlag flag = 0;
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
#pragma GCC unroll 8
    for (std::size_t j = 0; j < 8; ++j) r[i + j] = step(i + j, flag);
  }
  for (; i < size; ++i) r[i] = step(i, flag);
  return flag;
}

/// r = a + b, or a - b, mod 2^(64 size); @return the carry or borrow. Aliasing: r may be a or b. Timing:
/// constant.
inline Limb add_chained(Limb* r, const Limb* a, const Limb* b, std::size_t size) {
  return chained(r, size, [&](std::size_t i, ChainFlag& flag) { return chained_add(a[i], b[i], flag); });
}
inline Limb subtract_chained(Limb* r, const Limb* a, const Limb* b, std::size_t size) {
  return chained(r, size, [&](std::size_t i, ChainFlag& flag) { return chained_sub(a[i], b[i], flag); });
}

}  // namespace manymod::scalar64

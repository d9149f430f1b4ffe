// SPDX-License-Identifier: Apache-2.0
// Sums and differences of long numbers at one instruction a limb, and of residues. GCC keeps a carry that is
// computed in 128 bits in a register of its own; with its operations for the carry flag, eight limbs are one
// chain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "arch/scalar/word.hpp"
#include "repr/limbs.hpp"

namespace manymod::limbs {

/// r = a + b + carry, or a - b - carry, for `size` limbs, where kStep is word::add_carry or word::sub_borrow;
/// @return the carry or borrow. Aliasing: r may be a or b. Timing: constant.
template <auto kStep>
inline Limb carried(Limb* r, const Limb* a, const Limb* b, std::size_t size, Limb carry) {
  for (std::size_t i = 0; i < size; ++i) r[i] = kStep(a[i], b[i], carry);
  return carry;
}

/// r = a + b, or a - b, and the carry or borrow in `flag`, for eight limbs. Aliasing: r may be a or b.
/// Timing: constant.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define MANYMOD_CHAIN_LIMB(instruction, offset)               \
  "movq " offset "(%[a]), %[limb]\n\t" instruction " " offset \
  "(%[b]), %[limb]\n\t"                                       \
  "movq %[limb], " offset "(%[r])\n\t"
#define MANYMOD_CHAIN(instruction)                                                                           \
  Limb limb;                                                                                                 \
  __asm__("addb $-1, %[flag]\n\t" MANYMOD_CHAIN_LIMB(instruction, "0") MANYMOD_CHAIN_LIMB(                   \
              instruction, "8") MANYMOD_CHAIN_LIMB(instruction, "16") MANYMOD_CHAIN_LIMB(instruction, "24")  \
              MANYMOD_CHAIN_LIMB(instruction, "32") MANYMOD_CHAIN_LIMB(instruction, "40")                    \
                  MANYMOD_CHAIN_LIMB(instruction, "48") MANYMOD_CHAIN_LIMB(instruction, "56") "setb %[flag]" \
          : [flag] "+q"(flag), [limb] "=&r"(limb)                                                            \
          : [r] "r"(r), [a] "r"(a), [b] "r"(b)                                                               \
          : "cc", "memory")
inline void add_eight(Limb* r, const Limb* a, const Limb* b, std::uint8_t& flag) { MANYMOD_CHAIN("adcq"); }
inline void subtract_eight(Limb* r, const Limb* a, const Limb* b, std::uint8_t& flag) {
  MANYMOD_CHAIN("sbbq");
}
#undef MANYMOD_CHAIN
#undef MANYMOD_CHAIN_LIMB
#else
inline void add_eight(Limb* r, const Limb* a, const Limb* b, std::uint8_t& flag) {
  flag = static_cast<std::uint8_t>(carried<word::add_carry>(r, a, b, 8, flag));
}
inline void subtract_eight(Limb* r, const Limb* a, const Limb* b, std::uint8_t& flag) {
  flag = static_cast<std::uint8_t>(carried<word::sub_borrow>(r, a, b, 8, flag));
}
#endif

/// The same as `carried` from carry 0, by kEight, which is add_eight or subtract_eight, as far as it goes.
template <auto kEight, auto kStep>
inline Limb chained(Limb* r, const Limb* a, const Limb* b, std::size_t size) {
  std::uint8_t flag = 0;
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) kEight(r + i, a + i, b + i, flag);
  return carried<kStep>(r + i, a + i, b + i, size - i, flag);
}

/// r = a + b mod 2^(64 size); @return the carry. Aliasing: r may be a or b. Timing: constant.
inline Limb add_chained(Limb* r, const Limb* a, const Limb* b, std::size_t size) {
  return chained<add_eight, word::add_carry>(r, a, b, size);
}

/// r = a - b mod 2^(64 size); @return the borrow. Aliasing: r may be a or b. Timing: constant.
inline Limb subtract_chained(Limb* r, const Limb* a, const Limb* b, std::size_t size) {
  return chained<subtract_eight, word::sub_borrow>(r, a, b, size);
}

/// r = x + y mod n. On input: x, y < n, all of r.size() limbs. Aliasing: r may be x or y. Timing: variable.
inline void add_residues_var(std::span<Limb> r, std::span<const Limb> x, std::span<const Limb> y,
                             std::span<const Limb> n) {
  const Limb carry = add_chained(r.data(), x.data(), y.data(), r.size());
  if (carry != 0 || !less_var(r, n)) subtract_chained(r.data(), r.data(), n.data(), r.size());
}

/// r = x - y mod n, as add_residues_var.
inline void subtract_residues_var(std::span<Limb> r, std::span<const Limb> x, std::span<const Limb> y,
                                  std::span<const Limb> n) {
  const Limb borrow = subtract_chained(r.data(), x.data(), y.data(), r.size());
  if (borrow != 0) add_chained(r.data(), r.data(), n.data(), r.size());
}

/// r = -x mod n, as add_residues_var.
inline void negate_residue_var(std::span<Limb> r, std::span<const Limb> x, std::span<const Limb> n) {
  if (std::ranges::any_of(x, [](Limb limb) { return limb != 0; })) {
    subtract_chained(r.data(), n.data(), x.data(), r.size());
  } else {
    std::ranges::fill(r, Limb{0});
  }
}

}  // namespace manymod::limbs

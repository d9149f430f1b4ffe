// SPDX-License-Identifier: Apache-2.0
// Powers by windows for users' kernels: fixed windows in both timing classes, sliding ones for an exponent
// that a warp shares. `Modulus` is that of manymod/device/modular.cuh. Squarings and products are each in a
// loop once or twice, as they are long when unrolled.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "repr/word_memory.hpp"

namespace manymod::device {

/// Residues in a thread's own memory.
template <class Residue, unsigned kResidueWords>
class ResidueTable {
 public:
  MM_DEVICE explicit ResidueTable(const LaneMemory& memory) : memory_(memory) {}

  MM_DEVICE void put(unsigned index, const Residue& a) const {
    MM_UNROLL
    for (unsigned j = 0; j < kResidueWords; ++j) memory_[index * kResidueWords + j] = a.word(j);
  }
  MM_DEVICE Residue get(unsigned index) const {
    Residue r;
    MM_UNROLL
    for (unsigned j = 0; j < kResidueWords; ++j) r.set_word(j, memory_[index * kResidueWords + j]);
    return r;
  }
  /// Element `wanted` of `count`, at addresses that do not depend on it.
  MM_DEVICE Residue scan(unsigned count, unsigned wanted) const {
    std::uint32_t sum[kResidueWords] = {};
    MM_ROLLED
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t mask = 0 - static_cast<std::uint32_t>(i == wanted);
      MM_UNROLL
      for (unsigned j = 0; j < kResidueWords; ++j) sum[j] |= memory_[i * kResidueWords + j] & mask;
    }
    Residue r;
    MM_UNROLL
    for (unsigned j = 0; j < kResidueWords; ++j) r.set_word(j, sum[j]);
    return r;
  }

 private:
  LaneMemory memory_;
};

template <class Modulus>
using TableOf = ResidueTable<typename Modulus::Residue, Modulus::kResidueWords>;

/// Bits first to first + count - 1 of e, 1 <= count < 32.
template <class Exponent>
MM_DEVICE std::uint32_t bit_field(const Exponent& e, unsigned first, unsigned count) {
  const std::uint32_t low = e[first / 32], high = e[first / 32 + 1];
  return cuda::shift_right(low, high, first % 32) & ((1u << count) - 1);
}

/// r^(2^count)
template <class Modulus>
MM_DEVICE typename Modulus::Residue square_repeatedly(const Modulus& m, typename Modulus::Residue r,
                                                      unsigned count) {
  MM_ROLLED
  for (unsigned i = 0; i < count; ++i) r = m.sqr(r);
  return r;
}

/// a^e for the lower `bits` bits of e. All elements of the table are read for each digit if kScan.
template <unsigned kWindow, bool kScan, class Modulus, class Exponent>
MM_DEVICE typename Modulus::Residue fixed_windows(const Modulus& m, const typename Modulus::Residue& a,
                                                  const Exponent& e, unsigned bits,
                                                  const LaneMemory& memory) {
  static_assert(kWindow >= 1 && kWindow <= 8);
  constexpr unsigned kEntries = 1u << kWindow;
  const TableOf<Modulus> table(memory);
  auto r = m.one();
  table.put(0, r);
  MM_ROLLED
  for (unsigned i = 1; i < kEntries; ++i) {
    r = m.mul(r, a);
    table.put(i, r);
  }
  const auto power = [&](unsigned first, unsigned count) {
    const std::uint32_t digit = bit_field(e, first, count);
    return kScan ? table.scan(kEntries, digit) : table.get(digit);
  };
  if (bits == 0) return m.one();
  const unsigned top = (bits - 1) % kWindow + 1;
  unsigned left = bits - top;
  r = power(left, top);
  MM_ROLLED
  while (left > 0) {
    left -= kWindow;
    r = m.mul(square_repeatedly(m, r, kWindow), power(left, kWindow));
  }
  return r;
}

/// a^e for the lower `bits` bits of e, by digits that are 0 or odd and below 2^kWindow: odd_power(digit) is
/// a^digit. No squarings before the first digit that is not 0.
template <unsigned kWindow, class Modulus, class Exponent, class OddPower>
MM_DEVICE typename Modulus::Residue by_digits(const Modulus& m, const Exponent& e, unsigned bits,
                                              OddPower odd_power) {
  auto r = m.one();
  bool started = false;
  MM_ROLLED
  for (unsigned left = bits; left > 0;) {
    unsigned count = 1;
    std::uint32_t digit = bit_field(e, left - 1, 1);
    if (kWindow > 1 && digit != 0) {
      count = left < kWindow ? left : kWindow;
      digit = bit_field(e, left - count, count);
      for (; digit % 2 == 0; digit /= 2) --count;
    }
    left -= count;
    if (started) r = square_repeatedly(m, r, count);
    if (digit != 0) {
      r = started ? m.mul(r, odd_power(digit)) : odd_power(digit);
      started = true;
    }
  }
  return r;
}

/// The same with the odd powers of a in a table.
template <unsigned kWindow, class Modulus, class Exponent>
MM_DEVICE typename Modulus::Residue sliding_windows(const Modulus& m, const typename Modulus::Residue& a,
                                                    const Exponent& e, unsigned bits,
                                                    const LaneMemory& memory) {
  static_assert(kWindow >= 1 && kWindow <= 9);
  const TableOf<Modulus> table(memory);
  table.put(0, a);
  const auto square = m.sqr(a);
  auto power = a;
  MM_ROLLED
  for (unsigned i = 1; i < 1u << (kWindow - 1); ++i) {
    power = m.mul(power, square);
    table.put(i, power);
  }
  return by_digits<kWindow>(m, e, bits, [&](std::uint32_t digit) { return table.get(digit / 2); });
}

}  // namespace manymod::device

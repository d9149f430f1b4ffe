// SPDX-License-Identifier: Apache-2.0
// Powers by windows in kernels: fixed windows, constant-time or variable-time, and sliding windows for an
// exponent that all threads of a warp share. The digits are those of modexp/recoding.hpp.
//
// `Modulus` is a class such as that of manymod/device/modular.cuh: it has a type Residue of kResidueWords
// words, with word(j) and set_word(j, value), and one(), mul(a, b) and sqr(a) that return residues. The code
// of a product is long; loops are kept rolled so that it appears once or twice.
#pragma once

#include <cstdint>
#include <type_traits>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "modexp/recoding.hpp"
#include "repr/word_memory.hpp"

namespace manymod::windows {

/// A table of residues in a thread's own memory.
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
  /// Element `wanted` of the first `count`. Constant-time: all of them are read.
  MM_DEVICE Residue scan(unsigned count, unsigned wanted) const {
    std::uint32_t sum[kResidueWords] = {};
    MM_ROLLED
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t mask = cuda::opaque(0 - static_cast<std::uint32_t>(i == wanted));
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

/// Exponents are objects whose operator[] gives words of 32 bits, and 0 beyond the last one: the word that
/// follows the highest bits is read, too. Pointers, arrays and classes with data(), such as std::array, do
/// not give it.
template <class E>
concept ExponentWords = std::is_class_v<E> && requires(const E& e) {
  requires std::is_same_v<std::remove_cvref_t<decltype(e[0])>, std::uint32_t>;
  requires !requires { e.data(); };
};

/// An exponent as modexp/recoding.hpp reads it.
template <ExponentWords Exponent>
struct WordBits {
  const Exponent& e;
  MM_DEVICE std::uint32_t operator()(unsigned first, unsigned count) const {
    const std::uint32_t low = e[first / 32], high = e[first / 32 + 1];
    return cuda::shift_right(low, high, first % 32) & ((1u << count) - 1);
  }
};

/// r^(2^count)
template <class Modulus>
MM_DEVICE typename Modulus::Residue square_repeatedly(const Modulus& m, typename Modulus::Residue r,
                                                      unsigned count) {
  MM_ROLLED
  for (unsigned i = 0; i < count; ++i) r = m.sqr(r);
  return r;
}

/// a^e for the low `bits` bits of e. `memory`: 2^kWindow residues. Timing: with kScan all of the table is
/// read for each digit, and time and addresses depend on `bits` alone; without it, addresses depend on e.
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
    const std::uint32_t digit = WordBits<Exponent>{e}(first, count);
    return kScan ? table.scan(kEntries, digit) : table.get(digit);
  };
  if (bits == 0) return m.one();
  const recoding::Window top = recoding::top_window(bits, kWindow);
  unsigned left = top.first;
  r = power(left, top.count);
  MM_ROLLED
  while (left > 0) {
    left -= kWindow;
    r = m.mul(square_repeatedly(m, r, kWindow), power(left, kWindow));
  }
  return r;
}

/// a^e for the low `bits` bits of e by sliding digits of at most kWindow bits: odd_power(digit) returns
/// a^digit. There are no squarings before the first digit that is not 0. Variable-time.
template <unsigned kWindow, class Modulus, class Exponent, class OddPower>
MM_DEVICE typename Modulus::Residue by_sliding_digits(const Modulus& m, const Exponent& e, unsigned bits,
                                                      OddPower odd_power) {
  auto r = m.one();
  bool started = false;
  MM_ROLLED
  for (unsigned left = bits; left > 0;) {
    const recoding::SlidingDigit digit = recoding::top_sliding_digit(WordBits<Exponent>{e}, left, kWindow);
    left -= digit.count;
    if (started) r = square_repeatedly(m, r, digit.count);
    if (digit.value != 0) {
      r = started ? m.mul(r, odd_power(digit.value)) : odd_power(digit.value);
      started = true;
    }
  }
  return r;
}

/// a^e for the low `bits` bits of e by sliding windows. `memory`: 2^(kWindow - 1) residues, the odd powers of
/// a. Variable-time.
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
  return by_sliding_digits<kWindow>(m, e, bits, [&](std::uint32_t digit) { return table.get(digit / 2); });
}

}  // namespace manymod::windows

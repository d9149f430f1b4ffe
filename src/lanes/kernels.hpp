// SPDX-License-Identifier: Apache-2.0
// The interface between a vector technique and the lane engine: Montgomery arithmetic on several instances
// side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "repr/canonical.hpp"

namespace manymod::lanes {

/// One share of the work of a selection from a table, for Kernels::sqr_select. It covers entries first ..
/// first + entries_per_square - 1; lanes whose index is among them receive their entry.
struct SelectShare {
  /// Largest number of table entries.
  static constexpr std::size_t kMostEntries = 64;

  Limb* chosen;        ///< the element to write
  const Limb* table;   ///< entry 0
  std::size_t stride;  ///< words from one entry to the next
  std::size_t first;
  const std::uint32_t* indices;  ///< one per lane
};

/// The operands of two vectors; b is not used by squarings.
struct Pair {
  Limb* r[2];
  const Limb* a[2];
  const Limb* b[2];
  const Limb* modulus[2];
};

/// A vector technique on one instruction set.
///
/// Notation: w = digit_bits, G = lanes, L digits, R = 2^(w L), n odd, k0 = -n^-1 mod 2^w.
///
/// An *element* is G residues as a structure of arrays of L G words: digit d of lane l is the low w bits of
/// word d G + l. "Exact digits" means that the words are below 2^w. Unless a function promises exact digits,
/// the bits above w are undefined; a technique whose multiplier would read those bits keeps its digits exact.
/// Elements are aligned to a vector.
///
/// A *modulus block* holds the G moduli: n as exact digits (words 0 .. L G - 1), then k0 of each lane (G
/// words), then the words that `prepare` computes from these, if the technique has it.
///
/// Ranges. A lane is *almost reduced* if 0 <= value < 2 n. L is chosen such that R >= 2^headroom_bits n. If
/// headroom_bits >= 2, then a, b < 2 n (or a < R, b <= n) give (a b + q n) / R < 2 n. With headroom_bits = 0
/// elements are fully reduced, 0 <= value < n.
///
/// Timing: every function is constant-time; times, branches and addresses depend on L and on `entries` only.
struct Kernels {
  std::size_t lanes = 0;           ///< G: 1, 2, 4 or 8
  unsigned digit_bits = 0;         ///< w, 26 to 64
  unsigned headroom_bits = 2;      ///< see above
  std::size_t digit_multiple = 1;  ///< L is a multiple of this
  std::size_t min_digits = 1;
  std::size_t max_digits = 0;
  /// Up to this many digits, two vectors are computed at a time (see lanes::Multiplier).
  std::size_t paired_digits = 0;
  double digit_pair_ns =
      1;  ///< roughly the nanoseconds of a multiplication / L^2, to divide work among threads

  /// r = a b / R mod n in every lane. On input: a, b < 2 n, or a < R and b <= n. On output: r < 2 n.
  /// Aliasing: r may be a or b.
  /// On input a < R and b < 2 n: on output r < 3 n. Where a < R, a technique may exceed these bounds by up to
  /// n / 2^w.
  void (*mul)(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits,
              Limb* scratch) = nullptr;
  /// r = a^2 / R mod n in every lane. On input: a < 2 n. On output: r < 2 n. Aliasing: r may be a.
  void (*sqr)(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) = nullptr;
  /// sqr, overlapped with a share of a selection from a table. After squarings whose shares cover the whole
  /// table, `chosen` is complete. On input: the memory of `chosen` has been written before, so that its pages
  /// are mapped. Null if the technique does not provide it.
  void (*sqr_select)(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch,
                     const SelectShare& share) = nullptr;
  /// Entries that one share covers; 0: use `select`. Null without sqr_select.
  std::size_t (*entries_per_square)(std::size_t digits) = nullptr;
  /// mul, sqr and sqr_select of two vectors in lockstep, for at most paired_digits digits; `shares` has one
  /// for each vector. Aliasing: operands of the second vector may not be results of the first. Null
  /// where computing one vector after the other is as fast.
  void (*mul_pair)(const Pair& x, std::size_t digits, Limb* scratch) = nullptr;
  void (*sqr_pair)(const Pair& x, std::size_t digits, Limb* scratch) = nullptr;
  void (*sqr_select_pair)(const Pair& x, std::size_t digits, Limb* scratch,
                          const SelectShare* shares) = nullptr;
  /// r = a + b, minus m if that is m or more. On input: a + b < 2 m <= R, m with exact digits. On output: 0
  /// <= r < m, exact digits. Aliasing: r may be a or b.
  void (*add_mod)(Limb* r, const Limb* a, const Limb* b, const Limb* m, std::size_t digits) = nullptr;
  /// a = a 2^bits mod n in every lane. On input: a < 2 n, exact digits, n >= 2^(w (L - 3)) in every lane. On
  /// output: a < 2 n, exact digits. Null if the technique does not provide it.
  void (*shift_mod)(Limb* a, const Limb* modulus, std::size_t digits, std::size_t bits) = nullptr;
  /// r = table[indices[lane]], lane by lane. On input: a table of `entries` elements, each `stride` words
  /// after the previous one; G indices below `entries`. The whole table is read.
  void (*select)(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
                 const std::uint32_t* indices) = nullptr;
  /// The same from a table of single residues of L words each, which all lanes share.
  void (*select_shared)(Limb* r, const Limb* table, std::size_t entries, std::size_t digits,
                        const std::uint32_t* indices) = nullptr;

  /// r = the digits of G numbers given as 64-bit limbs in a structure of arrays (limb i of lane l is word i G
  /// + l). On output: exact digits. Null for techniques of one lane, as is from_digits.
  void (*to_digits)(Limb* r, const Limb* limbs, std::size_t limb_count, std::size_t digits) = nullptr;
  /// The inverse: the low `limb_count` limbs of a. On input: exact digits.
  void (*from_digits)(Limb* limbs, std::size_t limb_count, const Limb* a, std::size_t digits) = nullptr;

  /// Words of scratch, aligned to 64 bytes, that the multiplications need.
  std::size_t (*scratch_words)(std::size_t digits) = nullptr;

  /// Words of a modulus block, and the function that computes those after k0. Null if there are none after
  /// k0.
  std::size_t (*modulus_words)(std::size_t digits) = nullptr;
  void (*prepare)(Limb* modulus, std::size_t digits) = nullptr;

  /// The digits of an element for moduli of at most `bits` bits.
  [[nodiscard]] constexpr std::size_t digits_for(std::size_t bits) const {
    std::size_t digits = (bits + headroom_bits + digit_bits - 1) / digit_bits;
    digits = (digits + digit_multiple - 1) / digit_multiple * digit_multiple;
    return digits < min_digits ? min_digits : digits;
  }
};

}  // namespace manymod::lanes

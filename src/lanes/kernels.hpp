// SPDX-License-Identifier: Apache-2.0
// What a vector technique gives the lane engine: Montgomery arithmetic on several instances side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "repr/canonical.hpp"

namespace manymod::lanes {

/// A part of a selection from a table, for Kernels::sqr_select: lanes whose index is `first` or one of those
/// behind it, free_entries in all, get their entry.
struct SelectShare {
  /// Most entries of a table.
  static constexpr std::size_t kMostEntries = 64;

  Limb* chosen;        ///< an element
  const Limb* table;   ///< entry 0
  std::size_t stride;  ///< words from one entry to the next
  std::size_t first;
  const std::uint32_t* indices;  ///< one per lane
};

/// Two vectors' operands; b is unused in squarings.
struct Pair {
  Limb* r[2];
  const Limb* a[2];
  const Limb* b[2];
  const Limb* modulus[2];
};

/// One vector technique on one instruction set.
///
/// Notation: w = digit_bits, G = lanes, L digits, R = 2^(w L), n odd, k0 = -n^-1 mod 2^w.
///
/// An *element* is G residues, structure of arrays: digit d of lane l is the low w bits of word d G + l, and
/// L G words in all. The bits above w of a word are undefined unless a function says "exact digits"; a
/// technique whose multiplier would see them keeps its digits exact. Elements are aligned to a vector.
///
/// A *modulus block* holds the G moduli: n as exact digits (words 0 .. L G), then k0 of each lane (G words),
/// then what `prepare` makes of them, where a technique has it.
///
/// Ranges: a lane is "almost reduced" if 0 <= value < 2 n. L is chosen so that R >= 2^headroom_bits n, with
/// headroom_bits >= 2; then a < 2n, b < 2n (or a < R, b <= n) give (a b + q n) / R < 2n. With more headroom
/// larger operands do as well: mul and sqr take any a, b < R with a b <= R n, and a b <= R n / 2 where
/// headroom_bits is 3 (field/lanes.hpp).
///
/// Timing: secret. Time, branches and addresses of every function depend on L and `entries` alone.
struct Kernels {
  std::size_t lanes = 0;           ///< G: 1, 2, 4 or 8
  unsigned digit_bits = 0;         ///< w, 26 to 64
  unsigned headroom_bits = 2;      ///< see above
  std::size_t digit_multiple = 1;  ///< L is a multiple of it
  std::size_t min_digits = 1;
  std::size_t max_digits = 0;
  /// Numbers of up to this many digits are computed two vectors at a time (Multiplier).
  std::size_t paired_digits = 0;
  double digit_pair_ns = 1;  ///< rough nanoseconds of one multiplication / L^2, to share work among threads

  /// r = a b / R mod n in every lane, r < 2n. In: a, b < 2n, or a < R and b <= n. r may be a or b.
  /// With a < R and b < 2n, r < 3n. From a < R a technique may give up to n / 2^w more.
  void (*mul)(Limb* r, const Limb* a, const Limb* b, const Limb* modulus, std::size_t digits,
              Limb* scratch) = nullptr;
  /// r = a^2 / R mod n in every lane, r < 2n. In: a < 2n. r may be a.
  void (*sqr)(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch) = nullptr;
  /// sqr, and in the shadow of its multiplications a share of a selection; of shares that cover the table,
  /// each in a squaring of its own, the last leaves the whole of `chosen`. The memory of `chosen` has been
  /// written to before: its pages are there. Null where a technique has none.
  void (*sqr_select)(Limb* r, const Limb* a, const Limb* modulus, std::size_t digits, Limb* scratch,
                     const SelectShare& share) = nullptr;
  /// Entries of a share; 0: use `select`. Null without sqr_select.
  std::size_t (*free_entries)(std::size_t digits) = nullptr;
  /// mul, sqr and sqr_select of two vectors in lockstep, for up to paired_digits digits; shares: one for
  /// each. The second vector's operands may not be results of the first. Null where one after the other is as
  /// good.
  void (*mul_pair)(const Pair& x, std::size_t digits, Limb* scratch) = nullptr;
  void (*sqr_pair)(const Pair& x, std::size_t digits, Limb* scratch) = nullptr;
  void (*sqr_select_pair)(const Pair& x, std::size_t digits, Limb* scratch,
                          const SelectShare* shares) = nullptr;
  /// r = a + b, less m where that is >= m: 0 <= r < m, exact digits. In: a + b < 2m <= R, m exact digits.
  /// r may be a or b.
  void (*add_mod)(Limb* r, const Limb* a, const Limb* b, const Limb* m, std::size_t digits) = nullptr;
  /// Lane by lane r = table[indices[lane]]; table: `entries` elements, `stride` words from one to the next;
  /// indices: G of them, below `entries`. All of the table is read.
  void (*select)(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
                 const std::uint32_t* indices) = nullptr;
  /// The same from a table of single residues, L words each, that all lanes share.
  void (*select_shared)(Limb* r, const Limb* table, std::size_t entries, std::size_t digits,
                        const std::uint32_t* indices) = nullptr;

  /// r = the digits of G numbers of 64-bit limbs, structure of arrays (limb i of lane l is word i G + l).
  /// Null, with the next, for techniques of one lane.
  void (*to_digits)(Limb* r, const Limb* limbs, std::size_t limb_count, std::size_t digits) = nullptr;
  /// The low `limb_count` limbs of a. In: exact digits.
  void (*from_digits)(Limb* limbs, std::size_t limb_count, const Limb* a, std::size_t digits) = nullptr;

  /// Words of scratch that mul and sqr need, aligned to 64 bytes.
  std::size_t (*scratch_words)(std::size_t digits) = nullptr;

  /// Words of a modulus block, and what fills those after k0. Null: there are none.
  std::size_t (*modulus_words)(std::size_t digits) = nullptr;
  void (*prepare)(Limb* modulus, std::size_t digits) = nullptr;

  /// Digits for moduli of at most `bits` bits.
  [[nodiscard]] constexpr std::size_t digits_for(std::size_t bits) const {
    std::size_t digits = (bits + headroom_bits + digit_bits - 1) / digit_bits;
    digits = (digits + digit_multiple - 1) / digit_multiple * digit_multiple;
    return digits < min_digits ? min_digits : digits;
  }
};

}  // namespace manymod::lanes

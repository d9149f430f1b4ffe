// SPDX-License-Identifier: Apache-2.0
// Number ranges of technique radix29.
#pragma once

#include <cstddef>
#include <limits>

#include "repr/canonical.hpp"

namespace manymod::radix29 {

/// w. With 28 bits columns of up to 127 digits would need no folding, but there would be (29/28)^2 - 1 = 7 %
/// more products; folding adds 3 instructions to the 2 * 51 or more of the products between two folds.
inline constexpr unsigned kDigitBits = 29;
inline constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;

/// Digits hold 2^headroom n for every modulus of up to kMaxModulusBits bits.
inline constexpr unsigned kHeadroomBits = 2;
inline constexpr std::size_t kMaxDigits = (kMaxModulusBits + kHeadroomBits + kDigitBits - 1) / kDigitBits;

/// Up to this many digits a second element fills the gaps that the chain of q leaves: measured 1.5 times the
/// throughput at 5 digits, 1.06 times at 9, nothing from 14 on.
inline constexpr std::size_t kPairedDigits = 9;

/// Columns of a tile. Six sums, a factor, a product and the mask are what 16 registers hold with room to
/// spare; wider tiles were measured to be slower with 16 registers and no faster with 32.
inline constexpr std::size_t kTile = 6;
static_assert(kTile % 2 == 0, "of a square, all tiles but the first begin at columns of one parity");

/// Products of two digits that a column may take before it is folded: all but its low w bits carried to the
/// next column.
inline constexpr std::size_t kColumnProducts = 63;

/// A column's products come in rows, and in at most four edges of a tile that count as 2 kTile products or
/// fewer.
inline constexpr std::size_t kMaxEdge = 2 * kTile;
inline constexpr std::size_t kMaxFolds = (2 * kMaxDigits + 4 * kMaxEdge) / (kColumnProducts - kMaxEdge);

/// A column holds less than this before its first product and after being folded: it is then at most a digit
/// and what the column below carried, which is less than 2^64 >> w at each of its folds and at its end.
inline constexpr Limb kFoldedColumn = Limb{1} << 40;

static_assert(((kMaxFolds + 1) << (kLimbBits - kDigitBits)) + kDigitMask < kFoldedColumn);
// No column overflows: 63 (2^29 - 1)^2 + 2^40 <= 2^64 - 1.
static_assert(kDigitMask * kDigitMask <=
              (std::numeric_limits<Limb>::max() - kFoldedColumn) / kColumnProducts);
// vpmuludq reads 32 bits: a doubled digit fits.
static_assert(2 * kDigitMask < Limb{1} << 32);

}  // namespace manymod::radix29

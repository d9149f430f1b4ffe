// SPDX-License-Identifier: Apache-2.0
// Parameters and ranges of technique radix29, with the proof that no column overflows.
#pragma once

#include <cstddef>
#include <limits>

#include "repr/canonical.hpp"

namespace manymod::radix29 {

/// w, the bits of a digit. With 28 bits, columns of up to 127 digits would need no folding, but there would
/// be (29/28)^2 - 1 = 7 % more products. Folding adds 3 instructions to the 2 * 51 or more of the products
/// between two folds.
inline constexpr unsigned kDigitBits = 29;
inline constexpr Limb kDigitMask = (Limb{1} << kDigitBits) - 1;

/// L digits hold 2^kHeadroomBits n for every modulus n of up to kMaxModulusBits bits.
inline constexpr unsigned kHeadroomBits = 2;
inline constexpr std::size_t kMaxDigits = (kMaxModulusBits + kHeadroomBits + kDigitBits - 1) / kDigitBits;

/// Up to this many digits, two elements are computed at a time, since the dependent chain of quotient digits
/// leaves gaps: measured 1.5 times the throughput at 5 digits, 1.06 times at 9, no gain from 14 on.
inline constexpr std::size_t kPairedDigits = 9;

/// Columns of a tile. Six sums, a factor, a product and the mask fit 16 registers with some to spare. Wider
/// tiles were measured to be slower with 16 registers and no faster with 32.
inline constexpr std::size_t kTile = 6;
static_assert(kTile % 2 == 0, "of a square, all tiles but the first begin at columns of one parity");

/// Products of two digits that a column may take before it is folded. To fold a column is to keep its low w
/// bits and carry the rest to the next column.
inline constexpr std::size_t kColumnProducts = 63;

/// A column's products come in rows and in at most four edges of a tile, which count as at most 2 kTile
/// products each.
inline constexpr std::size_t kMaxEdge = 2 * kTile;
inline constexpr std::size_t kMaxFolds = (2 * kMaxDigits + 4 * kMaxEdge) / (kColumnProducts - kMaxEdge);

/// A column is below this before its first product and after each fold. It then consists of a digit and the
/// carries of the column below, each of which is below 2^(64 - w): one per fold and one at its end.
inline constexpr Limb kFoldedColumn = Limb{1} << 40;

static_assert(((kMaxFolds + 1) << (kLimbBits - kDigitBits)) + kDigitMask < kFoldedColumn);
// No column overflows: 63 (2^29 - 1)^2 + 2^40 <= 2^64 - 1.
static_assert(kDigitMask * kDigitMask <=
              (std::numeric_limits<Limb>::max() - kFoldedColumn) / kColumnProducts);
// vpmuludq reads 32 bits: a doubled digit fits.
static_assert(2 * kDigitMask < Limb{1} << 32);

}  // namespace manymod::radix29

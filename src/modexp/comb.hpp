// SPDX-License-Identifier: Apache-2.0
// Powers of a fixed base by a comb (Lim and Lee, "More flexible exponentiation with precomputation", 1994).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/operation.hpp"
#include "core/ticker.hpp"
#include "modexp/limb_bits.hpp"
#include "modexp/monoid.hpp"
#include "modexp/recoding.hpp"
#include "repr/limbs.hpp"

namespace manymod {

/// Shape of a comb. An exponent of teeth * rows bits (rows is the spacing of the teeth) is cut into `teeth`
/// strings, and each string into `blocks` pieces of `columns` bits. A power costs columns - 1 squarings and
/// at most `rows` multiplications.
struct CombShape {
  std::size_t teeth = 1;    ///< h: 2^h powers a block
  std::size_t blocks = 1;   ///< v tables
  std::size_t rows = 1;     ///< a = ceil(bits / h)
  std::size_t columns = 1;  ///< b = ceil(a / v)

  [[nodiscard]] std::size_t entries() const { return blocks << teeth; }
};

/// The shape with the fewest operations whose tables fit in `max_limbs` limbs, for residues of
/// `residue_limbs` limbs. `scan`: the cost of reading one entry, in multiplications (0 for indexed loads).
CombShape best_comb_shape(std::size_t exponent_bits, std::size_t residue_limbs, std::size_t max_limbs,
                          double scan);

/// Bits that a comb covers for exponents below 2^exponent_bits. Constant-time powers take secret exponents at
/// the full width of their limbs.
constexpr std::size_t comb_bits(std::size_t exponent_bits, TimingClass timing) {
  return timing == TimingClass::secret ? limbs_for_bits(exponent_bits) * kLimbBits : exponent_bits;
}

/// Fill `table`, shape.entries() elements:
///   table[j 2^h + i] = product over the bits t of i of g^(2^(t rows + j columns)).
/// Lanes are independent. workspace: one element. @return false, with the table unusable, if a stop was
/// requested.
template <Monoid M>
bool build_comb(const M& m, const CombShape& shape, const Limb* g, Limb* table, Limb* workspace,
                const StopToken& stop) {
  const std::size_t words = m.words();
  const std::size_t per_block = std::size_t{1} << shape.teeth;
  std::copy_n(g, words, workspace);
  // Compute g^(2^s) for ascending s and store each power that is a tooth of some block in its slot 2^t.
  for (std::size_t t = 0; t < shape.teeth; ++t) {
    for (std::size_t s = 0; s < shape.rows; ++s) {
      if (stop.requested()) return false;
      if (s % shape.columns == 0) {
        std::copy_n(workspace, words,
                    table + (s / shape.columns * per_block + (std::size_t{1} << t)) * words);
      }
      m.sqr(workspace, workspace);
    }
  }
  for (std::size_t block = 0; block < shape.blocks; ++block) {
    Limb* entries = table + block * per_block * words;
    m.set_one(entries);
    if (stop.requested()) return false;
    for (std::size_t i = 3; i < per_block; ++i) {
      const std::size_t lowest = i & (~i + 1);
      if (lowest != i) m.mul(entries + i * words, entries + (i ^ lowest) * words, entries + lowest * words);
    }
  }
  return true;
}

/// r = g^exponent in every lane, for exponents below 2^(teeth rows). workspace: one element. r must not be in
/// the table. @return false, with r unusable, if a stop was requested. Timing: with TimingClass::secret the
/// operations and addresses depend on the shape alone.
template <TableMonoid M>
bool comb_power(const M& m, const CombShape& shape, const Limb* table, Limb* r,
                std::span<const std::span<const Limb>> exponents, TimingClass timing, Limb* workspace,
                const StopToken& stop) {
  const std::size_t residue = m.words() / m.lanes();
  const std::size_t per_block = std::size_t{1} << shape.teeth;
  std::array<std::uint32_t, kMaxLanes> storage;
  const std::span<std::uint32_t> digits(storage.data(), m.lanes());
  m.set_one(r);
  for (std::size_t column = shape.columns; column-- > 0;) {
    if (stop.requested()) return false;
    if (column + 1 < shape.columns) m.sqr(r, r);
    for (std::size_t block = 0; block < shape.blocks; ++block) {
      const std::size_t row = block * shape.columns + column;
      if (row >= shape.rows) continue;
      for (std::size_t lane = 0; lane < m.lanes(); ++lane) {
        digits[lane] =
            recoding::comb_digit(recoding::LimbBits(exponents[lane]), static_cast<unsigned>(shape.teeth),
                                 static_cast<unsigned>(shape.rows), static_cast<unsigned>(row));
      }
      const Limb* entries = table + block * per_block * residue;
      if (timing == TimingClass::secret) {
        m.select_shared(workspace, entries, per_block, digits);
      } else {
        m.gather_shared(workspace, entries, digits);
      }
      m.mul(r, r, workspace);
    }
  }
  return true;
}

}  // namespace manymod

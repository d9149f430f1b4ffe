// SPDX-License-Identifier: Apache-2.0
#include "modexp/comb.hpp"

namespace manymod {

CombShape best_comb_shape(std::size_t exponent_bits, std::size_t residue_limbs, std::size_t max_limbs,
                          double scan) {
  constexpr std::size_t kMaxTeeth = 10;
  CombShape best;
  double best_cost = -1;
  for (std::size_t teeth = 1; teeth <= kMaxTeeth; ++teeth) {
    const std::size_t rows = (exponent_bits + teeth - 1) / teeth;
    for (std::size_t blocks = 1; blocks <= rows; blocks = blocks < 8 ? blocks + 1 : blocks * 2) {
      CombShape shape{teeth, blocks, rows, (rows + blocks - 1) / blocks};
      // Rounding may leave blocks without a row, which would only take memory.
      shape.blocks = (rows + shape.columns - 1) / shape.columns;
      if (shape.entries() * residue_limbs > max_limbs && best_cost >= 0) continue;
      const double read = 1 + scan * static_cast<double>(std::size_t{1} << teeth);
      const double cost = static_cast<double>(shape.columns - 1) + static_cast<double>(rows) * read;
      if (best_cost < 0 || cost < best_cost) {
        best = shape;
        best_cost = cost;
      }
    }
  }
  return best;
}

}  // namespace manymod

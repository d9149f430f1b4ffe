// SPDX-License-Identifier: Apache-2.0
// Blinding pairs for more rows than one would draw pairs for.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/progress.hpp"
#include "repr/limbs.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// Rows of one key laid out in columns and lines: row k is in column k % columns and in line k / columns.
struct Grid {
  std::size_t columns, lines;

  explicit Grid(std::size_t rows);
};

/// Blinding pairs of all rows. Only one for each column and one for each line of a key's rows are drawn, and
/// a row is blinded by the product of its two: drawing one for each row would take the host longer than a GPU
/// needs for the row's powers.
class GridPairs {
 public:
  explicit GridPairs(const Rows& rows);

  /// @return false if stopped
  bool draw(const Rows& rows, unsigned threads, const ProgressPart& progress);

  [[nodiscard]] std::size_t count() const { return factors_.size() / limbs_; }
  /// What numbers are multiplied by, as in BlindingPair.
  [[nodiscard]] const limbs::Buffer& factors() const { return factors_; }
  /// What takes the blinding off.
  [[nodiscard]] const limbs::Buffer& inverses() const { return inverses_; }

  /// The pair of the column of row k of a run.
  [[nodiscard]] std::size_t column(std::size_t run, const Grid& grid, std::size_t k) const {
    return first_[run] + k % grid.columns;
  }
  /// The pair of its line.
  [[nodiscard]] std::size_t line(std::size_t run, const Grid& grid, std::size_t k) const {
    return first_[run] + grid.columns + k / grid.columns;
  }

 private:
  std::size_t limbs_;
  std::vector<std::size_t> first_;  ///< pair of each run
  limbs::Buffer factors_, inverses_;

  void draw_run(const RingKey& key, std::size_t begin, std::size_t end);
};

}  // namespace manymod::rsa

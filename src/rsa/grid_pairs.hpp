// SPDX-License-Identifier: Apache-2.0
// Blinding pairs for large batches, in which most rows share the two pairs that they combine.
#pragma once

#include <cstddef>
#include <vector>

#include "exec/progress.hpp"
#include "repr/limbs.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// The rows of one key arranged in a near-square grid: row k is in column k % columns and line k / columns.
struct Grid {
  std::size_t columns, lines;

  /// A grid for `rows` rows: columns * lines >= rows.
  explicit Grid(std::size_t rows);
};

/// Blinding pairs of all rows of a batch. For each key one pair is drawn per column and one per line of its
/// grid, and a row is blinded by the product of its two pairs, a combination that no other row uses. Drawing
/// a pair per row would take the host longer than a GPU needs for the row's powers.
class GridPairs {
 public:
  /// Allocate the pairs of all keys of `rows`; draw() computes them.
  explicit GridPairs(const Rows& rows);

  /// Draw the pairs on up to `threads` threads. @return false if it was stopped
  bool draw(const Rows& rows, unsigned threads, const ProgressPart& progress);

  /// Number of pairs.
  [[nodiscard]] std::size_t count() const { return factors_.size() / limbs_; }
  /// The factors of all pairs, count() times n's limbs, as in BlindingPair.
  [[nodiscard]] const limbs::Buffer& factors() const { return factors_; }
  /// The inverses of all pairs, which remove the blinding.
  [[nodiscard]] const limbs::Buffer& inverses() const { return inverses_; }

  /// Index of the pair of row k's column, in the grid of run number `run`.
  [[nodiscard]] std::size_t column(std::size_t run, const Grid& grid, std::size_t k) const {
    return first_[run] + k % grid.columns;
  }
  /// Index of the pair of row k's line.
  [[nodiscard]] std::size_t line(std::size_t run, const Grid& grid, std::size_t k) const {
    return first_[run] + grid.columns + k / grid.columns;
  }

 private:
  std::size_t limbs_;
  std::vector<std::size_t> first_;  ///< index of the first pair of each run
  limbs::Buffer factors_, inverses_;

  /// The run that a pair belongs to.
  [[nodiscard]] std::size_t run_of(std::size_t pair) const;
  /// Draw pairs [begin, end), all of one key.
  void draw_of_key(const RingKey& key, std::size_t begin, std::size_t end);
};

}  // namespace manymod::rsa

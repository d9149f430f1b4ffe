// SPDX-License-Identifier: Apache-2.0
// Rows of a call whose moduli have the same number of limbs; the rows of one key are contiguous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "repr/limbs.hpp"
#include "repr/wipe.hpp"
#include "rsa/ring_key.hpp"

namespace manymod::rsa {

/// The rows [begin, end), which belong to one key.
struct KeyRun {
  const RingKey* key;
  std::size_t begin;
  std::size_t end;

  [[nodiscard]] std::size_t size() const { return end - begin; }
};

struct Rows {
  std::vector<std::size_t> items;  ///< of each row, its item in the call
  std::vector<KeyRun> runs;        ///< in order; together all rows
  std::size_t limbs = 0;           ///< of each modulus
  std::span<Limb> numbers;         ///< bases; each row is below its modulus
  std::span<Limb> powers;          ///< the results

  [[nodiscard]] std::size_t count() const { return items.size(); }

  /// Zeroes the number and the power of a row.
  void wipe(std::size_t row) {
    manymod::wipe(number(row));
    manymod::wipe(power(row));
  }
  [[nodiscard]] std::span<Limb> number(std::size_t row) { return numbers.subspan(row * limbs, limbs); }
  [[nodiscard]] std::span<const Limb> number(std::size_t row) const {
    return numbers.subspan(row * limbs, limbs);
  }
  [[nodiscard]] std::span<Limb> power(std::size_t row) { return powers.subspan(row * limbs, limbs); }
  [[nodiscard]] std::span<const Limb> power(std::size_t row) const {
    return powers.subspan(row * limbs, limbs);
  }
};

/// A view of one number that all rows share.
inline BatchView one(std::span<const Limb> number) {
  return {number.data(), 1, number.size(), number.size(), nullptr};
}

/// Call visit(run, first, last) for each run that intersects rows [begin, end): [first, last) is the
/// intersection.
template <class Visit>
void for_runs(std::span<const KeyRun> runs, std::size_t begin, std::size_t end, const Visit& visit) {
  for (const KeyRun& run : runs) {
    const std::size_t from = std::max(begin, run.begin);
    const std::size_t to = std::min(end, run.end);
    if (from < to) visit(run, from, to);
  }
}

}  // namespace manymod::rsa

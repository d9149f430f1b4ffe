// SPDX-License-Identifier: Apache-2.0
// Rows of a call whose moduli have the same number of limbs; the rows of one key are contiguous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "repr/limbs.hpp"
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
  limbs::Buffer numbers;           ///< bases; each row is below its modulus; then unused memory
  limbs::Buffer powers;            ///< the results; then unused memory

  [[nodiscard]] std::size_t count() const { return items.size(); }

  /// Make room for numbers and powers, once all rows are known. Memory of earlier rows is used again: page
  /// faults of new memory cost more than writing it.
  void make_room() {
    numbers.require(count() * limbs);
    powers.require(count() * limbs);
  }
  /// Make the number and the power of a row 0, which are those of earlier rows otherwise.
  void clear(std::size_t row) {
    std::ranges::fill(number(row), Limb{0});
    std::ranges::fill(power(row), Limb{0});
  }
  [[nodiscard]] std::span<Limb> number(std::size_t row) { return numbers.part(row * limbs, limbs); }
  [[nodiscard]] std::span<const Limb> number(std::size_t row) const {
    return numbers.part(row * limbs, limbs);
  }
  [[nodiscard]] std::span<Limb> power(std::size_t row) { return powers.part(row * limbs, limbs); }
  [[nodiscard]] std::span<const Limb> power(std::size_t row) const { return powers.part(row * limbs, limbs); }
  [[nodiscard]] BatchView view(const limbs::Buffer& buffer) const {
    return {buffer.data(), count(), limbs, limbs, nullptr};
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

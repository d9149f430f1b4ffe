// SPDX-License-Identifier: Apache-2.0
// Rows of many keys, grouped by the public exponent.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "rsa/rows.hpp"

namespace manymod::rsa {

/// A total order of the public exponents of keys.
inline bool exponent_less(const Key& x, const Key& y) { return limbs::less_var(x.e(), y.e()); }

/// The runs sorted by the exponents of their keys, in the order of the rows where those are equal, and
/// divided where the exponent changes: as many groups as there are exponents. Comparisons: O(r log r) for r
/// runs. `less` orders keys as exponent_less does.
template <class Less>
std::vector<std::span<const KeyRun>> group_by_exponent(std::span<KeyRun> runs, const Less& less) {
  std::ranges::sort(runs, [&](const KeyRun& x, const KeyRun& y) {
    if (less(x.key->key(), y.key->key())) return true;
    return !less(y.key->key(), x.key->key()) && x.begin < y.begin;
  });
  std::vector<std::span<const KeyRun>> groups;
  for (std::size_t begin = 0; begin < runs.size();) {
    std::size_t end = begin + 1;
    while (end < runs.size() && !less(runs[end - 1].key->key(), runs[end].key->key())) ++end;
    groups.emplace_back(runs.subspan(begin, end - begin));
    begin = end;
  }
  return groups;
}

}  // namespace manymod::rsa

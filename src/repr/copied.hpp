// SPDX-License-Identifier: Apache-2.0
// Copies of a caller's numbers. Others may write to the caller's memory meanwhile: what is looked at and
// computed with is the copy.
#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "repr/limbs.hpp"

namespace manymod::limbs {

inline Buffer copied(std::span<const Limb> a) {
  Buffer copy(a.size());
  std::copy(a.begin(), a.end(), copy.data());
  return copy;
}

/// A copy without leading zero limbs.
inline Buffer normalized_var(std::span<const Limb> a) {
  Buffer copy = copied(a);
  const std::size_t size = normalized_size_var(copy.first(a.size()));
  return size == a.size() ? std::move(copy) : copied(copy.first(size));
}

}  // namespace manymod::limbs

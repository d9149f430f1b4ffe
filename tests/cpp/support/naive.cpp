// SPDX-License-Identifier: Apache-2.0
// Tests spend more time here than in the code under test, so this file is always optimised
// (cmake/ManymodTests.cmake).
#include "support/naive.hpp"

namespace naive {

Digits multiply(const Digits& a, const Digits& b) {
  Digits product(a.size() + b.size(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      carry += std::uint64_t{a[i]} * b[j] + product[i + j];
      product[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    product[i + b.size()] = static_cast<std::uint32_t>(carry);
  }
  return product;
}

bool at_least(const Digits& a, const Digits& b) {
  for (std::size_t i = a.size() > b.size() ? a.size() : b.size(); i-- > 0;) {
    const std::uint32_t x = i < a.size() ? a[i] : 0;
    const std::uint32_t y = i < b.size() ? b[i] : 0;
    if (x != y) return x > y;
  }
  return true;
}

Digits remainder(const Digits& a, const Digits& n) {
  Digits r(n.size() + 1, 0);
  for (std::size_t bit = 32 * a.size(); bit-- > 0;) {
    std::uint32_t in = (a[bit / 32] >> (bit % 32)) & 1;
    for (std::uint32_t& digit : r) {
      const std::uint32_t out = digit >> 31;
      digit = (digit << 1) | in;
      in = out;
    }
    if (!at_least(r, n)) continue;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      borrow += std::int64_t{r[i]} - (i < n.size() ? n[i] : 0);
      r[i] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
  }
  return r;
}

}  // namespace naive

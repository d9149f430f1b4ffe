// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/tables.cuda.hpp"

#include <algorithm>

namespace manymod::ecc::cuda {

void add_modulo(std::vector<Limb>& a, const std::vector<Limb>& b, std::span<const Limb> n) {
  std::vector<Limb> less(a.size());
  Limb carry = 0, borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Limb sum = a[i] + b[i], total = sum + carry;
    carry = (sum < b[i] ? 1 : 0) + (total < sum ? 1 : 0);
    a[i] = total;
    const Limb difference = total - n[i];
    less[i] = difference - borrow;
    borrow = (total < n[i] ? 1 : 0) + (difference < borrow ? 1 : 0);
  }
  if (carry >= borrow) a = less;
}

std::vector<Limb> wide_table_scalars(std::span<const Limb> n, unsigned order_bits, unsigned w) {
  const unsigned windows = window_count(order_bits, w);
  const std::size_t entries = std::size_t{1} << (w - 1);
  std::vector<Limb> rows, base(n.size(), 0);
  rows.reserve(windows * entries * n.size());
  base[0] = 1;
  for (unsigned window = 0; window < windows; ++window) {
    std::vector<Limb> multiple = base, twice = base;
    add_modulo(twice, base, n);
    for (std::size_t i = 0; i < entries; ++i) {
      rows.insert(rows.end(), multiple.begin(), multiple.end());
      add_modulo(multiple, twice, n);
    }
    for (unsigned i = 0; i < w; ++i) {
      const std::vector<Limb> same = base;
      add_modulo(base, same, n);
    }
  }
  return rows;
}

}  // namespace manymod::ecc::cuda

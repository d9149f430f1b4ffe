// SPDX-License-Identifier: Apache-2.0
// Tests spend more time here than in the code under test, so this file is always optimised
// (cmake/ManymodTests.cmake).
#include "support/lane_values.hpp"

namespace manymod::test {

naive::Limbs montgomery_product(const naive::Limbs& a, const naive::Limbs& b, const naive::Limbs& n,
                                std::size_t bits) {
  const naive::Digits modulus = naive::digits(n);
  naive::Digits t = naive::multiply(naive::digits(a), naive::digits(b));
  t.resize(std::max(t.size(), bits / 32 + modulus.size() + 1) + 2, 0);
  std::uint32_t inverse = modulus[0];
  for (int i = 0; i < 4; ++i) inverse *= 2 - modulus[0] * inverse;
  for (std::size_t done = 0; done < bits; done += 32) {
    const std::size_t at = done / 32;
    std::uint32_t q = 0 - t[at] * inverse;
    if (bits - done < 32) q &= (std::uint32_t{1} << (bits - done)) - 1;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < modulus.size(); ++i) {
      carry += std::uint64_t{q} * modulus[i] + t[at + i];
      t[at + i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    for (std::size_t i = at + modulus.size(); carry != 0; ++i) {
      carry += t[i];
      t[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  naive::Limbs r = naive::limbs(t, t.size() / 2 + 1);
  const std::size_t skip = bits / kLimbBits;
  const std::size_t shift = bits % kLimbBits;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const Limb low = i + skip < r.size() ? r[i + skip] : 0;
    const Limb high = i + skip + 1 < r.size() ? r[i + skip + 1] : 0;
    r[i] = shift == 0 ? low : (low >> shift) | (high << (kLimbBits - shift));
  }
  naive::Limbs wide = n;
  wide.resize(r.size(), 0);
  while (!below(r, wide)) r = difference(r, wide);
  r.resize(n.size());
  return r;
}

}  // namespace manymod::test

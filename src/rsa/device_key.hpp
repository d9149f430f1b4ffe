// SPDX-License-Identifier: Apache-2.0
// A key as a GPU's Montgomery multiplication needs it, with R_n = 2^(64 radix_n) modulo n and R_p = 2^(64
// radix_p) modulo p; radix_n >= n's limbs, radix_p >= p's.
#pragma once

#include <cstddef>
#include <span>

#include "repr/limbs.hpp"
#include "rsa/arithmetic.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

/// R_n^e mod n, for scaled_power_program.
limbs::Buffer public_scale(const Key& key, std::size_t radix_n);

class DeviceKey {
 public:
  DeviceKey(const PrivateArithmetic& arithmetic, std::span<const Limb> qinv, std::size_t radix_n,
            std::size_t radix_p);

  /// R_n^3 / R^2 mod n, R that of BlindingPair: x (f R) / R_n (g R) / R_n this / R_n = x f g mod n, for the
  /// factors f and g of two pairs.
  [[nodiscard]] std::span<const Limb> blinding_scale() const {
    return blinding_scale_.first(blinding_scale_.size());
  }
  /// qinv R_p mod p.
  [[nodiscard]] std::span<const Limb> qinv() const { return qinv_.first(qinv_.size()); }

 private:
  limbs::Buffer blinding_scale_, qinv_;
};

}  // namespace manymod::rsa

// SPDX-License-Identifier: Apache-2.0
// Constants of a key for Montgomery multiplication on a GPU, with R_n = 2^(64 radix_n) for products modulo n
// and R_p = 2^(64 radix_p) for products modulo p; radix_n >= limbs of n, radix_p >= limbs of p.
#pragma once

#include <cstddef>
#include <span>

#include "repr/limbs.hpp"
#include "rsa/arithmetic.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

/// R_n^e mod n, for scaled_power_program. Timing: variable-time in e.
limbs::Buffer public_scale(const Key& key, std::size_t radix_n);

/// Constants of a private key. Timing: constant-time.
class DeviceKey {
 public:
  /// On input: `qinv` = q^-1 mod p; radix_n, radix_p as above.
  DeviceKey(const PrivateArithmetic& arithmetic, std::span<const Limb> qinv, std::size_t radix_n,
            std::size_t radix_p);

  /// R_n^3 / R^2 mod n with the R of BlindingPair. Three Montgomery products of x with the factors f R and g
  /// R of two pairs and this constant give x f g mod n.
  [[nodiscard]] std::span<const Limb> blinding_scale() const {
    return blinding_scale_.first(blinding_scale_.size());
  }
  /// qinv R_p mod p.
  [[nodiscard]] std::span<const Limb> qinv() const { return qinv_.first(qinv_.size()); }

 private:
  limbs::Buffer blinding_scale_, qinv_;
};

}  // namespace manymod::rsa

// SPDX-License-Identifier: Apache-2.0
// A private key as a GPU's Montgomery multiplication needs it, with R_n = 2^(64 radix_n) modulo n and R_p =
// 2^(64 radix_p) modulo p.
#pragma once

#include <cstddef>
#include <span>

#include "modexp/windows.hpp"
#include "repr/limbs.hpp"
#include "rsa/arithmetic.hpp"
#include "rsa/key.hpp"

namespace manymod::rsa {

class DeviceKey {
 public:
  /// radix_n >= n's limbs, radix_p >= p's.
  DeviceKey(const Key& key, const PrivateArithmetic& arithmetic, std::size_t radix_n, std::size_t radix_p);

  /// R_n^2 / R mod n, R that of BlindingPair: x * (factor R) / R_n * this / R_n = x factor mod n.
  [[nodiscard]] std::span<const Limb> blinding_scale() const { return whole(blinding_scale_); }
  /// R_n^e mod n, for scaled_power_program.
  [[nodiscard]] std::span<const Limb> check_scale() const { return whole(check_scale_); }
  /// qinv R_p mod p.
  [[nodiscard]] std::span<const Limb> qinv() const { return whole(qinv_); }

 private:
  limbs::Buffer blinding_scale_, check_scale_, qinv_;

  [[nodiscard]] static std::span<const Limb> whole(const limbs::Buffer& buffer) {
    return buffer.first(buffer.size());
  }
};

}  // namespace manymod::rsa

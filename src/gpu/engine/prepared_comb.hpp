// SPDX-License-Identifier: Apache-2.0
// The comb of a fixed base on a device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/engine.hpp"
#include "gpu/buffer.hpp"
#include "gpu/engine/constants.hpp"
#include "modexp/comb.hpp"
#include "repr/limbs.hpp"

namespace manymod::gpu {

/// The comb of one base modulo one modulus. Copies both, and zeroes the copies and the table when it is
/// destroyed.
class PreparedComb final : public PreparedBase {
 public:
  PreparedComb(const BatchView& base, std::span<const Limb> modulus)
      : base_limbs(base.width), modulus_limbs(modulus.size()), negative(base.is_negative(0) ? 1 : 0) {
    std::copy_n(base.magnitude(0).data(), base.width, base_limbs.data());
    std::copy_n(modulus.data(), modulus.size(), modulus_limbs.data());
    base_view = {base_limbs.data(), 1, base_limbs.size(), base_limbs.size(), &negative};
    modulus_view = {modulus_limbs.data(), 1, modulus_limbs.size(), modulus_limbs.size(), nullptr};
  }

  limbs::Buffer base_limbs, modulus_limbs;
  std::uint8_t negative;
  CombShape shape;
  DeviceBuffer table;
  std::uint32_t table_threads = 0;                    ///< see DeviceComb
  std::unique_ptr<const ModulusConstants> constants;  ///< null where the technique has none of moduli
  bool by_general = false;                            ///< the general engine built it and must use it
  BatchView base_view, modulus_view;
};

}  // namespace manymod::gpu

// SPDX-License-Identifier: Apache-2.0
// Numbers of the standards, which the sources have in hexadecimal.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/limb.hpp"

namespace manymod::ecc {

/// On input: lower-case digits. On output: as many limbs as the digits need, none if there are none.
inline std::vector<Limb> limbs_from_hex(std::string_view hex) {
  constexpr std::size_t kDigits = kLimbBits / 4;
  std::vector<Limb> limbs((hex.size() + kDigits - 1) / kDigits);
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const char digit = hex[hex.size() - 1 - i];
    limbs[i / kDigits] |= static_cast<Limb>(digit <= '9' ? digit - '0' : digit - 'a' + 10)
                          << (4 * (i % kDigits));
  }
  return limbs;
}

}  // namespace manymod::ecc

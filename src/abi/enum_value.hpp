// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <type_traits>

namespace manymod {

/// The number in an enum that a C caller filled in. Reading it as the enum type would be undefined for
/// numbers that no enumerator can hold.
template <class Enum>
long long enum_value(const Enum& value) {
  std::underlying_type_t<Enum> number;
  std::memcpy(&number, &value, sizeof number);
  return static_cast<long long>(number);
}

}  // namespace manymod

// SPDX-License-Identifier: Apache-2.0
// Reading enums whose values a C caller has set.
#pragma once

#include <cstring>
#include <type_traits>

namespace manymod {

/// The number stored in `value`. Reading it as an enum would be undefined behaviour for numbers outside the
/// range of the enumerators.
template <class Enum>
long long enum_value(const Enum& value) {
  std::underlying_type_t<Enum> number;
  std::memcpy(&number, &value, sizeof number);
  return static_cast<long long>(number);
}

}  // namespace manymod

// SPDX-License-Identifier: Apache-2.0
// Enums of the C interface with any number.
#pragma once

#include <cstring>

namespace manymod::testing {

/// Gives an enum a number outside its range, which a C caller can create.
template <class Enum>
void set_number(Enum& target, int number) {
  static_assert(sizeof target == sizeof number);
  std::memcpy(&target, &number, sizeof number);
}

}  // namespace manymod::testing

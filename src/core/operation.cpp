// SPDX-License-Identifier: Apache-2.0
#include "core/operation.hpp"

#include <array>

namespace manymod {

std::string_view operation_name(Operation op) {
  constexpr std::array<std::string_view, kOperationCount> kNames{
      "addmod", "submod",       "negmod",
      "mulmod", "sqrmod",       "powmod",
      "invmod", "multi_powmod", "fixed_base_powmod",
      "fmamod", "summod",       "prodmod",
      "dotmod"};
  return kNames.at(static_cast<std::size_t>(op));
}

std::string_view timing_name(TimingClass timing) {
  return timing == TimingClass::secret ? "secret" : "public";
}

std::string_view timing_description(TimingClass timing) {
  return timing == TimingClass::secret ? "constant time" : "variable time";
}

}  // namespace manymod

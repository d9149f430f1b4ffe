// SPDX-License-Identifier: Apache-2.0
#include "abi/struct_size.hpp"

#include <string>

#include "core/status_error.hpp"

namespace manymod {

void check_struct_size(std::size_t given, std::size_t minimum, const char* what) {
  if (given >= minimum) return;
  throw StatusError(MM_ERR_ARGUMENT, std::string(what) + ".struct_size is " + std::to_string(given) +
                                         ", expected at least " + std::to_string(minimum));
}

}  // namespace manymod

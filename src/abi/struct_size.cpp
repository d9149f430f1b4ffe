// SPDX-License-Identifier: Apache-2.0
#include "abi/struct_size.hpp"

#include <string>

#include "core/status_error.hpp"

namespace manymod {

void check_struct_size(std::size_t given, std::size_t minimum, const char* what) {
  if (given >= minimum && given <= kMaximumSize) return;
  throw StatusError(MM_ERR_ARGUMENT,
                    std::string(what) + ".struct_size is " + std::to_string(given) + ", expected at least " +
                        std::to_string(minimum) +
                        (given < minimum ? "" : " and at most " + std::to_string(kMaximumSize)));
}

void check_unknown_members(const void* given, std::size_t known, std::size_t size, const char* what) {
  const auto* const bytes = static_cast<const unsigned char*>(given);
  for (std::size_t i = known; i < size; ++i) {
    if (bytes[i] == 0) continue;
    throw StatusError(MM_ERR_ARGUMENT, std::string(what) + " has " + std::to_string(size) +
                                           " bytes, and byte " + std::to_string(i) +
                                           " is not 0: this version of the library knows only " +
                                           std::to_string(known) + " of them");
  }
}

}  // namespace manymod

// SPDX-License-Identifier: Apache-2.0
#include "abi/written_ranges.hpp"

#include <cstdint>
#include <string>

#include "core/status_error.hpp"

namespace manymod {

void WrittenRanges::add(const char* name, const void* data, std::size_t size) {
  if (data == nullptr) return;
  require_possible(size, name);
  const ByteSpan bytes(static_cast<const std::uint8_t*>(data), size);
  for (const ItemsIn* input : inputs_) {
    if (input->overlap(bytes)) throw StatusError(MM_ERR_OVERLAP, std::string(name) + " overlaps an input");
  }
  for (const Range& other : ranges_) {
    if (overlap(bytes, other.bytes)) {
      throw StatusError(MM_ERR_OVERLAP, std::string(name) + " overlaps " + other.name);
    }
  }
  ranges_.push_back({name, bytes});
}

}  // namespace manymod

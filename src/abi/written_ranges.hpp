// SPDX-License-Identifier: Apache-2.0
// What a call of the C ABI writes, checked before anything is written.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "abi/items.hpp"
#include "repr/bytes.hpp"

namespace manymod {

/// The arrays that a call writes, which overlap neither its inputs nor each other: else results would replace
/// operands that are still to be read. Name the inputs first.
class WrittenRanges {
 public:
  /// An input, which lives as long as this object.
  void keep(const ItemsIn& input) { inputs_.push_back(&input); }
  void keep(const std::optional<ItemsIn>& input) {
    if (input) keep(*input);
  }

  /// An array of `size` bytes; null: none.
  /// @throws StatusError MM_ERR_OVERLAP if it overlaps an input or what was added before; MM_ERR_ARGUMENT if
  /// no array can be so large
  void add(const char* name, const void* data, std::size_t size);

 private:
  struct Range {
    const char* name;
    ByteSpan bytes;
  };

  std::vector<const ItemsIn*> inputs_;
  std::vector<Range> ranges_;
};

}  // namespace manymod

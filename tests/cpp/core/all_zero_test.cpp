// SPDX-License-Identifier: Apache-2.0
#include "core/all_zero.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace manymod {
namespace {

/// Every length around those of vectors, and every place of the byte that is set.
TEST(AllZero, FindsTheOneByteThatIsSet) {
  for (std::size_t size = 0; size <= 130; ++size) {
    std::vector<std::uint8_t> bytes(size);
    EXPECT_TRUE(all_zero(std::span<const std::uint8_t>(bytes))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      bytes[at] = at % 2 == 0 ? 1 : 128;
      EXPECT_FALSE(all_zero(std::span<const std::uint8_t>(bytes))) << size << " " << at;
      bytes[at] = 0;
    }
  }
}

}  // namespace
}  // namespace manymod

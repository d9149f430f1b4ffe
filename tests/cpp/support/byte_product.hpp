// SPDX-License-Identifier: Apache-2.0
// The product of bytes that a tensor core computes, as a loop.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::test {

/// A row times a column of `steps` steps, in the layout of arch/cuda/byte_products.cuda.hpp. row[t]: the 2
/// steps words of the quad's thread t. `column`: its first byte; steps are `step_bytes` apart.
std::int32_t product_of_bytes(const std::uint32_t* const (&row)[4], const std::byte* column,
                              std::size_t step_bytes, unsigned steps);

}  // namespace manymod::test

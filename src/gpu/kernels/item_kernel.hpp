// SPDX-License-Identifier: Apache-2.0
// Kernels that compute each item by one thread, with its numbers in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::gpu {

inline constexpr unsigned kItemBlock = 64;  ///< largest number of threads per block

/// Bytes of shared memory per thread: two numbers of `words` words.
constexpr std::size_t item_bytes(std::uint32_t words) { return std::size_t{8} * words; }

}  // namespace manymod::gpu

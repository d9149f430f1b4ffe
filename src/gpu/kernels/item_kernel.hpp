// SPDX-License-Identifier: Apache-2.0
// Kernels that compute each item by one thread, its numbers in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace manymod::gpu {

inline constexpr unsigned kItemBlock = 64;  ///< most threads of a block

/// Bytes of shared memory that a thread has for an item of two numbers of so many words.
constexpr std::size_t item_bytes(std::uint32_t words) { return std::size_t{8} * words; }

}  // namespace manymod::gpu

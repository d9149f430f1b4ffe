// SPDX-License-Identifier: Apache-2.0
// Which kernel of division32 computes a call, and its launch.
#pragma once

#include <cstddef>

#include "gpu/device.hpp"
#include "modmul/division32/job.hpp"

namespace manymod::division32 {

/// A kernel for shared moduli and one for own moduli. A result is computed by `threads` threads with
/// `per_thread` words each.
struct Shape {
  unsigned threads;
  unsigned per_thread;
  const char* shared_modulus;
  const char* own_modulus;

  [[nodiscard]] constexpr unsigned words() const { return threads * per_thread; }
};

/// The narrowest shape for numbers of `words` <= kMaxWords words.
const Shape& shape_for(RowOperation operation, std::size_t words);

/// Enqueues the kernel for `job`. On input: 0 < job.count <= kItemsPerLaunch.
inline constexpr std::size_t kItemsPerLaunch = std::size_t{1} << 27;
void launch(const gpu::Stream& stream, const Shape& shape, const Job& job);

}  // namespace manymod::division32

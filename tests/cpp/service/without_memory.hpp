// SPDX-License-Identifier: Apache-2.0
// Threads that get no memory. Sanitizers have allocators of their own, and there is none of this with them.
#pragma once

namespace manymod::testing {

/// While it lives, `new` throws std::bad_alloc on this thread.
class WithoutMemory {
 public:
  WithoutMemory();
  ~WithoutMemory();
  WithoutMemory(const WithoutMemory&) = delete;
  WithoutMemory& operator=(const WithoutMemory&) = delete;
};

}  // namespace manymod::testing

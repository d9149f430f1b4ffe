// SPDX-License-Identifier: Apache-2.0
// operator new and delete of the tests. Sanitizers have their own: with them, nothing here has an effect.
#pragma once

#include <atomic>

namespace manymod::signd::test {

/// Called with memory before it is freed; null: nothing is.
inline std::atomic<void (*)(const void* memory)> look_at_freed{nullptr};

/// Have the next operator new of the calling thread throw std::bad_alloc.
void fail_next_allocation();

}  // namespace manymod::signd::test

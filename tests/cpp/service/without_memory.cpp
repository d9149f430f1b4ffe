// SPDX-License-Identifier: Apache-2.0
// The operators are alone in this file: where GCC sees them and their callers, it takes their malloc() for a
// mismatch.
#ifndef MANYMOD_SANITIZED
#include "service/without_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local bool without_memory = false;

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = without_memory ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace manymod::testing {

WithoutMemory::WithoutMemory() { without_memory = true; }
WithoutMemory::~WithoutMemory() { without_memory = false; }

}  // namespace manymod::testing
#endif

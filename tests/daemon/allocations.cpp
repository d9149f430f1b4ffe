// SPDX-License-Identifier: Apache-2.0
#include "daemon/allocations.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace manymod::signd::test {
namespace {

thread_local bool next_one_fails = false;

}  // namespace

void fail_next_allocation() { next_one_fails = true; }

#ifndef MANYMOD_SANITIZED
namespace {

void* allocate(std::size_t size) {
  const bool fails = std::exchange(next_one_fails, false);
  void* const memory = fails ? nullptr : std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_seen(void* memory) noexcept {
  const auto look = look_at_freed.load(std::memory_order_relaxed);
  if (memory != nullptr && look != nullptr) look(memory);
  std::free(memory);
}

}  // namespace
#endif

}  // namespace manymod::signd::test

#ifndef MANYMOD_SANITIZED
void* operator new(std::size_t size) { return manymod::signd::test::allocate(size); }
void operator delete(void* memory) noexcept { manymod::signd::test::free_seen(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#endif

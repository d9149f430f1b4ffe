// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD whose malloc and operator new fail now and then, for callers in the modules that a
// program names: so that the code under test meets failures, and the interpreter and its other extensions do
// not.
#include <link.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#define EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

struct Range {
  std::atomic<std::uintptr_t> begin{0}, end{0};
};

constexpr std::size_t kMostRanges = 16;
std::array<Range, kMostRanges> watched;
std::atomic<std::size_t> watched_count{0};
std::atomic<std::uint32_t> every{0};  // 0: none fails
std::atomic<std::uint64_t> state{0}, failed{0};

bool is_watched(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const std::size_t count = watched_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (address >= watched[i].begin && address < watched[i].end) return true;
  }
  return false;
}

// Whether an allocation for that caller shall fail (SplitMix64).
bool fails(const void* caller) {
  const std::uint32_t one_of = every.load(std::memory_order_relaxed);
  if (one_of == 0 || !is_watched(caller)) return false;
  std::uint64_t z = state.fetch_add(0x9E3779B97F4A7C15, std::memory_order_relaxed);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  if ((z ^ (z >> 31)) % one_of != 0) return false;
  failed.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void* none() {
  errno = ENOMEM;
  return nullptr;
}

void* allocated(std::size_t size, std::size_t alignment, const void* caller) {
  if (fails(caller)) return none();
  if (size == 0) size = 1;
  return alignment == 0 ? __libc_malloc(size) : __libc_memalign(alignment, size);
}

void* allocated_or_throw(std::size_t size, std::size_t alignment, const void* caller) {
  void* const block = allocated(size, alignment, caller);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

int watch_module(dl_phdr_info* info, std::size_t, void* name) {
  if (std::strstr(info->dlpi_name, static_cast<const char*>(name)) == nullptr) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::size_t at = watched_count.load();
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 || at == kMostRanges) continue;
    watched[at].begin = info->dlpi_addr + segment.p_vaddr;
    watched[at].end = info->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    watched_count.store(at + 1, std::memory_order_release);
  }
  return 1;
}

}  // namespace

/// Let allocations fail whose callers are in the first loaded module with that part of a path. Returns 1 if
/// there is one.
EXPORT int failing_allocations_watch(const char* part_of_path) {
  return dl_iterate_phdr(watch_module, const_cast<char*>(part_of_path));
}

/// From now on one of `one_of` allocations fails, at random; 0: none.
EXPORT void failing_allocations_set(std::uint32_t one_of, std::uint64_t seed) {
  state = seed;
  every = one_of;
}

/// Number of allocations that have failed.
EXPORT std::uint64_t failing_allocations_count(void) { return failed; }

EXPORT void* malloc(std::size_t size) {
  return fails(__builtin_return_address(0)) ? none() : __libc_malloc(size);
}

EXPORT void* calloc(std::size_t count, std::size_t size) {
  return fails(__builtin_return_address(0)) ? none() : __libc_calloc(count, size);
}

EXPORT void* realloc(void* block, std::size_t size) {
  return fails(__builtin_return_address(0)) ? none() : __libc_realloc(block, size);
}

EXPORT int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

EXPORT void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails(__builtin_return_address(0)) ? none() : __libc_memalign(alignment, size);
}

#pragma GCC visibility push(default)
void* operator new(std::size_t size) { return allocated_or_throw(size, 0, __builtin_return_address(0)); }
void* operator new[](std::size_t size) { return allocated_or_throw(size, 0, __builtin_return_address(0)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocated(size, 0, __builtin_return_address(0));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocated(size, 0, __builtin_return_address(0));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocated_or_throw(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocated_or_throw(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocated(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocated(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* block) noexcept { __libc_free(block); }
void operator delete[](void* block) noexcept { __libc_free(block); }
void operator delete(void* block, std::size_t) noexcept { __libc_free(block); }
void operator delete[](void* block, std::size_t) noexcept { __libc_free(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { __libc_free(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { __libc_free(block); }
void operator delete(void* block, std::align_val_t) noexcept { __libc_free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { __libc_free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { __libc_free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { __libc_free(block); }
#pragma GCC visibility pop

// SPDX-License-Identifier: Apache-2.0
// Loads, stores and copies of 4, 8 or 16 bytes by one instruction.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/portable.hpp"

namespace manymod::cuda {

/// kWords words, aligned to 4 kWords bytes.
template <unsigned kWords>
struct alignas(4 * kWords) Chunk {
  static_assert(kWords == 1 || kWords == 2 || kWords == 4);
  std::uint32_t word[kWords];
};

#if defined(__CUDA_ARCH__)
template <unsigned kWords>
using ChunkWords = std::conditional_t<kWords == 1, unsigned, std::conditional_t<kWords == 2, uint2, uint4>>;
#endif

/// Loads a chunk. On input: `words` is aligned to 4 kWords bytes.
template <unsigned kWords>
MM_DEVICE Chunk<kWords> load_chunk(const std::uint32_t* words) {
  Chunk<kWords> chunk;
#if defined(__CUDA_ARCH__)
  // A single instruction: memcpy would become kWords of them.
  *reinterpret_cast<ChunkWords<kWords>*>(chunk.word) = *reinterpret_cast<const ChunkWords<kWords>*>(words);
#else
  std::memcpy(chunk.word, words, sizeof chunk);
#endif
  return chunk;
}

/// Stores a chunk. On input: `words` is aligned to 4 kWords bytes.
template <unsigned kWords>
MM_DEVICE void store_chunk(std::uint32_t* words, const Chunk<kWords>& chunk) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<ChunkWords<kWords>*>(words) = *reinterpret_cast<const ChunkWords<kWords>*>(chunk.word);
#else
  std::memcpy(words, chunk.word, sizeof chunk);
#endif
}

#if defined(__CUDA_ARCH__)
#define MM_GLOBAL_LOAD(name, caching)                                                                 \
  MM_DEVICE Chunk<4> name(const std::uint32_t* words) {                                               \
    Chunk<4> chunk;                                                                                   \
    asm volatile("ld.global." caching ".v4.u32 {%0, %1, %2, %3}, [%4];"                               \
                 : "=r"(chunk.word[0]), "=r"(chunk.word[1]), "=r"(chunk.word[2]), "=r"(chunk.word[3]) \
                 : "l"(words)                                                                         \
                 : "memory");                                                                         \
    return chunk;                                                                                     \
  }
#else
#define MM_GLOBAL_LOAD(name, caching) \
  MM_DEVICE Chunk<4> name(const std::uint32_t* words) { return load_chunk<4>(words); }
#endif
/// Loads four words from global memory that are not read again soon: the L1 cache does not keep them.
MM_GLOBAL_LOAD(load_once, "L1::no_allocate")
/// Loads four words from global memory and brings the 256 bytes around them into the L2 cache, for loads that
/// follow.
MM_GLOBAL_LOAD(load_block, "L2::256B")
#undef MM_GLOBAL_LOAD

/// Starts an asynchronous copy of two or four words from global to shared memory; both addresses are aligned
/// to the size. This thread may read them after wait_for_copies(). Copies of four words bypass the L1 cache;
/// the hardware has no such copy of two.
template <unsigned kWords>
MM_DEVICE void start_copy(std::uint32_t* shared, const std::uint32_t* words) {
#if defined(__CUDA_ARCH__)
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  if constexpr (kWords == 4) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(words) : "memory");
  } else {
    static_assert(kWords == 2);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(words) : "memory");
  }
#else
  store_chunk<kWords>(shared, load_chunk<kWords>(words));
#endif
}

/// Waits for all copies that this thread has started.
MM_DEVICE void wait_for_copies() {
#if defined(__CUDA_ARCH__)
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Stores a chunk to global memory if `condition`, without a branch. A single instruction even where the
/// compiler does not know the alignment.
MM_DEVICE void store_global_if(bool condition, std::uint32_t* words, const Chunk<4>& chunk) {
#if defined(__CUDA_ARCH__)
  asm volatile(
      "{.reg .pred store;\n"
      "setp.ne.s32 store, %0, 0;\n"
      "@store st.global.v4.u32 [%1], {%2, %3, %4, %5};}" ::"r"(static_cast<int>(condition)),
      "l"(words), "r"(chunk.word[0]), "r"(chunk.word[1]), "r"(chunk.word[2]), "r"(chunk.word[3])
      : "memory");
#else
  if (condition) store_chunk<4>(words, chunk);
#endif
}

}  // namespace manymod::cuda

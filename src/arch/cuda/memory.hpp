// SPDX-License-Identifier: Apache-2.0
// Loads and stores of 4, 8 or 16 bytes at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "arch/cuda/portable.hpp"

namespace manymod::cuda {

template <unsigned kWords>
struct alignas(4 * kWords) Chunk {
  static_assert(kWords == 1 || kWords == 2 || kWords == 4);
  std::uint32_t word[kWords];
};

#if defined(__CUDA_ARCH__)
template <unsigned kWords>
using ChunkWords = std::conditional_t<kWords == 1, unsigned, std::conditional_t<kWords == 2, uint2, uint4>>;
#endif

/// In: `words` aligned to 4 kWords bytes.
template <unsigned kWords>
MM_DEVICE Chunk<kWords> load_chunk(const std::uint32_t* words) {
  Chunk<kWords> chunk;
#if defined(__CUDA_ARCH__)
  // One instruction: memcpy would be kWords of them.
  *reinterpret_cast<ChunkWords<kWords>*>(chunk.word) = *reinterpret_cast<const ChunkWords<kWords>*>(words);
#else
  std::memcpy(chunk.word, words, sizeof chunk);
#endif
  return chunk;
}

template <unsigned kWords>
MM_DEVICE void store_chunk(std::uint32_t* words, const Chunk<kWords>& chunk) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<ChunkWords<kWords>*>(words) = *reinterpret_cast<const ChunkWords<kWords>*>(chunk.word);
#else
  std::memcpy(words, chunk.word, sizeof chunk);
#endif
}

/// Which lines the second-level cache parts with last. Devices of compute capability 9.0 and later do.
class CachePolicy {
 public:
  MM_DEVICE explicit CachePolicy([[maybe_unused]] bool keep) {
#if defined(__CUDA_ARCH__)
    if (keep) {
      asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy_));
    } else {
      asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy_));
    }
#endif
  }
  MM_DEVICE Chunk<4> load_chunk(const std::uint32_t* words) const {
#if defined(__CUDA_ARCH__)
    Chunk<4> chunk;
    asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(chunk.word[0]), "=r"(chunk.word[1]), "=r"(chunk.word[2]), "=r"(chunk.word[3])
                 : "l"(words), "l"(policy_)
                 : "memory");
    return chunk;
#else
    return cuda::load_chunk<4>(words);
#endif
  }

 private:
  [[maybe_unused]] std::uint64_t policy_ = 0;
};

}  // namespace manymod::cuda

// SPDX-License-Identifier: Apache-2.0
// A technique with constants, for tests of the engine. Its kernels compute like those of row32, check all
// arguments of a launch, and refuse multiples of 7.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gpu/cuda/backend.hpp"
#include "gpu/cuda/requirements.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/program/interpreter.cuda.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"
#include "support/fake_cuda/kernels.hpp"
#include "support/lockstep.hpp"
#include "support/naive.hpp"

namespace manymod::testing::with_constants {

constexpr Limb kRefusedFactor = 7;
constexpr unsigned kOwnSlots = 2;
constexpr unsigned kBlockBytes = 1000;
constexpr std::uint32_t kJunkWord = 0xdeadbeefu;

/// Group of one thread; kPerThread words.
template <unsigned kPerThread>
using Multiplier = row32::Multiplier<test::LockstepGroup<1>, kPerThread>;

inline bool refuses(std::span<const Limb> modulus) {
  const naive::Limbs n(modulus.begin(), modulus.end());
  return naive::reduce(n, {kRefusedFactor}) == naive::Limbs{0};
}

/// The shape's name, and the modulus if there is one, at an offset larger than the uploads of small calls.
inline std::vector<std::byte> constants_text(const gpu::Shape& shape, std::span<const Limb> modulus) {
  constexpr std::size_t kModulusAt = std::size_t{64} << 10;
  std::vector<std::byte> text(kModulusAt + shape.words * sizeof(std::uint32_t));
  std::memcpy(text.data(), shape.kernel, std::strlen(shape.kernel));
  const std::span<const std::byte> bytes = std::as_bytes(modulus);
  std::copy(bytes.begin(), bytes.end(), text.data() + kModulusAt);
  return text;
}

inline std::vector<std::byte> of_shape(const gpu::Shape& shape) { return constants_text(shape, {}); }

/// How often constants of a modulus were computed.
inline std::atomic<int> modulus_constants_built{0};

inline std::vector<std::byte> of_modulus(const gpu::Shape& shape, std::span<const Limb> modulus) {
  ++modulus_constants_built;
  if (refuses(modulus)) return {};
  return constants_text(shape, modulus);
}

inline std::vector<std::uint32_t> radix_squared(const gpu::Shape& shape) {
  std::vector<std::uint32_t> words(2 * shape.words + 1);
  words.back() = 1;
  return words;
}

template <unsigned kPerThread>
constexpr gpu::Shape shape(const char* kernel, unsigned kernel_slots) {
  using M = Multiplier<kPerThread>;
  return {.kernel = kernel,
          .per_thread = kPerThread,
          .block = 256,
          .words = M::kWords,
          .lane_words = M::kLaneWords,
          .shared_words = M::kSharedWords,
          .step = 128,
          .block_shared_bytes = kBlockBytes,
          .kernel_slots = kernel_slots};
}

inline constexpr gpu::Shape kShapes[] = {shape<2>("constants_2", kOwnSlots),
                                         shape<6>("constants_6", kOwnSlots)};
inline constexpr gpu::Shape kSharedShapes[] = {shape<2>("constants_2_shared", 0),
                                               shape<6>("constants_6_shared", 0)};

inline const gpu::ConstantsSource kSource{&of_shape, &of_modulus, &radix_squared, kSharedShapes};
inline const gpu::ConstantsSource kSourceForEach{&of_shape, nullptr, &radix_squared};

/// Without kernels for shared moduli.
inline gpu::Technique technique_for_each() {
  return {.folder = "constants",
          .name = "constants_for_each",
          .summary = "for tests",
          .priority = 0,
          .shapes = kShapes,
          .backend = &cuda::backend(),
          .requirements = cuda::cuda_requirements({}),
          .constants = &kSourceForEach,
          .general = &row32::cuda_techniques().front()};
}

inline gpu::Technique technique() {
  return {.folder = "constants",
          .name = "constants",
          .summary = "for tests",
          .priority = 0,
          .shapes = kShapes,
          .backend = &cuda::backend(),
          .requirements = cuda::cuda_requirements({}),
          .constants = &kSource,
          .general = &row32::cuda_techniques().front()};
}

/// Counts what the kernels have been launched with.
struct Seen {
  std::atomic<int> launches{0}, shared_launches{0}, refused{0};
};

/// One thread of a launch: computes its items one after the other, with junk in the kernel's own slots.
template <unsigned kPerThread>
void run_thread(const gpu::ProgramJob& job, const fake_cuda::Thread& thread, unsigned kernel_slots,
                Seen& seen) {
  using M = Multiplier<kPerThread>;
  const std::size_t slot_words = std::size_t{thread.count} * M::kLaneWords;
  for (std::uint32_t item = thread.index; item < job.count; item += thread.count) {
    for (std::size_t word = thread.index; word < kernel_slots * slot_words; word += thread.count) {
      job.table[job.slots * slot_words + word] = kJunkWord;
    }
    if (job.refused != nullptr) {
      EXPECT_EQ(job.refused[item], 0);
      const WordSource n = job.modulus.at(item);
      std::uint64_t rest = 0;
      for (unsigned j = n.count; j-- > 0;) rest = ((rest << 32) + n[j]) % kRefusedFactor;
      if (rest == 0) {
        ++seen.refused;
        job.refused[item] = 1;
        std::fill_n(job.result + std::size_t{item} * job.result_width, job.result_width, kJunkWord);
        continue;
      }
    }
    test::run_lockstep<1>([&](const test::LockstepGroup<1>& group) {
      const gpu::Table table{job.table, thread.count, thread.index};
      gpu::Interpreter<M>(group, thread.memory, job, table, item).run(true);
    });
  }
}

template <unsigned kPerThread>
void add_kernel(const gpu::Shape& shape, bool shared, Seen& seen) {
  fake_cuda::add_kernel(shape.kernel,
                        [shape, shared, &seen](const fake_cuda::Launch& launch, void** parameters) {
                          const auto& job = fake_cuda::argument<gpu::ProgramJob>(parameters);
                          EXPECT_TRUE(launch.block == 128 || launch.block == 256) << launch.block;
                          EXPECT_EQ(launch.shared_bytes, kBlockBytes + 4 * shape.shared_words * launch.block);
                          EXPECT_EQ(job.refused == nullptr, shared);
                          naive::Limbs modulus;
                          if (shared) {
                            modulus.resize(job.modulus.width / 2);
                            std::memcpy(modulus.data(), job.modulus.words, 4 * job.modulus.width);
                          }
                          const std::vector<std::byte> text = constants_text(shape, modulus);
                          EXPECT_EQ(std::memcmp(job.constants, text.data(), text.size()), 0) << shape.kernel;
                          ++(shared ? seen.shared_launches : seen.launches);
                          fake_cuda::for_each_thread(launch, [&](const fake_cuda::Thread& thread) {
                            run_thread<kPerThread>(job, thread, shape.kernel_slots, seen);
                          });
                        });
}

inline void add_kernels(Seen& seen) {
  add_kernel<2>(kShapes[0], false, seen);
  add_kernel<6>(kShapes[1], false, seen);
  add_kernel<2>(kSharedShapes[0], true, seen);
  add_kernel<6>(kSharedShapes[1], true, seen);
}

}  // namespace manymod::testing::with_constants

// SPDX-License-Identifier: Apache-2.0
#include "support/fake_cuda/kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/kernels/facts.cuda.hpp"
#include "gpu/kernels/garner_item.cuda.hpp"
#include "gpu/kernels/residue_item.cuda.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "gpu/program/interpreter.cuda.hpp"
#include "modmul/cox_rower/multiplier.cuda.hpp"
#include "modmul/cox_rower/shapes.cuda.hpp"
#include "modmul/division32/item.cuda.hpp"
#include "modmul/division32/shapes.cuda.hpp"
#include "modmul/division32/term_item.cuda.hpp"
#include "modmul/dpf52/multiplier.cuda.hpp"
#include "modmul/dpf52/shapes.cuda.hpp"
#include "modmul/rns_float/multiplier.cuda.hpp"
#include "modmul/row32/multiplier.cuda.hpp"
#include "modmul/row32/shapes.cuda.hpp"
#include "support/fake_cuda/ecc_kernels.hpp"
#include "support/fake_cuda/rns_kernels.hpp"
#include "support/lockstep.hpp"
#include "support/lockstep_block.hpp"
#include "support/one_thread.hpp"

namespace fake_cuda {
namespace {

using namespace manymod;  // NOLINT(google-build-using-namespace)

using test::OneThread;

constexpr std::uint32_t kWarp = 32;

/// The work of one thread in run_program of gpu/program/kernel.cuh.
template <class Multiplier, class Group>
void run_thread(const Group& group, const gpu::ProgramJob& job, const Thread& thread) {
  const std::uint32_t groups = thread.count / Group::kSize;
  const gpu::Table table{job.table, thread.count, thread.index};
  for (std::uint32_t first = 0; first < job.count; first += groups) {
    const std::uint32_t item = first + thread.index / Group::kSize;
    const std::uint32_t own = item < job.count ? item : job.count - 1;
    gpu::Interpreter<Multiplier>(group, thread.memory, job, table, own).run(item < job.count);
  }
}

template <template <class, unsigned> class Multiplier, unsigned kThreads, unsigned kPerThread>
void run_program(const Launch& launch, void** parameters) {
  const auto& job = argument<gpu::ProgramJob>(parameters);
  if constexpr (kThreads == 1) {
    for_each_thread(launch, [&](const Thread& thread) {
      run_thread<Multiplier<OneThread, kPerThread>>(OneThread(), job, thread);
    });
  } else {
    using Group = test::LockstepGroup<kThreads>;
    SharedMemory shared(launch);
    const std::uint32_t groups = std::min(launch.block, kWarp) / kThreads;
    for (std::uint32_t first = 0; first < launch.grid * launch.block; first += groups * kThreads) {
      if (first % launch.block == 0) shared.forget();
      test::run_lockstep_warp<kThreads>(groups, [&](const Group& group, unsigned of_warp) {
        const std::uint32_t index = first + of_warp * kThreads + group.lane();
        const Thread thread{index, launch.grid * launch.block, shared.of(index % launch.block)};
        run_thread<Multiplier<Group, kPerThread>>(group, job, thread);
      });
    }
  }
}

/// run_program_by_blocks of gpu/program/kernel.cuh.
template <unsigned kThreads, unsigned kBits>
void run_blocks(const Launch& launch, void** parameters) {
  using Group = test::LockstepBlock<kThreads>;
  using Multiplier = cox_rower::Multiplier<Group, kBits>;
  const auto& job = argument<gpu::ProgramJob>(parameters);
  if (launch.block != kThreads ||
      launch.shared_bytes < kThreads * Multiplier::kSharedWords * sizeof(std::uint32_t)) {
    throw std::logic_error("a block of " + std::to_string(launch.block) + " threads");
  }
  constexpr cuda::Chunk<4> kJunk{{0xa5a5a5a5u, 0xa5a5a5a5u, 0xa5a5a5a5u, 0xa5a5a5a5u}};
  for (std::uint32_t block = 0; block < launch.grid; ++block) {
    std::vector<cuda::Chunk<4>> shared(launch.shared_bytes / sizeof(cuda::Chunk<4>), kJunk);
    test::run_lockstep_block<kThreads>([&](const Group& group) {
      const gpu::Table table{job.table, launch.grid * kThreads, block * kThreads + group.lane()};
      for (std::uint32_t item = block; item < job.count; item += launch.grid) {
        gpu::Interpreter<Multiplier>(group, LaneMemory{shared.front().word, 1}, job, table, item).run(true);
      }
    });
  }
}

/// run_group of modmul/division32/kernel.cuh for each warp of a launch, without the groups beyond the last
/// result.
template <unsigned kThreads, unsigned kPerThread, class Compute>
void run_groups(const Launch& launch, const division32::Job& job, const Compute& compute) {
  const unsigned groups_of_block = launch.block / kThreads;
  std::vector<std::uint32_t> words(launch.shared_bytes / sizeof(std::uint32_t));
  const auto memory_of = [&](std::uint32_t result) {
    const std::size_t first =
        std::size_t{result % groups_of_block} * division32::memory_words(kThreads * kPerThread);
    return LaneMemory{words.data() + first, 1};
  };
  constexpr std::uint32_t kGroups = kWarp / kThreads;
  for (std::uint32_t first = 0; first < job.count; first += kGroups) {
    if (first % groups_of_block == 0) std::ranges::fill(words, 0xa5a5a5a5u);
    const std::uint32_t groups = std::min(kGroups, job.count - first);
    if constexpr (kThreads == 1) {
      for (std::uint32_t i = 0; i < groups; ++i) compute(OneThread(), memory_of(first + i), first + i);
    } else {
      test::run_lockstep_warp<kThreads>(groups, [&](const auto& group, std::uint32_t i) {
        compute(group, memory_of(first + i), first + i);
      });
    }
  }
}

/// run_item of modmul/division32/kernel.cuh.
template <unsigned kThreads, unsigned kPerThread, bool kOwn, bool kProduct>
void run_items(const Launch& launch, void** parameters) {
  const auto& job = argument<division32::Job>(parameters);
  run_groups<kThreads, kPerThread>(
      launch, job, [&](const auto& group, LaneMemory memory, std::uint32_t item) {
        using Group = std::remove_cvref_t<decltype(group)>;
        const division32::Item<Group, kPerThread, kOwn> computed(group, memory, job, item);
        if constexpr (kProduct) {
          computed.multiply(true);
        } else {
          computed.add_or_subtract(true);
        }
      });
}

/// run_terms of modmul/division32/kernel.cuh.
template <unsigned kThreads, unsigned kPerThread, bool kOwn, bool kProduct>
void run_terms(const Launch& launch, void** parameters) {
  const auto& job = argument<division32::Job>(parameters);
  run_groups<kThreads, kPerThread>(
      launch, job, [&](const auto& group, LaneMemory memory, std::uint32_t result) {
        using Group = std::remove_cvref_t<decltype(group)>;
        const division32::TermItem<Group, kPerThread, kOwn> computed(group, memory, job, result);
        if constexpr (kProduct) {
          computed.multiply(true);
        } else {
          computed.add(true);
        }
      });
}

}  // namespace

void install_kernels() {
  install_ecc_kernels();
  install_rns_kernels();
  add_item_kernel("mm_residue", &gpu::compute_residue);
  add_item_kernel("mm_garner_difference", &gpu::compute_garner_difference);
  add_item_kernel("mm_garner_sum", &gpu::compute_garner_sum);
  add_item_kernel("mm_modulus_facts", &gpu::find_modulus_fact);
  add_thread_kernel<gpu::ExponentRangeJob>("mm_exponent_range",
                                           [](const gpu::ExponentRangeJob& job, const Thread& thread) {
                                             gpu::find_exponent_range(job, thread.index, thread.count);
                                           });
  add_item_kernel("mm_exponent_bits", &gpu::find_exponent_bits);
  add_item_kernel("mm_copy_rows", &gpu::copy_limb);
#define SHAPE(threads, per_thread, block, blocks) \
  add_kernel("row32_" #threads "x" #per_thread, &run_program<row32::Multiplier, threads, per_thread>);
  MM_ROW32_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(threads, per_thread, block, blocks) \
  add_kernel("dpf52_" #threads "x" #per_thread, &run_program<dpf52::Multiplier, threads, per_thread>);
  MM_DPF52_SHAPES(SHAPE)
#undef SHAPE
#define SHAPE(threads, bits, blocks) add_kernel("cox_rower_" #bits, &run_blocks<threads, bits>);
  MM_COX_ROWER_SHAPES(SHAPE)
#undef SHAPE
#define KERNELS(name, run, threads, per_thread, product)                                                  \
  add_kernel("division32_" name "_" #threads "x" #per_thread, &run<threads, per_thread, false, product>); \
  add_kernel("division32_" name "_own_" #threads "x" #per_thread, &run<threads, per_thread, true, product>);
#define SHAPE(threads, per_thread, blocks, own_blocks) \
  KERNELS("product", run_items, threads, per_thread, true)
  MM_DIVISION32_PRODUCTS(SHAPE)
#undef SHAPE
#define SHAPE(threads, per_thread, blocks, own_blocks)  \
  KERNELS("sum", run_items, threads, per_thread, false) \
  KERNELS("term_sum", run_terms, threads, per_thread, false)
  MM_DIVISION32_SUMS(SHAPE)
#undef SHAPE
#define SHAPE(threads, per_thread, blocks, own_blocks) \
  KERNELS("term_product", run_terms, threads, per_thread, true)
  MM_DIVISION32_TERM_PRODUCTS(SHAPE)
#undef SHAPE
#undef KERNELS
  // For moduli of up to 512 bits.
  add_kernel("rns_float_half_8x6", &run_program<rns_float::half::Multiplier, 8, 6>);
  add_kernel("rns_float_full_4x6", &run_program<rns_float::full::Multiplier, 4, 6>);
  add_kernel("rns_float_smooth_8x3", &run_program<rns_float::smooth::Multiplier, 8, 3>);
  add_kernel("rns_float_pairs_8x3", &run_program<rns_float::pairs::Multiplier, 8, 3>);
}

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
// The kernels of modmul/rns: what run_program of modmul/rns/kernel.cuh does, a warp at a time.
#include "support/fake_cuda/rns_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "modmul/device/program.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/interpreter.cuda.hpp"
#include "modmul/rns/shapes.cuda.hpp"
#include "support/fake_cuda/control.hpp"
#include "support/lockstep_team.hpp"

namespace fake_cuda {
namespace {

using namespace manymod;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t kWarp = 32, kWarpItems = 16, kWarpgroup = 128, kGroupItems = 64;

/// A block's dynamic shared memory, aligned to 16 bytes.
class BlockMemory {
 public:
  explicit BlockMemory(std::size_t bytes) : bytes_(bytes), fours_(bytes / sizeof(Four)) {}

  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t size) {
    if (offset + size > bytes_) throw std::out_of_range("shared memory that the launch has not asked for");
    return reinterpret_cast<std::byte*>(fours_.data()) + offset;
  }
  void forget() { std::fill(fours_.begin(), fours_.end(), kJunk); }

 private:
  using Four = cuda::Chunk<4>;
  static constexpr Four kJunk{{0xa5a5a5a5u, 0xa5a5a5a5u, 0xa5a5a5a5u, 0xa5a5a5a5u}};
  std::size_t bytes_;
  std::vector<Four> fours_;
};

template <rns::Form kForm>
class Block {
  using Run = rns::Interpreter<test::LockstepTeam, kForm>;
  using Memory = rns::SharedMemory<kForm>;

 public:
  Block(const device::ProgramJob& job, const Launch& launch, BlockMemory& memory, std::uint32_t first_thread)
      : job_(job), launch_(launch), memory_(memory), first_thread_(first_thread) {
    memory_.forget();
    std::memcpy(memory_.at(0, Memory::kConstantBytes), job.constants, Memory::kConstantBytes);
  }

  void run() const {
    const std::uint32_t groups = launch_.grid * launch_.block / kWarpgroup;
    for (std::uint32_t warp = 0; warp < launch_.block / kWarp; ++warp) {
      const std::uint32_t thread = first_thread_ + warp * kWarp;
      const std::uint32_t own = thread % kWarpgroup / kWarp * kWarpItems;
      for (std::uint32_t unit = thread / kWarpgroup; unit * kGroupItems < job_.count; unit += groups) {
        // A warp without an item would repeat the last one, to no effect.
        if (unit * kGroupItems + own < job_.count) run_items(thread, unit * kGroupItems + own);
      }
    }
  }

 private:
  const device::ProgramJob& job_;
  const Launch& launch_;
  BlockMemory& memory_;
  std::uint32_t first_thread_;

  void run_items(std::uint32_t first_of_warp, std::uint32_t first_item) const {
    test::run_lockstep<kWarp>([&](const test::LockstepGroup<kWarp>& warp) {
      const test::LockstepTeam team(warp);
      const typename Run::Constants bases(team, constants());
      const std::uint32_t thread = first_of_warp + team.lane();
      const rns::RecordPair modulus{{record(thread, 0), record(thread, 1)}};
      const rns::Items items{first_item + team.lane() / 4, job_.count};
      Run(team, bases, job_, modulus, thread, launch_.grid * launch_.block, items).run();
    });
  }

  // Matrices that stream are read where they come from.
  [[nodiscard]] const std::byte* constants() const {
    if constexpr (Memory::kStreamed) return static_cast<const std::byte*>(job_.constants);
    return memory_.at(0, Memory::kRecordsAt);
  }

  [[nodiscard]] rns::Record record(std::uint32_t thread, unsigned half) const {
    if constexpr (kForm.records_shared) {
      std::byte* const words = memory_.at(Memory::kRecordsAt, launch_.block * Memory::kRecordBytes);
      return rns::Records{reinterpret_cast<std::uint32_t*>(words), launch_.block, thread - first_thread_,
                          Run::kRecordFours}
          .at(0, half);
    } else {
      return rns::Records{job_.table, launch_.grid * launch_.block, thread, Run::kRecordFours}.at(
          job_.slots + kForm.modulus_slot(), half);
    }
  }
};

template <rns::Form kForm, unsigned kBlock>
void run_program(const Launch& launch, void** parameters) {
  using Memory = rns::SharedMemory<kForm>;
  const auto& job = *static_cast<const device::ProgramJob*>(parameters[0]);
  if (launch.block % (Memory::kStreamed ? kBlock : kWarpgroup) != 0 || launch.block > kBlock) {
    throw std::logic_error("blocks of rns: " + std::to_string(launch.block) + " threads");
  }
  BlockMemory memory(launch.shared_bytes);
  for (std::uint32_t block = 0; block < launch.grid; ++block) {
    Block<kForm>(job, launch, memory, block * launch.block).run();
  }
}

template <rns::Form kForm, unsigned kBlock>
void install(const std::string& name) {
  add_kernel(name.c_str(), &run_program<kForm, kBlock>);
  add_kernel((name + "_shared").c_str(), &run_program<kForm.with_one_modulus(), kBlock>);
}

}  // namespace

void install_rns_kernels() {
#define SHAPE(bits, block, at_once, stages, records) \
  install<rns::shape_form(bits, at_once, stages, records), block>("rns_" #bits);
  MM_RNS_SHAPES(SHAPE)
#undef SHAPE
}

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
// Runs programs by the tensor-core kernels of residue number systems on the host, a warp at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "modmul/device/programs.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/interpreter.cuda.hpp"
#include "support/device_values.hpp"
#include "support/lockstep_team.hpp"

namespace manymod::test {

/// Words aligned to 16 bytes, with guards around them.
class RnsMemory {
 public:
  explicit RnsMemory(std::size_t fours) : chunks_(fours + 2) {
    std::fill(chunks_.begin(), chunks_.end(), kGuard);
  }
  [[nodiscard]] std::uint32_t* words() { return chunks_[1].word; }
  [[nodiscard]] bool guards_intact() const { return is_guard(chunks_.front()) && is_guard(chunks_.back()); }

 private:
  using Chunk = cuda::Chunk<4>;
  static constexpr Chunk kGuard{{0xfeedf00d, 0xfeedf00d, 0xfeedf00d, 0xfeedf00d}};
  std::vector<Chunk> chunks_;

  static bool is_guard(const Chunk& chunk) { return std::equal(chunk.word, chunk.word + 4, kGuard.word); }
};

/// One warp's 16 items at a time. `job` lacks nothing but the table.
template <rns::Form kForm>
void run_rns_warps(device::ProgramJob job) {
  using Run = rns::Interpreter<LockstepTeam, kForm>;
  constexpr std::uint32_t kThreads = 32, kWarpItems = 16;
  RnsMemory table(std::size_t{2} * (job.slots + kForm.own_slots()) * Run::kRecordFours * kThreads);
  job.table = table.words();
  for (std::uint32_t begin = 0; begin < job.count; begin += kWarpItems) {
    run_lockstep<kThreads>([&](const LockstepGroup<kThreads>& warp) {
      const LockstepTeam team(warp);
      const typename Run::Constants bases(team, static_cast<const std::byte*>(job.constants));
      const rns::Records slots{job.table, kThreads, team.lane(), Run::kRecordFours};
      const std::uint32_t own = job.slots + kForm.modulus_slot();
      const rns::RecordPair modulus{{slots.at(own, 0), slots.at(own, 1)}};
      const rns::Items items{begin + team.lane() / 4, job.count};
      Run(team, bases, job, modulus, team.lane(), kThreads, items).run();
    });
  }
  if (!table.guards_intact()) throw LockstepError("a write outside the table");
}

}  // namespace manymod::test

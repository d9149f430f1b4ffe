// SPDX-License-Identifier: Apache-2.0
// Runs programs by the tensor-core kernels of residue number systems on the host, one warp at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/program/programs.hpp"
#include "modmul/rns/constants.hpp"
#include "modmul/rns/interpreter.cuda.hpp"
#include "support/device_values.hpp"
#include "support/lockstep_team.hpp"

namespace manymod::test {

/// The words of several warps, `chunks` chunks of 4 words each, aligned to 16 bytes and surrounded by guards.
class RnsMemory {
 public:
  RnsMemory(std::size_t warps, std::size_t chunks)
      : chunks_per_warp_(chunks), chunks_(warps * chunks + 2, kGuard) {}
  [[nodiscard]] std::uint32_t* words() { return chunks_[1].word; }

  /// Calls change(), which runs a warp. @throws LockstepError if words of other warps change
  template <class Change>
  void expect_changes_of(std::size_t warp, Change change) {
    const std::vector<Chunk> before = chunks_;
    change();
    const auto begin = static_cast<std::ptrdiff_t>(1 + warp * chunks_per_warp_), end = begin + width();
    const bool same = std::equal(chunks_.begin(), chunks_.begin() + begin, before.begin(), is_same) &&
                      std::equal(chunks_.begin() + end, chunks_.end(), before.begin() + end, is_same);
    if (!same) throw LockstepError("a write to words of another warp");
  }

 private:
  using Chunk = cuda::Chunk<4>;
  static constexpr Chunk kGuard{{0xfeedf00d, 0xfeedf00d, 0xfeedf00d, 0xfeedf00d}};
  std::size_t chunks_per_warp_;
  std::vector<Chunk> chunks_;

  [[nodiscard]] std::ptrdiff_t width() const { return static_cast<std::ptrdiff_t>(chunks_per_warp_); }
  static bool is_same(const Chunk& a, const Chunk& b) { return std::equal(a.word, a.word + 4, b.word); }
};

/// The constants in the order in which kernels of a form read them.
template <rns::Form kForm>
std::vector<std::byte> in_stream_order(unsigned bits, std::vector<std::byte> constants) {
  if (kForm.ring_stages > 0) rns::order_by_tiles(bits, kForm.tiles(), constants);
  return constants;
}

/// The team of a form, for one warp.
template <rns::Form kForm>
auto rns_team(const LockstepGroup<32>& warp, [[maybe_unused]] const std::byte* matrices) {
  if constexpr (kForm.ring_stages > 0) {
    return LockstepStream<rns::ExtensionStream<kForm>>(warp, matrices);
  } else {
    return LockstepTeam(warp);
  }
}

/// Runs a job's items, 16 for each warp. The caller has set everything in `job` but the table. @return the
/// table. `group`: the group number of the first warp, which staggers selections
template <rns::Form kForm>
RnsMemory run_rns_warps(gpu::ProgramJob job, std::uint32_t group = 1) {
  constexpr std::uint32_t kThreads = 32, kWarpItems = 16;
  const std::uint32_t warps = (job.count + kWarpItems - 1) / kWarpItems;
  using Warp =
      std::remove_const_t<decltype(rns_team<kForm>(std::declval<LockstepGroup<kThreads>>(), nullptr))>;
  using Run = rns::Interpreter<Warp, kForm>;
  const std::uint32_t slots = Run::slots(job);
  // Chunks of one word of all a warp's threads.
  constexpr std::size_t kChunksPerWord = kThreads / rns::Record::kChunkWords;
  RnsMemory table(warps, 2 * slots * kForm.element_record().words() * kChunksPerWord);
  RnsMemory shared(warps, kForm.shared_words() * kChunksPerWord);
  job.table = table.words();
  const gpu::Piece whole{0, 0, job.step_count};
  const auto* const constants = static_cast<const std::byte*>(job.constants);
  const auto run_warp = [&](std::uint32_t number) {
    run_lockstep<kThreads>([&](const LockstepGroup<kThreads>& warp) {
      const auto team = rns_team<kForm>(warp, constants + kForm.sizes().b_to_a());
      const typename Run::Constants bases(team, constants);
      const rns::ItemPair items{number * kWarpItems + team.lane() / 4, job.count};
      Run(team, bases, job, number, shared.words(), number, items).run(group + 3 * number, whole);
      if constexpr (kForm.ring_stages > 0) team.drain();
    });
  };
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    table.expect_changes_of(warp, [&] { shared.expect_changes_of(warp, [&] { run_warp(warp); }); });
  }
  return table;
}

}  // namespace manymod::test

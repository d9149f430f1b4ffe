// SPDX-License-Identifier: Apache-2.0
// The kernels of modmul/rns: the work of run_program of modmul/rns/kernel.cuh, a warp at a time.
#include "support/fake_cuda/rns_kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu/program/program.hpp"
#include "modmul/rns/form.hpp"
#include "modmul/rns/interpreter.cuda.hpp"
#include "modmul/rns/shapes.cuda.hpp"
#include "support/fake_cuda/control.hpp"
#include "support/rns_run.hpp"

namespace fake_cuda {
namespace {

using namespace manymod;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t kWarp = 32, kWarpItems = 16, kWarpgroup = 128;

/// A block's dynamic shared memory, aligned to 16 bytes.
class BlockMemory {
 public:
  explicit BlockMemory(std::size_t bytes) : bytes_(bytes), fours_(bytes / sizeof(Four)) {}

  [[nodiscard]] std::byte* at(std::size_t offset, std::size_t size) {
    if (offset + size > bytes_) throw std::out_of_range("shared memory beyond what the launch requested");
    return reinterpret_cast<std::byte*>(fours_.data()) + offset;
  }
  void forget() { std::fill(fours_.begin(), fours_.end(), kJunk); }

 private:
  using Four = cuda::Chunk<4>;
  static constexpr Four kJunk{{0xa5a5a5a5u, 0xa5a5a5a5u, 0xa5a5a5a5u, 0xa5a5a5a5u}};
  std::size_t bytes_;
  std::vector<Four> fours_;
};

/// kThreads: the number of neighbouring threads that work together.
template <rns::Form kForm, unsigned kThreads>
class Block {
  using Memory = rns::SharedMemory<kForm>;

 public:
  Block(const gpu::ProgramJob& job, const Launch& launch, BlockMemory& memory, const gpu::Piece& piece,
        std::uint32_t block_of_items)
      : job_(job),
        launch_(launch),
        memory_(memory),
        piece_(piece),
        first_thread_(block_of_items * launch.block) {
    memory_.forget();
    std::memcpy(memory_.at(0, Memory::kConstantBytes), job.constants, Memory::kConstantBytes);
  }

  void run() const {
    const std::uint32_t warps = launch_.grid * launch_.block / kWarp;
    for (std::uint32_t own = 0; own < launch_.block / kWarp; ++own) {
      const std::uint32_t warp = first_thread_ / kWarp + own;
      // A warp without items would only repeat the last item, without any effect.
      for (std::uint32_t unit = warp; unit * kWarpItems < job_.count; unit += warps) run_items(warp, unit);
    }
  }

 private:
  const gpu::ProgramJob& job_;
  const Launch& launch_;
  BlockMemory& memory_;
  const gpu::Piece& piece_;
  std::uint32_t first_thread_;

  void run_items(std::uint32_t number, std::uint32_t unit) const {
    test::run_lockstep<kWarp>([&](const test::LockstepGroup<kWarp>& warp) {
      const auto team =
          test::rns_team<kForm>(warp, static_cast<const std::byte*>(job_.constants) + kForm.sizes().b_to_a());
      using Run = rns::Interpreter<std::remove_const_t<decltype(team)>, kForm>;
      const typename Run::Constants bases(team, memory_.at(0, Memory::kRecordsAt));
      auto* const records = reinterpret_cast<std::uint32_t*>(
          memory_.at(Memory::kRecordsAt, launch_.block * Memory::kRecordBytes));
      const rns::ItemPair items{unit * kWarpItems + team.lane() / 4, job_.count};
      Run(team, bases, job_, number, records, number - first_thread_ / kWarp, items)
          .run(number * kWarp / kThreads, piece_);
      if constexpr (Memory::kStreamed) team.drain();
    });
  }
};

std::uint32_t& stored_flag(const gpu::ProgramJob& job, const Launch& launch, const gpu::Piece& piece) {
  return job.progress[1 + launch.grid + piece.block];
}

/// As begin_piece of gpu/program/pieces.cuh, for block number `block`. But here blocks run one after the
/// other, so that a piece that would wait would wait forever.
std::uint32_t begin_piece(const gpu::ProgramJob& job, const Launch& launch, std::uint32_t block) {
  if (!job.turns) return 0;
  const std::uint32_t number = job.progress[0]++;
  std::uint32_t& taken = job.progress[1 + block];
  if (number != block || taken != 0) throw std::logic_error("progress is not 0 at first");
  taken = number;
  const gpu::Piece& piece = job.pieces[number];
  if (piece.begin > 0 && stored_flag(job, launch, piece) == 0) {
    throw std::logic_error("a piece of rns comes before that of its earlier steps");
  }
  return number;
}

void end_piece(const gpu::ProgramJob& job, const Launch& launch, const gpu::Piece& piece) {
  if (job.turns && piece.end < job.step_count) stored_flag(job, launch, piece) = 1;
}

/// Neighbours that go together.
template <rns::Form kForm, unsigned kBlock>
constexpr std::uint32_t together() {
  if constexpr (rns::SharedMemory<kForm>::kStreamed) return kBlock;
  return kForm.compact ? kWarp : kWarpgroup;
}

template <rns::Form kForm, unsigned kBlock>
void run_program(const Launch& launch, void** parameters) {
  constexpr std::uint32_t kTogether = together<kForm, kBlock>();
  const auto& job = *static_cast<const gpu::ProgramJob*>(parameters[0]);
  if (launch.block % kTogether != 0 || launch.block > kBlock) {
    throw std::logic_error("blocks of rns: " + std::to_string(launch.block) + " threads");
  }
  BlockMemory memory(launch.shared_bytes);
  for (std::uint32_t block = 0; block < launch.grid; ++block) {
    const gpu::Piece& piece = job.pieces[begin_piece(job, launch, block)];
    const std::uint32_t of_items = job.turns ? piece.block : block;
    Block<kForm, kTogether>(job, launch, memory, piece, of_items).run();
    end_piece(job, launch, piece);
  }
}

template <rns::Form kForm, unsigned kBlock>
void install_both(const std::string& name) {
  add_kernel(name.c_str(), &run_program<kForm, kBlock>);
  add_kernel((name + "_shared").c_str(), &run_program<rns::with_one_modulus(kForm), kBlock>);
}

}  // namespace

void install_rns_kernels() {
#define SHAPE(bits, block, tile_quads, one_in_flight, stages, records) \
  install_both<rns::shape_form(bits, tile_quads, one_in_flight, stages, records), block>("rns_" #bits);
  MM_RNS_SHAPES(SHAPE)
#undef SHAPE
#define COMPACT(bits, block, tile_quads) \
  install_both<rns::compact_form(bits, tile_quads), block>("rns_" #bits "_compact");
  MM_RNS_COMPACT_SHAPES(COMPACT)
#undef COMPACT
}

}  // namespace fake_cuda

// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/program_runner.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "gpu/engine/chunk_run.hpp"
#include "gpu/engine/engine.hpp"

namespace manymod::gpu {
namespace {

// Short programs: copying operands and results on the host takes longer than the device, and each of the
// threads that do so has a workspace.
constexpr std::size_t kInFlight = 16;

// The narrowest shape that holds the moduli; of equally narrow ones the one with the fewest threads, which is
// fastest for large batches.
const Shape& shape_of(std::span<const Shape> shapes, std::size_t limbs) {
  const auto cost = [&](const Shape& shape) {
    return std::tuple(shape.words < 2 * limbs, shape.words, shape.threads);
  };
  return *std::ranges::min_element(shapes, {}, cost);
}

}  // namespace

ProgramRunner::ProgramRunner(const Technique& technique, Device& device, std::size_t limbs)
    : device_(device),
      limbs_(limbs),
      shape_(shape_of(technique.shapes, limbs)),
      workspaces_(device, kInFlight) {
  if (technique.reference != nullptr) check_kernel(technique, shape_.threads, device.index(), limbs);
}

void ProgramRunner::run(const Program& program, TimingClass timing, const BatchView& modulus,
                        std::span<const BatchView> operands, const BatchResult& result) const {
  std::vector<ItemStatus> statuses(result.count, ItemStatus::not_computed);
  Job job;
  job.op = Operation::mulmod;
  job.timing = timing;
  job.modulus = modulus;
  job.result = result;
  job.status = statuses.data();
  ChunkPlan plan{device_, shape_, job, program, limbs_, {}, 1, {}};
  for (const BatchView& operand : operands) plan.operands.push_back({&operand, Entry::as_it_is});
  workspaces_.lend([&](Workspace& workspace) { run_chunk(plan, Items::run(0, result.count), workspace); });
}

}  // namespace manymod::gpu

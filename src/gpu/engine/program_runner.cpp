// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/program_runner.hpp"

#include <algorithm>
#include <vector>

#include "gpu/engine/chunk_run.hpp"
#include "gpu/engine/engine.hpp"

namespace manymod::gpu {
namespace {

// Few items are computed in the time of one, which more threads make shorter, until this many threads of each
// multiprocessor have work: two warps for each of its schedulers. From there on shapes with fewer threads
// take less time for all items together.
constexpr std::size_t kThreadsOfMultiprocessor = 256;

// The narrowest shapes that hold the moduli, by their number of threads.
std::vector<const Shape*> narrowest_shapes(std::span<const Shape> shapes, std::size_t limbs) {
  std::vector<const Shape*> found;
  for (const Shape& shape : shapes) {
    if (shape.words < 2 * limbs) continue;
    if (!found.empty() && shape.words < found.front()->words) found.clear();
    if (found.empty() || shape.words == found.front()->words) found.push_back(&shape);
  }
  std::ranges::sort(found, {}, &Shape::threads);
  return found;
}

}  // namespace

ProgramRunner::ProgramRunner(const Technique& technique, Device& device, std::size_t limbs)
    : device_(device), limbs_(limbs), shapes_(narrowest_shapes(technique.shapes, limbs)) {
  if (technique.reference == nullptr) return;
  // Each kernel that a driver compiles takes seconds: there is one for all numbers of items.
  shapes_.resize(1);
  check_kernel(technique, shapes_.front()->threads, device.index(), limbs);
}

const Shape& ProgramRunner::shape_for(std::size_t items) const {
  const std::size_t most = device_.properties().multiprocessors * kThreadsOfMultiprocessor;
  const Shape* best = shapes_.front();
  for (const Shape* const shape : shapes_) {
    if (items * shape->threads <= most) best = shape;
  }
  return *best;
}

void ProgramRunner::queue(const Program& program, TimingClass timing, const BatchView& modulus,
                          std::span<const BatchView> operands, const BatchResult& result,
                          Workspace& workspace) const {
  Job job;
  job.op = Operation::mulmod;
  job.timing = timing;
  job.modulus = modulus;
  job.result = result;
  ChunkPlan plan{device_, shape_for(result.count), job, program, limbs_, {}, 1, {}};
  for (const BatchView& operand : operands) plan.operands.push_back({&operand, Entry::as_it_is});
  queue_chunk(plan, Items::run(0, result.count), workspace);
}

}  // namespace manymod::gpu

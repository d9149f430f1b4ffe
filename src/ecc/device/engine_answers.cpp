// SPDX-License-Identifier: Apache-2.0
// The test of kernels before their first use (TestedKernels).
#include <vector>

#include "ecc/device/gpu_engine.hpp"
#include "ecc/device/known_answers.hpp"
#include "gpu/device_error.hpp"
#include "gpu/engine/known_answers.hpp"

namespace manymod::ecc::device {
namespace {

/// The name under which the test of an operation's kernels is recorded: that of its main kernel.
const char* part_of(PointOperation operation) {
  switch (operation) {
    case PointOperation::multiply_base:
      return "base";
    case PointOperation::multiply:
      return "multiply";
    case PointOperation::multiply_two:
      return "two";
    case PointOperation::add:
      return "terms";
    case PointOperation::sum:
      return "points";
    case PointOperation::ladder:
      return "ladder";
    default:
      return "check";
  }
}

/// The name of the kernels that are not used any more if one of this operation fails: those of sums alone,
/// or all.
std::string technique_of(const CurveKernels& kernels, PointOperation operation) {
  return kernels.common_name() + (is_addition(operation) ? "_sums" : "");
}

}  // namespace

std::string GpuEngine::obstacle(std::size_t gpu, PointOperation operation) const {
  if (kind_.tested == nullptr) return {};
  const unsigned device = workers_[gpu]->device().index();
  const std::string common = kernels_.common_name(), technique = technique_of(kernels_, operation);
  std::string of_all = kind_.tested->obstacle(device, common);
  return !of_all.empty() || technique == common ? of_all : kind_.tested->obstacle(device, technique);
}

void GpuEngine::test(std::size_t gpu, PointOperation operation) const {
  // In a forked child a thread of the parent may hold the mutex of the verdicts for ever.
  workers_[gpu]->check_usable();
  gpu::Device& device = workers_[gpu]->device();
  const gpu::Backend& backend = *kind_.tested->backend;
  if (const std::string reason = obstacle(gpu, operation); !reason.empty()) {
    throw gpu::DeviceError(backend.name(), gpu::Fault::wrong_results, static_cast<int>(device.index()),
                           reason);
  }
  const std::string technique = technique_of(kernels_, operation);
  const std::string kernel = kernels_.kernel(part_of(operation)).name;
  try {
    gpu::check_answers({backend, technique.c_str(), kernel.c_str()}, device,
                       [&] { return find_wrong(gpu, operation); });
  } catch (const gpu::DeviceError& error) {
    if (error.fault() == gpu::Fault::no_device_code) {
      backend.disqualify(device.index(), technique.c_str(), error.what());
    }
    throw;
  }
}

std::string GpuEngine::find_wrong_ladder(std::size_t gpu) const {
  const KnownLadders known(curve());
  const ItemRange items = known.items();
  AnsweredPoints found(curve(), items.size()), expected(found);
  host_->ladder(expected.x.data(), known.k(), known.u(), ladder_bits(), items, {});
  std::size_t done = 0;
  workers_[gpu]->run(done, items.end, chunked(false, ladder_work(found.x.data(), known.k(), known.u())), {});
  return found == expected ? "" : "points";
}

std::string GpuEngine::find_wrong_sum(std::size_t gpu) const {
  const KnownOperands known(*host_);
  const ItemRange terms = known.terms();
  AnsweredPoints found(curve(), known.items().size()), expected(found);
  host_->sum(expected.results(), known.factors(), known.term_points(), terms, {});
  const std::vector<std::uint8_t> good(terms.end, 1);
  const SumShape shape = sum_shape(curve().order_bits, terms);
  ChunkSums sums(curve(), shape.buckets);
  std::size_t done = 0;
  workers_[gpu]->run(done, terms.end, sum_work(sums, shape, known.factors(), known.term_points(), good), {});
  sums.add_up(found.results(), *host_, terms);
  return found == expected ? "" : "points";
}

std::string GpuEngine::find_wrong(std::size_t gpu, PointOperation operation) const {
  if (operation == PointOperation::ladder) return find_wrong_ladder(gpu);
  if (operation == PointOperation::sum) return find_wrong_sum(gpu);
  const KnownOperands known(*host_);
  const ItemRange items = known.items();
  const NumberRows u = known.u(), v = known.v();
  const PointRows points = known.points();
  AnsweredPoints found(curve(), items.size()), expected(found);
  ChunkedWork work;
  switch (operation) {
    case PointOperation::multiply_base:
      host_->multiply_base(expected.results(), u, items, TimingClass::public_, {});
      work = chunked(false, base_work(found.results(), u));
      break;
    case PointOperation::multiply:
      host_->multiply(expected.results(), v, points, items, TimingClass::public_, {});
      work = chunked(false, multiply_work(found.results(), v, points));
      break;
    case PointOperation::multiply_two:
      host_->multiply_two(expected.results(), u, v, points, items, {});
      work = chunked(false, two_work(found.results(), u, v, points));
      break;
    case PointOperation::add:
      host_->add(expected.results(), points, known.second(), items);
      work = chunked(false, add_work(found.results(), points, known.second()));
      break;
    default:
      host_->check(expected.flags.data(), known.candidates(), items);
      work = chunked(false, check_work(found.flags.data(), known.candidates()));
  }
  std::size_t done = 0;
  workers_[gpu]->run(done, items.end, work, {});
  return found == expected ? "" : "points";
}

}  // namespace manymod::ecc::device

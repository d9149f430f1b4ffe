// SPDX-License-Identifier: Apache-2.0
#include "shape_run.hpp"

#include "modmul/device/launch.hpp"

namespace manymod::bench {
namespace {

void grow(cuda::DeviceBuffer& buffer, cuda::Device& device, std::size_t bytes) {
  if (buffer.bytes() >= bytes) return;
  buffer = cuda::DeviceBuffer();  // both at a time may be too much
  buffer = cuda::DeviceBuffer(device, bytes);
}

}  // namespace

ShapeRun::ShapeRun(const cuda::Stream& stream, const Instances& instances, const device::Shape& shape,
                   const cuda::DeviceBuffer& results)
    : stream_(stream),
      instances_(instances),
      shape_(shape),
      kernel_(stream.device().kernel(shape.kernel)),
      results_(results),
      start_(stream.device(), instances.modulus().on_device.bytes()),
      claimed_(stream.device(), sizeof(std::uint32_t)) {}

unsigned ShapeRun::occupancy() const {
  const cuda::LaunchShape launch = launch_of(1, shape_.block);
  return kernel_.blocks_per_multiprocessor(launch.block, launch.shared_bytes);
}

std::size_t ShapeRun::groups(unsigned blocks) const {
  return std::size_t{blocks} * stream_.device().properties().multiprocessors * shape_.block / shape_.threads;
}

cuda::LaunchShape ShapeRun::launch_of(unsigned grid, unsigned block) const {
  return {grid, block, device::shared_bytes(shape_, block)};
}

cuda::LaunchShape ShapeRun::full_launch(unsigned blocks) const {
  return launch_of(blocks * stream_.device().properties().multiprocessors, shape_.block);
}

cuda::LaunchShape ShapeRun::launch_for(std::size_t items) const {
  return device::program_launch(stream_.device(), shape_, items);
}

void ShapeRun::load(const device::Program& program, std::size_t threads) {
  program_ = program;
  const std::size_t bytes = program_.steps.size() * sizeof(device::Step);
  grow(steps_, stream_.device(), bytes);
  grow(table_, stream_.device(), threads * program_.slots * shape_.lane_words * sizeof(std::uint32_t));
  cuda::copy_to_device(stream_, steps_.data(), program_.steps.data(), bytes);
  cuda::set_bytes(stream_, results_.data(), 0, results_.bytes());
  stream_.synchronize();
}

void ShapeRun::queue_start(std::size_t items) const {
  const std::uint32_t words = instances_.width();
  device::ResidueJob job;
  job.modulus = instances_.on_device(instances_.modulus());
  job.words = words;
  job.zero_bits = shape_.radix_bits + device::start_power(shape_.radix_bits).bits - 32 * (words - 2);
  job.count = static_cast<std::uint32_t>(items);
  job.result = start_.as<std::uint32_t>();
  job.result_width = words;
  device::launch_residue(stream_, job);
}

void ShapeRun::queue_program(const cuda::LaunchShape& launch, std::size_t items) const {
  device::ProgramJob job;
  job.steps = steps_.as<device::Step>();
  job.step_count = static_cast<std::uint32_t>(program_.steps.size());
  job.count = static_cast<std::uint32_t>(items);
  job.modulus = instances_.on_device(instances_.modulus());
  job.start = {start_.as<std::uint32_t>(), instances_.width(), instances_.width()};
  job.operands[0] = instances_.on_device(instances_.base());
  // A chain has no exponent, a power no second factor.
  const bool power = program_.slots > 0;
  job.operands[1] = instances_.on_device(power ? instances_.exponent() : instances_.factor());
  job.result = results_.as<std::uint32_t>();
  job.result_width = instances_.width();
  job.table = table_.as<std::uint32_t>();
  job.scan = program_.scan;
  if (items * shape_.threads > std::size_t{launch.grid} * launch.block) {
    job.claimed = claimed_.as<std::uint32_t>();
    cuda::set_bytes(stream_, job.claimed, 0, sizeof(std::uint32_t));
  }
  kernel_.launch(stream_, launch, job);
}

std::vector<std::uint32_t> ShapeRun::results(std::size_t items) const {
  std::vector<std::uint32_t> words(items * instances_.width());
  cuda::copy_to_host(stream_, words.data(), results_.data(), words.size() * sizeof(std::uint32_t));
  stream_.synchronize();
  return words;
}

}  // namespace manymod::bench

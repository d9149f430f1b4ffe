// SPDX-License-Identifier: Apache-2.0
#include "shape_run.hpp"

#include <algorithm>
#include <span>

#include "gpu/engine/constants.hpp"
#include "gpu/engine/launch.hpp"

namespace manymod::bench {
namespace {

void grow(gpu::DeviceBuffer& buffer, cuda::Device& device, std::size_t bytes) {
  if (buffer.bytes() >= bytes) return;
  buffer = gpu::DeviceBuffer();  // both at a time may be too much
  buffer = gpu::DeviceBuffer(device, bytes);
}

/// Returns when it is there.
gpu::DeviceBuffer copy_of(const cuda::Stream& stream, const void* data, std::size_t bytes) {
  gpu::DeviceBuffer copy(stream.device(), bytes);
  stream.copy_to_device(copy.data(), data, bytes);
  stream.synchronize();
  return copy;
}

Words power_of_two_words(unsigned bit) {
  Words words(bit / 32 + 1);
  words.back() = std::uint32_t{1} << (bit % 32);
  return words;
}

}  // namespace

ShapeRun::ShapeRun(const cuda::Stream& stream, const Instances& instances, const gpu::Technique& technique,
                   const gpu::Shape& shape, const gpu::DeviceBuffer& results)
    : stream_(stream),
      instances_(instances),
      shape_(shape),
      kernel_(stream.device().kernel(shape.kernel)),
      results_(results),
      start_(stream.device(), instances.modulus().on_device.bytes()),
      claimed_(stream.device(), sizeof(std::uint32_t)),
      radix_squared_(power_of_two_words(2 * shape.radix_bits)) {
  if (technique.constants != nullptr) bring_constants(*technique.constants);
}

void ShapeRun::bring_constants(const gpu::ConstantsSource& source) {
  const std::vector<std::byte> constants = make_constants(source);
  constants_ = copy_of(stream_, constants.data(), constants.size());
  radix_squared_ = source.radix_squared(shape_);
  radix_squared_on_device_ =
      copy_of(stream_, radix_squared_.data(), radix_squared_.size() * sizeof(std::uint32_t));
  refused_ = gpu::DeviceBuffer(stream_.device(), instances_.count());
}

std::vector<std::byte> ShapeRun::make_constants(const gpu::ConstantsSource& source) const {
  if (!instances_.one_modulus()) return source.of_shape(shape_);
  const std::span<const std::uint32_t> words = instances_.row(instances_.modulus(), 0);
  std::vector<Limb> modulus;
  for (std::size_t j = 0; j < words.size(); j += 2) {
    modulus.push_back(words[j] | static_cast<Limb>(words[j + 1]) << 32);
  }
  std::vector<std::byte> constants = source.of_modulus(shape_, modulus);
  if (constants.empty()) {
    throw cuda::DriverError(cuda::Fault::other, static_cast<int>(stream_.device().index()),
                            std::string(shape_.kernel) + " refuses the modulus");
  }
  return constants;
}

unsigned ShapeRun::occupancy() const {
  const gpu::LaunchShape launch = launch_of(1, shape_.block);
  return kernel_.blocks_per_multiprocessor(launch.block, launch.shared_bytes);
}

std::size_t ShapeRun::groups(unsigned blocks) const {
  return std::size_t{blocks} * stream_.device().properties().multiprocessors * shape_.block / shape_.threads;
}

gpu::LaunchShape ShapeRun::launch_of(unsigned grid, unsigned block) const {
  return {grid, block, gpu::shared_bytes(shape_, block)};
}

gpu::LaunchShape ShapeRun::full_launch(unsigned blocks) const {
  return launch_of(blocks * stream_.device().properties().multiprocessors, shape_.block);
}

gpu::LaunchShape ShapeRun::launch_for(std::size_t items) const {
  return gpu::program_launch(stream_.device(), shape_, items);
}

void ShapeRun::load(const gpu::Program& program, std::size_t threads) {
  program_ = program;
  const std::size_t bytes = program_.steps.size() * sizeof(gpu::Step);
  grow(steps_, stream_.device(), bytes);
  const std::size_t slots = program_.slots + shape_.more_slots(program_.scan);
  grow(table_, stream_.device(), threads * slots * shape_.lane_words * sizeof(std::uint32_t));
  stream_.copy_to_device(steps_.data(), program_.steps.data(), bytes);
  const gpu::Piece whole{0, 0, static_cast<std::uint32_t>(program_.steps.size())};
  grow(whole_, stream_.device(), sizeof whole);
  stream_.copy_to_device(whole_.data(), &whole, sizeof whole);
  stream_.set_bytes(results_.data(), 0, results_.bytes());
  if (refused_.bytes() > 0) stream_.set_bytes(refused_.data(), 0, refused_.bytes());
  stream_.synchronize();
}

void ShapeRun::queue_start(std::size_t items) const {
  const std::uint32_t words = instances_.width();
  gpu::ResidueJob job;
  job.modulus = instances_.on_device(instances_.modulus());
  job.words = words;
  if (radix_squared_on_device_.bytes() > 0) {
    job.value = {radix_squared_on_device_.as<std::uint32_t>(),
                 static_cast<std::uint32_t>(radix_squared_.size()), 0};
  } else {
    job.zero_bits = shape_.radix_bits + gpu::start_power(shape_.radix_bits).bits - 32 * (words - 2);
  }
  job.count = static_cast<std::uint32_t>(std::min(items, instances_.modulus_count()));
  job.result = start_.as<std::uint32_t>();
  job.result_width = words;
  gpu::launch_residue(stream_, job);
}

void ShapeRun::queue_program(const gpu::LaunchShape& launch, std::size_t items) const {
  gpu::ProgramJob job;
  job.steps = steps_.as<gpu::Step>();
  job.step_count = static_cast<std::uint32_t>(program_.steps.size());
  job.count = static_cast<std::uint32_t>(items);
  job.modulus = instances_.on_device(instances_.modulus());
  job.start = {start_.as<std::uint32_t>(), instances_.width(), job.modulus.stride};
  job.operands[0] = instances_.on_device(instances_.base());
  // A chain has no exponent, a power no second factor.
  const bool power = program_.slots > 0;
  job.operands[1] = instances_.on_device(power ? instances_.exponent() : instances_.factor());
  job.result = results_.as<std::uint32_t>();
  job.result_width = instances_.width();
  job.table = table_.as<std::uint32_t>();
  job.scan = program_.scan;
  job.slots = program_.slots;
  job.constants = constants_.data();
  job.refused = refused_.as<std::uint8_t>();
  job.pieces = whole_.as<gpu::Piece>();
  if (items * shape_.threads > std::size_t{launch.grid} * launch.block) {
    job.claimed = claimed_.as<std::uint32_t>();
    stream_.set_bytes(job.claimed, 0, sizeof(std::uint32_t));
  }
  kernel_.launch(stream_, launch, job);
}

Words ShapeRun::results(std::size_t items) const {
  Words words(items * instances_.width());
  stream_.copy_to_host(words.data(), results_.data(), words.size() * sizeof(std::uint32_t));
  stream_.synchronize();
  return words;
}

std::size_t ShapeRun::refused(std::size_t items) const {
  if (refused_.bytes() == 0) return 0;
  std::vector<std::uint8_t> marks(items);
  stream_.copy_to_host(marks.data(), refused_.data(), items);
  stream_.synchronize();
  return items - static_cast<std::size_t>(std::ranges::count(marks, 0));
}

}  // namespace manymod::bench

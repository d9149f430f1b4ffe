// SPDX-License-Identifier: Apache-2.0
// Programs on one kernel shape, launched as the engine launches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/buffer.hpp"
#include "gpu/cuda/stream.hpp"
#include "gpu/engine/technique.hpp"
#include "gpu/program/programs.hpp"
#include "instances.hpp"

namespace manymod::bench {

class ShapeRun {
 public:
  /// `shape`: of the technique's, for the instances' kind of moduli. `results`: at least as many bytes as an
  /// operand of the instances has. @throws cuda::DriverError, also where the technique refuses their modulus
  ShapeRun(const cuda::Stream& stream, const Instances& instances, const gpu::Technique& technique,
           const gpu::Shape& shape, const gpu::DeviceBuffer& results);

  [[nodiscard]] const gpu::Shape& shape() const { return shape_; }
  [[nodiscard]] const cuda::Kernel& kernel() const { return kernel_; }
  /// Blocks of the shape's size on a multiprocessor at a time, at most.
  [[nodiscard]] unsigned occupancy() const;
  /// Groups of that many blocks on each multiprocessor.
  [[nodiscard]] std::size_t groups(unsigned blocks) const;

  /// That many blocks of the shape's size on each multiprocessor.
  [[nodiscard]] gpu::LaunchShape full_launch(unsigned blocks) const;
  /// The launch that the engine chooses for this number of items (gpu/engine/launch.hpp).
  [[nodiscard]] gpu::LaunchShape launch_for(std::size_t items) const;
  [[nodiscard]] gpu::LaunchShape launch_of(unsigned grid, unsigned block) const;

  /// The program of what is queued from now on, in launches of up to `threads` threads. Clears the results.
  void load(const gpu::Program& program, std::size_t threads);
  /// Program::load's start, for the first items.
  void queue_start(std::size_t items) const;
  void queue_program(const gpu::LaunchShape& launch, std::size_t items) const;
  /// Of the first items; waits for them.
  [[nodiscard]] Words results(std::size_t items) const;
  /// How many of the first items the last program had to refuse, after `results`.
  [[nodiscard]] std::size_t refused(std::size_t items) const;
  /// R^2
  [[nodiscard]] const Words& radix_squared() const { return radix_squared_; }

 private:
  const cuda::Stream& stream_;
  const Instances& instances_;
  const gpu::Shape& shape_;
  const cuda::Kernel& kernel_;
  const gpu::DeviceBuffer& results_;
  gpu::DeviceBuffer start_, claimed_, steps_, whole_, table_;
  Words radix_squared_;
  // Of techniques with constants (gpu/engine/constants.hpp); else empty.
  gpu::DeviceBuffer constants_, radix_squared_on_device_, refused_;
  gpu::Program program_;

  void bring_constants(const gpu::ConstantsSource& source);
  [[nodiscard]] std::vector<std::byte> make_constants(const gpu::ConstantsSource& source) const;
};

}  // namespace manymod::bench

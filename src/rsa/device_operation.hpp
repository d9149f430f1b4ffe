// SPDX-License-Identifier: Apache-2.0
// Private operations that stay on a GPU from the blinded number to the check: all numbers of a batch go there
// once, the results and what the public exponent makes of them come back once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cuda/device.hpp"
#include "modmul/device/program_runner.hpp"
#include "modmul/device/workspace.hpp"
#include "rsa/private_operation.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// What multiplies on one GPU for keys of one length whose primes have one length.
struct DeviceProducts {
  DeviceProducts(cuda::Device& device, std::size_t limbs, std::size_t half_limbs)
      : modulo_n(device, limbs), modulo_p(device, half_limbs), workspaces(device) {}

  device::ProgramRunner modulo_n, modulo_p;
  mutable device::Workspaces workspaces;  ///< of the arrays between the products
};

/// A ring's, made when they are first needed.
class PrivateDevices {
 public:
  /// Before all use: for private keys of those lengths.
  void add(std::size_t limbs, std::size_t half_limbs);
  /// @throws cuda::DriverError
  [[nodiscard]] const DeviceProducts& on(unsigned device, std::size_t limbs, std::size_t half_limbs) const;

 private:
  using Lengths = std::pair<std::size_t, std::size_t>;
  std::map<Lengths, std::vector<PublishedOnce<DeviceProducts>>> made_;  ///< of each CUDA device
};

/// The GPU for the private operations of these rows, the one with the least to do; null where the CPU
/// computes their powers, or where their keys are too unlike: they have one public exponent, and primes of
/// one number of limbs.
const GpuPower* gpu_for(const Rows& rows);

/// As the host's private operation (private_operation.cpp), by the Chinese remainder theorem: rows.powers,
/// and wrong[row] is 1 where one is not right.
/// @return false if the progress callback asked to stop
/// @throws StatusError where the GPU fails
bool raise_on_device(Rows& rows, const GpuPower& gpu, std::span<std::uint8_t> wrong,
                     const PrivateSettings& settings, const ProgressPart& progress);

}  // namespace manymod::rsa

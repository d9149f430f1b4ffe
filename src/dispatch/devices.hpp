// SPDX-License-Identifier: Apache-2.0
// The devices of this machine: the CPU first, then GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dispatch/registry.hpp"

namespace manymod {

struct Device {
  std::string name;   ///< "cpu", "cuda:0"
  std::string model;  ///< the maker's name for it
  Backend backend = Backend::cpu;
  std::string features;             ///< space-separated, for people
  unsigned units = 1;               ///< CPUs this process may run on; multiprocessors of a GPU
  std::uint64_t memory_bytes = 0;   ///< 0 if unknown
  CpuFeatures cpu_features = 0;     ///< CPU backend
  CpuFeatures hidden_features = 0;  ///< CPU backend: present but hidden by MANYMOD_HIDE_CPU
  unsigned compute_capability = 0;  ///< CUDA backend: 90 for 9.0
};

/// Probed on first use, constant afterwards.
std::span<const Device> devices();

}  // namespace manymod

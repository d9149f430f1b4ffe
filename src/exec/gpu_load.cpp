// SPDX-License-Identifier: Apache-2.0
#include "exec/gpu_load.hpp"

#include <array>
#include <limits>
#include <utility>

namespace manymod {

// GPUs whose index is beyond the array share an entry: they still get work, only less evenly.
GpuLoad& gpu_load(Backend backend, unsigned index) {
  constexpr std::size_t kBackends = static_cast<std::size_t>(Backend::opencl) + 1;
  static std::array<std::array<GpuLoad, 64>, kBackends> loads;
  std::array<GpuLoad, 64>& of_backend = loads[static_cast<std::size_t>(backend)];
  return of_backend[index % of_backend.size()];
}

LoadShare::LoadShare(std::span<const GpuCandidate> candidates, std::uint64_t work) : work_(work) {
  std::uint64_t load_before = 0;
  do {
    auto best = std::pair(std::numeric_limits<unsigned>::max(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const GpuCandidate& gpu = candidates[i];
      const std::uint64_t load = gpu.load->work();
      const std::pair end(gpu.preference_class, static_cast<double>(load + work) / gpu.size);
      if (end >= best) continue;
      best = end;
      chosen_ = i;
      load_before = load;
    }
    load_ = candidates[chosen_].load;
  } while (!load_->add(load_before, work));
}

}  // namespace manymod

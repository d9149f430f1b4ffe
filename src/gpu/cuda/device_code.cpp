// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/device_code.hpp"

#include <algorithm>

namespace manymod::cuda {
namespace {

bool same_major(const CodeArchitecture& code, unsigned capability) {
  return code.capability / 10 == capability / 10;
}

bool runs_machine_code(const CodeArchitecture& code, unsigned capability) {
  if (code.suffix == 'a') return code.capability == capability;
  return same_major(code, capability) && code.capability <= capability;
}

bool compiles_ptx(const CodeArchitecture& code, unsigned capability) {
  if (code.suffix != 0) return runs_machine_code(code, capability);
  return code.capability <= capability;
}

}  // namespace

unsigned code_capability(std::span<const CodeArchitecture> architectures, unsigned capability) {
  unsigned machine_code = 0, ptx = 0;
  for (const CodeArchitecture& code : architectures) {
    if (runs_machine_code(code, capability)) machine_code = std::max(machine_code, code.capability);
    if (code.ptx && compiles_ptx(code, capability)) ptx = std::max(ptx, code.capability);
  }
  return machine_code != 0 ? machine_code : ptx;
}

}  // namespace manymod::cuda

// SPDX-License-Identifier: Apache-2.0
// Tests of kernels on a device before their first use, for backends whose drivers compile them: a compiler
// may be wrong.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/engine.hpp"
#include "gpu/backend.hpp"
#include "gpu/device.hpp"

namespace manymod::gpu {

/// Runs items of a job with moduli of that many limbs.
using RunItems = std::function<void(const Job& job, Items items, std::size_t modulus_limbs)>;

/// Precomputes the comb of a base that all items share for exponents of that many bits. Null if the kernels
/// refuse the modulus: then fixed bases are not compared.
using PrepareBase = std::function<std::unique_ptr<PreparedBase>(
    const BatchView& base, std::span<const Limb> modulus, std::size_t exponent_bits, TimingClass timing)>;

/// Compares products, and powers and fixed bases in both timing classes, of operands at the edges of their
/// ranges, with those of `reference`. @return the first operation whose results differ; empty if all are
/// right
std::string find_wrong_operation(const RunItems& tested, const PrepareBase& prepare_base,
                                 const Engine& reference, std::size_t modulus_limbs);

/// The same for addmod, submod, mulmod and fmamod on rows, with odd and even moduli of `modulus_limbs` limbs
/// and operands of `operand_limbs` limbs.
std::string find_wrong_row_operation(const RunItems& tested, const Engine& reference,
                                     std::size_t modulus_limbs, std::size_t operand_limbs);

/// A kernel and its technique (a folder of src/modmul, or any other set of kernels that is disqualified
/// together).
struct TestedKernel {
  const Backend& backend;
  const char* technique;
  const char* kernel;
};

/// Tests the kernel on the device if this is its first use in this process: `find_wrong` runs it and returns
/// what is wrong. A kernel that failed, or that could not be compiled, is not tested again. The technique of
/// one that failed is not selected for the device any more. `find_wrong` may test other kernels.
/// @throws DeviceError wrong_results, no_device_code; what `find_wrong` throws
void check_answers(const TestedKernel& tested, Device& device,
                   const std::function<std::string()>& find_wrong);

}  // namespace manymod::gpu

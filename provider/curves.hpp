// SPDX-License-Identifier: Apache-2.0
// Arithmetic on curves of this process, apart from keys: the plans that keys share, and key agreement.
#pragma once

#include <string>

#include "engine.hpp"
#include "manymod/ecc.hpp"

namespace manymod::provider {

/// How the rings and plans of this process are placed. A batch is computed on one thread: there are as many
/// batches at a time as processors.
Placement placement_of(const EngineSettings& settings);

/// The plan of a curve by name, which all of its users share for the rest of the process. It takes more stack
/// than an asynchronous job has. @throws Error
ecc::Plan& shared_plan(const std::string& curve, const EngineSettings& settings);

/// One operation that waits for nothing: MM_ECC_PUBLIC_KEY, or MM_ECC_EXCHANGE with the other side's point.
/// Timing: constant-time in the secret. Not in asynchronous jobs, as above. @throws Error
SecretBytes compute_on_curve(ecc::Plan& plan, mm_ecc_op op, const SecretBytes& secret,
                             const SecretBytes& point = {});

}  // namespace manymod::provider

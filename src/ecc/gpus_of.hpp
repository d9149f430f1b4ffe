// SPDX-License-Identifier: Apache-2.0
// What a service asks of a plan, besides the functions of ecc.h.
#pragma once

struct mm_ecc_plan;

namespace manymod::ecc {

/// The GPUs that compute on the curves of a plan, if batches are large enough; 0 if it is always the CPU.
unsigned gpus_of(const mm_ecc_plan& plan);

}  // namespace manymod::ecc

// SPDX-License-Identifier: Apache-2.0
// What a service asks of a ring, besides the functions of rsa.h.
#pragma once

struct mm_rsa_ring;

namespace manymod::rsa {

/// The GPUs that compute for a ring, if batches are large enough; 0 if it is always the CPU.
unsigned gpus_of(const mm_rsa_ring& ring);

}  // namespace manymod::rsa

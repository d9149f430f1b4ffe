// SPDX-License-Identifier: Apache-2.0
// Private operations that stay on a GPU from the blinding to the check: all numbers of a batch are uploaded
// once; the results and their powers by the public exponent are downloaded once.
#pragma once

#include <cstdint>
#include <span>

#include "rsa/private_operation.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// Whether a GPU can compute the private operations of these rows together: their moduli have at most 8192
/// bits, and their keys have the same public exponent and two primes with the same number of limbs.
bool suits_device(const Rows& rows);

/// Compute rows.powers by the Chinese remainder theorem, as the CPU's private operation does
/// (private_operation.cpp); wrong[row] = 1 if the check by the public exponent fails, else 0. On input:
/// suits_device(rows).
/// @return false if the progress callback requested a stop
/// @throws StatusError if the GPU fails
bool raise_to_private_on(const PowerGpu& gpu, Rows& rows, std::span<std::uint8_t> wrong,
                         const PrivateSettings& settings, const ProgressPart& progress);

}  // namespace manymod::rsa

// SPDX-License-Identifier: Apache-2.0
// Private operations that stay on a GPU from the blinded number to the check: all numbers of a batch go there
// once, the results and what the public exponent makes of them come back once.
#pragma once

#include <cstdint>
#include <span>

#include "rsa/private_operation.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

/// Whether a GPU takes the private operations of these rows: their keys have one public exponent, and primes
/// of one number of limbs.
bool suits_device(const Rows& rows);

/// As the host's private operation (private_operation.cpp), by the Chinese remainder theorem: rows.powers,
/// and wrong[row] is 1 where one is not right.
/// In: suits_device(rows).
/// @return false if the progress callback asked to stop
/// @throws StatusError where the GPU fails
bool raise_to_private_on(const PowerGpu& gpu, Rows& rows, std::span<std::uint8_t> wrong,
                         const PrivateSettings& settings, const ProgressPart& progress);

}  // namespace manymod::rsa

// SPDX-License-Identifier: Apache-2.0
// x^e mod n for rows of many keys.
#pragma once

#include "rsa/rows.hpp"

namespace manymod::rsa {

/// powers = numbers^e mod n, row by row. TimingClass::secret: the numbers are secret; exponents and moduli
/// are public in both classes.
/// @return false if the progress callback asked to stop
bool raise_to_public(const Rows& rows, const limbs::Buffer& numbers, limbs::Buffer& powers,
                     TimingClass timing, unsigned threads, const ProgressPart& progress);

}  // namespace manymod::rsa

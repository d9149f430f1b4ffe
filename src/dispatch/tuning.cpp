// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning.hpp"

#include <array>

namespace manymod {
namespace {

// Ratios are to the next best variant: best of 15 calls, one thread, full-length exponents.
constexpr std::array kRows{
    TuningRow{Operation::powmod, TimingClass::public_, 65, kMaxModulusBits, "scalar64.adx",
              "Intel Xeon (AVX-512 IFMA, AMX): 1.2 to 3.5 times scalar64.generic from 128 to 4096 bits"},
    TuningRow{Operation::powmod, TimingClass::secret, 65, kMaxModulusBits, "scalar64.adx",
              "Intel Xeon (AVX-512 IFMA, AMX): 2.0 to 3.2 times scalar64.generic from 128 to 4096 bits"},
};

}  // namespace

std::span<const TuningRow> tuning_table() { return kRows; }

}  // namespace manymod

// SPDX-License-Identifier: Apache-2.0
#include "dispatch/tuning.hpp"

#include <array>

namespace manymod {
namespace {

// Ratios are to the next best variant: batches of 16, one thread, full-length exponents (manymod_bench,
// batch/powmod).
constexpr std::array kRows{
    TuningRow{Operation::powmod, TimingClass::public_, 65, kMaxModulusBits, "scalar64.adx",
              "Intel Xeon (AVX-512 IFMA, AMX): 1.7 to 2.4 times scalar64.generic from 256 to 2048 bits"},
    TuningRow{Operation::powmod, TimingClass::secret, 65, kMaxModulusBits, "scalar64.adx",
              "Intel Xeon (AVX-512 IFMA, AMX): 1.9 to 2.5 times scalar64.generic from 256 to 2048 bits"},
};

}  // namespace

std::span<const TuningRow> tuning_table() { return kRows; }

}  // namespace manymod

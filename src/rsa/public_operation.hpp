// SPDX-License-Identifier: Apache-2.0
// x^e mod n for rows of many keys.
#pragma once

#include "exec/progress.hpp"
#include "rsa/rows.hpp"

namespace manymod::rsa {

class RingDevices;  // rsa/ring_devices.hpp

struct PublicSettings {
  /// Whether the numbers are secret. Exponents and moduli are always public.
  TimingClass timing = TimingClass::public_;
  unsigned threads = 0;
  const RingDevices* devices = nullptr;
};

/// powers = numbers^e mod n for each row.
/// @return false if the progress callback requested a stop
bool raise_to_public(const Rows& rows, std::span<const Limb> numbers, std::span<Limb> powers,
                     const PublicSettings& settings, const ProgressPart& progress);

}  // namespace manymod::rsa

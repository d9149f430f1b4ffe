// SPDX-License-Identifier: Apache-2.0
// x^d mod n for rows of many keys: blinded, by the Chinese remainder theorem, checked.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rsa/rows.hpp"

namespace manymod::rsa {

/// Where a test may damage what was computed: residues of rows of `limbs` limbs each.
enum class FaultPoint : std::uint8_t { half_p, half_q, without_crt };
using FaultHook = std::function<void(FaultPoint, std::span<Limb> residues, std::size_t limbs)>;

class RingDevices;  // rsa/ring_devices.hpp

struct PrivateSettings {
  bool blinding = true;
  unsigned threads = 0;
  const FaultHook* fault_hook = nullptr;  ///< of tests
  const RingDevices* devices = nullptr;
};

enum class RowOutcome : std::uint8_t {
  ok,
  recomputed,  ///< the CRT's result was wrong; this one is right
  faulty,      ///< wrong both times: the power is 0
};

/// Name of the variant that raise_to_private computes the powers of `items` rows of one key with, on up to
/// `threads` threads.
const std::string& private_variant(const RingKey& key, std::size_t items, unsigned threads);

/// wrong[row] = 1 where a power is not below n or is not what found's row, its power by e, was made from.
/// Timing: secret.
void mark_wrong(const Rows& rows, const Limb* found, std::span<std::uint8_t> wrong);

/// rows.powers = rows.numbers^d mod n, each row checked by its public exponent. Timing: secret, but for the
/// outcomes.
/// @return false if the progress callback asked to stop; the powers are then 0
/// @throws StatusError MM_ERR_CRYPTO without randomness for the blinding
bool raise_to_private(Rows& rows, std::span<RowOutcome> outcomes, const PrivateSettings& settings,
                      const ProgressPart& progress);

}  // namespace manymod::rsa

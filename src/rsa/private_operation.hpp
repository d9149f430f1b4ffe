// SPDX-License-Identifier: Apache-2.0
// x^d mod n for rows of many keys: blinded, computed by the Chinese remainder theorem, and checked.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rsa/rows.hpp"

namespace manymod::rsa {

/// The points at which a test may corrupt intermediate results: the residues of all rows, `limbs` limbs each.
enum class FaultPoint : std::uint8_t {
  half_p,
  half_q,
  other_prime,
  without_crt,
  before_check,  ///< the memory that receives the powers by the public exponent
  after_check    ///< these powers
};
/// What the memory of the powers by the public exponent holds before they are computed: it is not below any
/// modulus, so that a power which a fault prevents cannot be taken for the number that the result is checked
/// against.
inline constexpr unsigned char kNoPower = 0xff;

using FaultHook = std::function<void(FaultPoint, std::span<Limb> residues, std::size_t limbs)>;

class RingDevices;  // rsa/ring_devices.hpp

struct PrivateSettings {
  bool blinding = true;
  unsigned threads = 0;
  const FaultHook* fault_hook = nullptr;  ///< set by tests
  const RingDevices* devices = nullptr;
};

enum class RowOutcome : std::uint8_t {
  ok,
  recomputed,  ///< the result by the CRT was wrong; a second computation without it is right
  faulty,      ///< both computations were wrong: the power is 0
};

/// Name of the variant by which raise_to_private computes the powers of `items` rows of one key on up to
/// `threads` threads.
const std::string& private_variant(const RingKey& key, std::size_t items, unsigned threads);

/// Check the results of rows [begin, end) by the public exponent: wrong[row] = 0 if rows.powers < n and
/// rows.powers^e mod n, which is row `row` of `found`, equals rows.numbers; else 1. Constant-time.
void mark_wrong(const Rows& rows, std::size_t begin, std::size_t end, const Limb* found,
                std::span<std::uint8_t> wrong);

/// rows.powers = rows.numbers^d mod n, each row checked by its public exponent. Constant-time, except that
/// the outcomes are public.
/// @return false if the progress callback requested a stop; the powers are then unspecified and unchecked
/// @throws StatusError MM_ERR_CRYPTO if there is no randomness for the blinding
bool raise_to_private(Rows& rows, std::span<RowOutcome> outcomes, const PrivateSettings& settings,
                      const ProgressPart& progress);

}  // namespace manymod::rsa

// SPDX-License-Identifier: Apache-2.0
// Arithmetic on curves of this process, apart from keys: the plans that keys share, and key agreement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine.hpp"
#include "manymod/ecc.hpp"

namespace manymod::provider {

/// How the rings and plans of this process are placed. A batch is computed on one thread: there are as many
/// batches at a time as processors.
Placement placement_of(const EngineSettings& settings);

/// The plan of a curve by name, which all of its users share for the rest of the process. It takes more stack
/// than an asynchronous job has. @throws Error
ecc::Plan& shared_plan(const std::string& curve, const EngineSettings& settings);

/// One operation that waits for nothing: MM_ECC_PUBLIC_KEY, or MM_ECC_EXCHANGE with the other side's point.
/// Timing: constant-time in the secret. Not in asynchronous jobs, as above. @throws Error
SecretBytes compute_on_curve(ecc::Plan& plan, mm_ecc_op op, const SecretBytes& secret,
                             const SecretBytes& point = {});

/// A signature to verify.
struct Verification {
  mm_ecc_scheme scheme = MM_ECC_ECDSA;       ///< or MM_ECC_EDDSA
  std::span<const std::uint8_t> public_key;  ///< a point as SEC 1 has it, or the string of RFC 8032
  std::span<const std::uint8_t> message;     ///< ECDSA: a digest of any length
  std::span<const std::uint8_t> signature;   ///< ECDSA: DER
};
/// Whether a signature on the plan's curve is valid; nothing where it or the key is not encoded as it should
/// be. Timing: variable. Not in asynchronous jobs, as above.
/// @throws Error
std::optional<bool> verify_on_curve(ecc::Plan& plan, const Verification& asked);

}  // namespace manymod::provider

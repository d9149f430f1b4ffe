// SPDX-License-Identifier: Apache-2.0
// Verification of single signatures where manymod is faster than libcrypto: ECDSA on P-384, and Ed25519.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "key.hpp"

namespace manymod::provider {

/// Whether a signature by this key is valid. It is computed on the CPU, on the calling thread.
/// @param message ECDSA: the digest; Ed25519: the message, without a context
/// @return nothing where the default provider is to verify: for other keys, in asynchronous jobs, and for
/// what is no encoding of a signature, which it reports in its own way
std::optional<bool> verified_here(const Key& key, std::span<const std::uint8_t> signature,
                                  std::span<const std::uint8_t> message);

}  // namespace manymod::provider

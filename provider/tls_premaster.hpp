// SPDX-License-Identifier: Apache-2.0
// The premaster secret of a TLS 1.2 key exchange with RSA (RFC 5246, section 7.4.7.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace manymod::provider {

inline constexpr std::size_t kPremasterBytes = 48;

/// The versions that the secret may begin with: that of the client's hello, and, unless 0, the negotiated
/// one, which some old clients send.
struct TlsVersions {
  unsigned client = 0, negotiated = 0;
};

/// Selects the premaster secret: the decrypted message if it has kPremasterBytes bytes and begins with one
/// of the versions, else `random`. Which of both it is must stay secret, and so must the length of the
/// message, which implicit rejection (rsa.h) makes random if the padding is invalid.
/// On input: message, random and premaster do not overlap. On output: `premaster`. Timing: constant-time in
/// the bytes of the message; message.size() affects only which bytes are read and the mask of the selection.
void select_premaster(std::span<const std::uint8_t> message, const TlsVersions& versions,
                      std::span<const std::uint8_t, kPremasterBytes> random,
                      std::span<std::uint8_t, kPremasterBytes> premaster);

}  // namespace manymod::provider

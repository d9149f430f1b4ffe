// SPDX-License-Identifier: Apache-2.0
#include "tls_premaster.hpp"

#include <algorithm>
#include <array>

#include <openssl/crypto.h>

namespace manymod::provider {
namespace {

/// All bits set if a = b, else 0. In: a, b < 2^31
std::uint32_t equal(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t difference = a ^ b;
  const std::uint32_t is_zero = ((difference - 1) & ~difference) >> 31;
  return 0U - is_zero;
}

/// All bits set if the version is given and the secret begins with it.
std::uint32_t begins_with(std::span<const std::uint8_t> secret, unsigned version) {
  return equal(secret[0], (version >> 8) & 0xff) & equal(secret[1], version & 0xff) & ~equal(version, 0);
}

}  // namespace

void select_premaster(std::span<const std::uint8_t> message, const TlsVersions& versions,
                      std::span<const std::uint8_t, kPremasterBytes> random,
                      std::span<std::uint8_t, kPremasterBytes> premaster) {
  std::array<std::uint8_t, kPremasterBytes> candidate{};
  std::copy_n(message.data(), std::min(message.size(), kPremasterBytes), candidate.data());
  const std::uint32_t good =
      equal(static_cast<std::uint32_t>(message.size()), kPremasterBytes) &
      (begins_with(candidate, versions.client) | begins_with(candidate, versions.negotiated));
  const auto mask = static_cast<std::uint8_t>(good);
  for (std::size_t i = 0; i < kPremasterBytes; ++i) {
    premaster[i] = static_cast<std::uint8_t>((candidate[i] & mask) | (random[i] & ~mask));
  }
  OPENSSL_cleanse(candidate.data(), candidate.size());
}

}  // namespace manymod::provider

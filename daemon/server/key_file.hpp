// SPDX-License-Identifier: Apache-2.0
// Private keys read from files.
#pragma once

#include <optional>
#include <variant>

#include "common/little_endian.hpp"
#include "manymod/ecc.hpp"
#include "manymod/rsa.hpp"
#include "protocol/request.hpp"
#include "server/config.hpp"

namespace manymod::signd {

/// A private key, and how its public key is named.
struct LoadedKey {
  KeyId id{};
  Bytes subject_public_key_info;  ///< DER, with uncompressed points
  std::variant<rsa::Key, ecc::Key> key;
};

/// Read the private key of a section. Files and passwords are zeroed in memory afterwards.
/// @throws std::runtime_error that names the file, and says why it is no key of ours
LoadedKey load_key(const KeyConfig& config, std::uint32_t max_key_bits);

}  // namespace manymod::signd

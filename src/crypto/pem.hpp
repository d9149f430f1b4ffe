// SPDX-License-Identifier: Apache-2.0
// PEM (RFC 7468, RFC 1421) as it is found in files and in environment variables: blocks in any order with
// text around them, whose line breaks may be missing, or be spaces or "\n" as two characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "repr/bytes.hpp"

namespace manymod::crypto {

/// A block of a PEM text.
struct PemBlock {
  std::string label;       ///< such as PRIVATE KEY
  std::string_view whole;  ///< with the BEGIN and the END line
  std::string_view body;   ///< between them
  bool complete;           ///< whether there is an END line
};

/// The blocks of `text`, which must outlive them.
std::vector<PemBlock> pem_blocks(std::string_view text);

/// What a block encodes, before its decryption. Zeroed on destruction.
struct PemContent {
  std::string headers;  ///< such as Proc-Type and DEK-Info, a line each
  std::vector<std::uint8_t> der;

  PemContent() = default;
  PemContent(const PemContent&) = delete;
  PemContent& operator=(const PemContent&) = delete;
  ~PemContent() { wipe_bytes(der.data(), der.size()); }

  [[nodiscard]] bool encrypted() const { return headers.find("ENCRYPTED") != std::string::npos; }
};

/// Decode the base64 of a complete block. @return false if it is not base64
bool read_pem(const PemBlock& block, PemContent& content);

/// `base64`, of which white space is ignored, as bytes. @return false if it is not base64
bool decode_base64(std::string_view base64, std::vector<std::uint8_t>& bytes);

}  // namespace manymod::crypto

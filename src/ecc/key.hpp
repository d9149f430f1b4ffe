// SPDX-License-Identifier: Apache-2.0
// Keys on curves read from PEM and DER.
#pragma once

#include <cstdint>
#include <vector>

#include "ecc/curve.hpp"
#include "manymod/ecc.h"
#include "repr/bytes.hpp"

namespace manymod::ecc {

/// A key on a named curve: the bytes that calls take. The secret is zeroed on destruction.
class Key {
 public:
  Key(const Curve& curve, std::vector<std::uint8_t> secret, std::vector<std::uint8_t> public_bytes)
      : curve_(&curve), secret_(std::move(secret)), public_bytes_(std::move(public_bytes)) {}
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  [[nodiscard]] const Curve& curve() const { return *curve_; }
  [[nodiscard]] ByteSpan secret() const { return secret_.all(); }  ///< empty for a public key
  [[nodiscard]] ByteSpan public_bytes() const { return public_bytes_; }

 private:
  const Curve* curve_;
  SecretBytes secret_;
  std::vector<std::uint8_t> public_bytes_;
};

/// @throws StatusError, see mm_ecc_key_decode
Key key_from_encoding(const mm_bytes& encoded, const mm_ecc_decode_options& options);

}  // namespace manymod::ecc

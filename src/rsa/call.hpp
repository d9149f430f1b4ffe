// SPDX-License-Identifier: Apache-2.0
// A call of the C ABI: what can be wrong with it, and how it is computed, block by block.
#pragma once

#include <array>
#include <optional>

#include "rsa/items.hpp"
#include "rsa/padding.hpp"

namespace manymod::rsa {

class Ring;

/// A call without faults but for its items.
struct CheckedCall {
  /// @throws StatusError
  CheckedCall(const Ring& ring, const mm_rsa_call& given);

  const mm_rsa_call& call;
  mm_rsa_op op;
  mm_rsa_scheme scheme;
  const HashFacts* hash;  ///< null where the scheme has none
  const HashFacts* mgf;   ///< of PSS and OAEP
  ItemsIn input;
  std::optional<ItemsIn> signature;
  std::size_t row_bytes = 0;                            ///< written of each row of the output, at most
  std::array<std::uint8_t, kMaxDigest> label_digest{};  ///< of OAEP

  [[nodiscard]] bool is_private() const {
    return op == MM_RSA_PRIVATE || op == MM_RSA_SIGN || op == MM_RSA_DECRYPT;
  }
};

/// @throws StatusError for a malformed call, or one that libcrypto or a device fails
mm_status run_call(const Ring& ring, const mm_rsa_call& call);

}  // namespace manymod::rsa

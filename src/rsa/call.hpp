// SPDX-License-Identifier: Apache-2.0
// One call of the C ABI: its checks, and its computation block by block.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "abi/items.hpp"
#include "manymod/rsa.h"
#include "rsa/padding.hpp"

namespace manymod::rsa {

class Ring;

/// A call whose arguments are checked; only single items can still be invalid. What the checks read is
/// copied, as the caller's arrays may change meanwhile: use `keys`, `input` and `signature`, not their
/// pointers in `call`.
struct CheckedCall {
  /// @throws StatusError for a malformed call
  CheckedCall(const Ring& ring, const mm_rsa_call& given);

  const mm_rsa_call& call;
  mm_rsa_op op;
  mm_rsa_scheme scheme;
  const crypto::HashFacts* hash;  ///< null where the scheme has none
  const crypto::HashFacts* mgf;   ///< of PSS and OAEP
  ItemsIn input;
  std::optional<ItemsIn> signature;
  std::vector<std::uint32_t> keys;                              ///< of each item; empty: key 0
  std::size_t row_bytes = 0;                                    ///< most bytes written to a row of the output
  std::array<std::uint8_t, crypto::kMaxDigest> label_digest{};  ///< of OAEP

  /// The index of an item's key, which the ring may not have.
  [[nodiscard]] std::size_t key_of(std::size_t item) const { return keys.empty() ? 0 : keys[item]; }
  [[nodiscard]] bool is_private() const {
    return op == MM_RSA_PRIVATE || op == MM_RSA_SIGN || op == MM_RSA_DECRYPT;
  }
};

/// @throws StatusError for a malformed call, or one that libcrypto or a device fails
mm_status run_call(const Ring& ring, const mm_rsa_call& call);

}  // namespace manymod::rsa

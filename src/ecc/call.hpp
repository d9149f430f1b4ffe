// SPDX-License-Identifier: Apache-2.0
// One call of the C ABI: its checks, and its computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ecc/schemes/choice.hpp"
#include "manymod/ecc.h"
#include "repr/wipe.hpp"

namespace manymod::ecc {

class Plan;
class Ring;

/// A call whose arguments have been checked: only single items can still be invalid. What the checks read is
/// copied, because the caller may change the arrays during the call: use `curves` and `inputs`, not the
/// pointers in `call`.
struct CheckedCall {
  /// @throws StatusError for a malformed call
  CheckedCall(const Plan& plan, const mm_ecc_call& given);
  CheckedCall(const CheckedCall&) = delete;
  CheckedCall& operator=(const CheckedCall&) = delete;

  /// The status of an item's key, MM_OK without a ring.
  [[nodiscard]] std::uint8_t key_status(std::size_t item) const;

  const mm_ecc_call& call;
  Task task;
  Inputs inputs;
  std::vector<std::uint32_t> curves;  ///< of each item; empty: curve 0
  std::size_t rows = 0;               ///< of the output; 0 for verdicts
  std::size_t row_bytes = 0;          ///< the longest result

 private:
  std::optional<SecretBytes> shared_secret_;
  std::unique_ptr<std::uint32_t[]> keys_;  ///< of each item in the ring, if there is one; null: key 0

  /// Takes keys and curves from the ring.
  void take_ring(const Plan& plan);
  /// Copies the indices of keys. @return whether the ring has all of these keys
  bool copy_keys(const Plan& plan, const Ring& ring);
  /// Makes `inputs` refer to a copy of the private key if all items share one. The public key is computed
  /// only once for the call. If the caller's memory changed during the call, a block of items could sign
  /// with the new private key and hash the old public key, and such a signature may reveal the new key.
  void copy_shared_secret();
};

/// What a call computes. @throws StatusError MM_ERR_ARGUMENT
Task checked_task(const mm_ecc_call& call);

/// The longest result of a call, of which only options, count and curves are read; 0 for verifications.
/// @throws StatusError for options that are wrong
std::size_t longest_result(const Plan& plan, const mm_ecc_call& call);

/// @throws StatusError for a malformed call, or one that libcrypto or a device fails
mm_status run_call(const Plan& plan, const mm_ecc_call& call);

}  // namespace manymod::ecc

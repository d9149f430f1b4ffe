// SPDX-License-Identifier: Apache-2.0
// What a scheme is: it computes items of one call that have one curve, on one thread at a time for each range
// of items. The call (ecc/call.hpp) checks arguments, groups items by curve and distributes them over
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "abi/items.hpp"
#include "core/ticker.hpp"
#include "ecc/point_engine.hpp"
#include "manymod/ecc.h"

namespace manymod::ecc {

class PreparedKeys;

/// The operands of a call whose views were checked, and its options (mm_ecc_call). The bytes belong to the
/// caller, and other threads or processes may write to them: read each once. Only a private key that all
/// items share, and those of a ring, do not change (CheckedCall).
struct Inputs {
  std::optional<ItemsIn> secret, point, second, message, signature, nonce, context, peer_context;
  /// Null, or the keys that `secret` consists of.
  const PreparedKeys* prepared = nullptr;
  std::span<const std::uint32_t> prepared_key;  ///< of each item; empty: 0
  mm_hash hash = MM_HASH_NONE;
  bool prehashed = false;
  mm_ecc_nonces nonces = MM_ECC_NONCE_DETERMINISTIC;
  mm_ecc_policy policy = MM_ECC_RFC8032;
  mm_ecc_signature_format signature_format = MM_ECC_RAW;
  mm_ecc_point_format point_format = MM_ECC_UNCOMPRESSED;
  int low_s = 0;
  bool check = true;
  std::size_t key_bytes = 0;
  bool responder = false;
  bool confirm = false;

  /// The item's key of `prepared`.
  [[nodiscard]] std::size_t key_of(std::size_t item) const {
    return prepared_key.empty() ? 0 : prepared_key[item];
  }
};

/// Where an item's results go. Members that the operation does not have are null.
struct Outputs {
  std::uint8_t* data = nullptr;  ///< item i at data + i stride
  std::size_t stride = 0;
  std::size_t* sizes = nullptr;
  std::uint8_t* ok = nullptr;
  std::uint8_t* status = nullptr;  ///< one of each item, MM_ITEM_NOT_COMPUTED at first; never null

  /// Room for the result of an item, of `size` bytes, whose length is noted.
  [[nodiscard]] std::span<std::uint8_t> result(std::size_t item, std::size_t size) const {
    if (sizes != nullptr) sizes[item] = size;
    return {data + item * stride, size};
  }
};

struct Points;

/// One operation of one scheme on one curve. Several threads may call compute at a time.
class Scheme {
 public:
  Scheme() = default;
  virtual ~Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;

  /// A rough estimate for one item on one thread.
  [[nodiscard]] virtual double item_ns() const = 0;
  /// Compute these items of the call, indices into its arrays: results, ok and statuses. It may leave early
  /// once `stop` is requested; items that were not computed keep their status.
  ///
  /// MM_ECC_VERIFY_ALL: `ok` has an entry for each item as for MM_ECC_VERIFY, and the call's verdict is that
  /// all are 1. A scheme that gives one verdict for several items gives it to each of them.
  virtual void compute(std::span<const std::size_t> items, const StopToken& stop) const = 0;
  /// MM_ECC_SUM: takes the sum of items that were computed elsewhere, one point. Threads may call at a time.
  virtual void add_part(const Points& /*part*/) const {}
  /// Called once after all items of the call were computed; MM_ECC_SUM: if all have the status MM_OK.
  /// @return MM_OK, or a status that the scheme's items get in place of MM_OK
  [[nodiscard]] virtual mm_status finish() const { return MM_OK; }
};

}  // namespace manymod::ecc

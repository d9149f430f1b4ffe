// SPDX-License-Identifier: Apache-2.0
// The arrays that a call of a C interface writes, for calls that end before they were checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "abi/enum_value.hpp"
#include "manymod/ecc.h"
#include "manymod/manymod.h"
#include "manymod/rsa.h"

namespace manymod {

/// The per-item arrays that a call writes besides results; null if absent.
struct CallOutputs {
  std::size_t count = 0;  ///< of items
  std::uint8_t* item_status = nullptr;
  bool complete = false;  ///< whether the arrays that the operation needs appear to be there
  std::uint8_t* verdicts = nullptr;
  std::size_t verdict_count = 0;
  std::uint8_t* recomputed = nullptr;
  std::size_t* sizes = nullptr;
  std::size_t size_count = 0;

  /// Whether a call that has not been checked yet appears to have an array for its statuses.
  [[nodiscard]] bool appear_valid() const { return item_status != nullptr && complete; }

  /// Set them to what the interface promises of items that are not computed. On input: appear_valid().
  void clear() const {
    std::fill_n(item_status, count, static_cast<std::uint8_t>(MM_ITEM_NOT_COMPUTED));
    if (verdicts != nullptr) std::fill_n(verdicts, verdict_count, std::uint8_t{0});
    if (recomputed != nullptr) std::fill_n(recomputed, count, std::uint8_t{0});
    if (sizes != nullptr) std::fill_n(sizes, size_count, std::size_t{0});
  }
};

inline CallOutputs outputs_of(const mm_call& call) {
  CallOutputs outputs{call.count, call.item_status};
  outputs.complete = call.result.limbs != nullptr && call.result.count == call.count;
  return outputs;
}

/// Add what calls on byte strings write: verdicts, or strings and their sizes.
inline void add_outputs(CallOutputs& outputs, const mm_bytes_result& strings, std::size_t rows,
                        std::uint8_t* verdicts, std::size_t verdict_count) {
  if (verdict_count != 0) {
    outputs.complete = verdicts != nullptr;
    outputs.verdicts = verdicts;
    outputs.verdict_count = verdict_count;
  } else {
    outputs.complete = strings.data != nullptr && strings.count == rows;
    outputs.sizes = strings.sizes;
    outputs.size_count = rows;
  }
}

inline CallOutputs outputs_of(const mm_rsa_call& call) {
  CallOutputs outputs{call.count, call.item_status};
  outputs.recomputed = call.item_recomputed;
  add_outputs(outputs, call.output, call.count, call.valid,
              enum_value(call.op) == MM_RSA_VERIFY ? call.count : 0);
  return outputs;
}

inline CallOutputs outputs_of(const mm_ecc_call& call) {
  CallOutputs outputs{call.count, call.item_status};
  const long long op = enum_value(call.op);
  const std::size_t one = call.count == 0 ? 0 : 1;
  const std::size_t verdicts = op == MM_ECC_VERIFY ? call.count : (op == MM_ECC_VERIFY_ALL ? one : 0);
  add_outputs(outputs, call.output, op == MM_ECC_SUM ? one : call.count, call.ok, verdicts);
  return outputs;
}

}  // namespace manymod

// SPDX-License-Identifier: Apache-2.0
// Operations, timing classes and item statuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "manymod/manymod.h"

namespace manymod {

enum class Operation : std::uint8_t {
  addmod = MM_OP_ADDMOD,
  submod = MM_OP_SUBMOD,
  negmod = MM_OP_NEGMOD,
  mulmod = MM_OP_MULMOD,
  sqrmod = MM_OP_SQRMOD,
  powmod = MM_OP_POWMOD,
  invmod = MM_OP_INVMOD,
  multi_powmod = MM_OP_MULTI_POWMOD,
  fixed_base_powmod = MM_OP_FIXED_BASE_POWMOD,
  fmamod = MM_OP_FMAMOD,
  summod = MM_OP_SUMMOD,
  prodmod = MM_OP_PRODMOD,
  dotmod = MM_OP_DOTMOD,
};
inline constexpr std::size_t kOperationCount = MM_OP_COUNT;

/// public_: variable-time; secret: constant-time.
enum class TimingClass : std::uint8_t { public_ = MM_TIMING_PUBLIC, secret = MM_TIMING_SECRET };

/// Status of one item, stored as a byte.
enum class ItemStatus : std::uint8_t {
  ok = MM_OK,
  zero_modulus = MM_ITEM_ZERO_MODULUS,
  not_invertible = MM_ITEM_NOT_INVERTIBLE,
  even_modulus = MM_ITEM_EVEN_MODULUS,
  modulus_too_wide = MM_ITEM_MODULUS_TOO_WIDE,
  not_computed = MM_ITEM_NOT_COMPUTED,
};

/// Whether each item has Job::terms terms.
constexpr bool has_terms(Operation op) {
  return op == Operation::multi_powmod || op == Operation::summod || op == Operation::prodmod ||
         op == Operation::dotmod;
}

/// Names in the public interfaces: "powmod", "secret".
std::string_view operation_name(Operation op);
std::string_view timing_name(TimingClass timing);

/// The timing class in messages: "constant time", "variable time".
std::string_view timing_description(TimingClass timing);

}  // namespace manymod

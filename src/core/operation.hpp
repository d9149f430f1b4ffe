// SPDX-License-Identifier: Apache-2.0
// Operations and their operands, timing classes and item statuses.
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

/// A bit for each operation.
using OperationSet = std::uint32_t;
constexpr OperationSet operation_bit(Operation op) { return OperationSet{1} << static_cast<unsigned>(op); }
inline constexpr OperationSet kAllOperations = (OperationSet{1} << kOperationCount) - 1;
constexpr bool contains(OperationSet set, Operation op) { return (set & operation_bit(op)) != 0; }

/// Operations whose y is an exponent.
inline constexpr OperationSet kPowerOperations = operation_bit(Operation::powmod) |
                                                 operation_bit(Operation::multi_powmod) |
                                                 operation_bit(Operation::fixed_base_powmod);
/// Operations that are a single product, fmamod with a summand.
inline constexpr OperationSet kProductOperations =
    operation_bit(Operation::mulmod) | operation_bit(Operation::sqrmod) | operation_bit(Operation::fmamod);

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
  exponent_too_wide = MM_ITEM_EXPONENT_TOO_WIDE,
};

constexpr bool has_exponent(Operation op) { return contains(kPowerOperations, op); }
/// Whether it has the operand x. The base of fixed_base_powmod is that of the plan.
constexpr bool has_x(Operation op) { return op != Operation::fixed_base_powmod; }
/// Whether it has the operand y, which may be an exponent.
constexpr bool has_y(Operation op) {
  return op != Operation::negmod && op != Operation::sqrmod && op != Operation::invmod &&
         op != Operation::summod && op != Operation::prodmod;
}
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

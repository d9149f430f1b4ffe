// SPDX-License-Identifier: Apache-2.0
// The programs of the operations (program.hpp), for a multiplier with R = 2^radix_bits; radix_bits is 0 where
// R is no power of two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gpu/program/program.hpp"
#include "modexp/comb.hpp"
#include "modexp/windows.hpp"

namespace manymod::gpu {

struct Program {
  std::vector<Step> steps;
  std::uint32_t slots = 0;  ///< elements of a group's table
  bool scan = false;        ///< see ProgramJob

  /// Whether some step reads Source::start.
  [[nodiscard]] bool needs_start() const;
};

/// The job's start is 2^(radix_bits + bits) mod n; `squarings` Montgomery squarings of it are R^2 mod n. A
/// high `bits` spares squarings, a low one steps of long division. Of no power of two the start is R^2
/// itself.
struct StartPower {
  std::uint32_t bits = 0;
  std::uint32_t squarings = 0;
};
StartPower start_power(std::uint32_t radix_bits);

/// operand 0 ^ operand 1 by fixed windows of `window` bits, the exponents read as `exponent_bits` bits each.
/// `secret`: table elements are found by reading all.
Program fixed_window_program(std::uint32_t radix_bits, std::uint32_t exponent_bits, std::uint32_t window,
                             bool secret);

/// operand 0 ^ e for one public exponent.
Program sliding_window_program(std::uint32_t radix_bits, const SlidingSchedule& exponent);

/// The product of operand t ^ operand (terms + t) over t < terms, all exponents read as `exponent_bits` bits
/// each.
Program interleaved_windows_program(std::uint32_t radix_bits, std::uint32_t terms,
                                    std::uint32_t exponent_bits, std::uint32_t window);

/// The comb of operand 0 as the first shape.entries() slots of the table (modexp/comb.hpp, build_comb). The
/// result is of no use.
Program comb_table_program(std::uint32_t radix_bits, const CombShape& shape);

/// base ^ operand 0 with the base's comb as the job's. `secret`: comb elements are found by reading all of a
/// block.
Program comb_power_program(const CombShape& shape, bool secret);

/// operand 0 * operand `second`, which is below n.
Program product_program(std::uint32_t radix_bits, std::uint32_t second);

/// The product of operands 0 .. factors - 1 over R^(factors - 1), the last of which is below n.
Program plain_product_program(std::uint32_t factors);

/// operand 0 ^ e (operand 1 / R^e) for one public exponent e >= 1; operand 1 is below n. With R^e mod n for
/// operand 1 it is the power, and no number is brought into Montgomery form for it.
Program scaled_power_program(const SlidingSchedule& exponent);

/// `count` times in a row x = x y / R or x = x^2 / R, from operand 0 (and y = operand 1), then one
/// multiplication by 1: for measurements.
Program repeated_product_program(std::uint32_t count);
Program repeated_square_program(std::uint32_t count);

}  // namespace manymod::gpu

// SPDX-License-Identifier: Apache-2.0
// The programs (program.hpp) of the operations, for a multiplier with R = 2^radix_bits, or with radix_bits =
// 0 if R is not a power of two.
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
  std::uint32_t slots = 0;  ///< elements of each group's table
  bool scan = false;        ///< see ProgramJob

  /// Whether any step reads Source::start.
  [[nodiscard]] bool needs_start() const;
};

/// The squarings and multiplications of a step, and of all steps.
std::size_t products_of(const Step& step);
std::size_t products_of(const Program& program);

/// Sets Step::selection_run of all steps.
void count_selection_runs(std::vector<Step>& steps);

/// The job's start is 2^(radix_bits + bits) mod n, and `squarings` Montgomery squarings turn it into R^2 mod
/// n. More bits cost steps of long division, fewer bits cost squarings. If R is not a power of two, the start
/// is R^2 mod n itself: bits = squarings = 0.
struct StartPower {
  std::uint32_t bits = 0;
  std::uint32_t squarings = 0;
};
StartPower start_power(std::uint32_t radix_bits);

/// operand 0 ^ operand 1 by fixed windows of `window` bits, the exponents read as `exponent_bits` bits each.
/// `secret`: constant time; table elements are found by reading all of them.
Program fixed_window_program(std::uint32_t radix_bits, std::uint32_t exponent_bits, std::uint32_t window,
                             bool secret);

/// operand 0 ^ e for one public exponent e, in variable time.
Program sliding_window_program(std::uint32_t radix_bits, const SlidingSchedule& exponent);

/// The product of operand t ^ operand (terms + t) over t < terms, all exponents read as `exponent_bits` bits
/// each.
Program interleaved_windows_program(std::uint32_t radix_bits, std::uint32_t terms,
                                    std::uint32_t exponent_bits, std::uint32_t window);

/// The comb of operand 0 in the first shape.entries() slots of the table (modexp/comb.hpp, build_comb). The
/// result is unused.
Program comb_table_program(std::uint32_t radix_bits, const CombShape& shape);

/// base ^ operand 0, with the base's comb as ProgramJob::comb. `secret`: constant time; comb elements are
/// found by reading all elements of a block.
Program comb_power_program(const CombShape& shape, bool secret);

/// operand 0 * operand `second`. On input: operand `second` < n.
Program product_program(std::uint32_t radix_bits, std::uint32_t second);

/// The product of operands 0 .. factors - 1, divided by R^(factors - 1). On input: the last operand is below
/// n.
Program plain_product_program(std::uint32_t factors);

/// operand 0 ^ e (operand 1 / R^e) for one public exponent e >= 1. On input: operand 1 < n. With operand 1 =
/// R^e mod n this is the power, without a conversion to Montgomery form.
Program scaled_power_program(const SlidingSchedule& exponent);

/// For measurements: `count` times x = x y / R or x = x^2 / R, from x = operand 0 (and y = operand 1), then
/// one multiplication by 1.
Program repeated_product_program(std::uint32_t count);
Program repeated_square_program(std::uint32_t count);

}  // namespace manymod::gpu

// SPDX-License-Identifier: Apache-2.0
// The constants that the kernels of cox_rower read: where they are, for the host, which computes them, and
// for the device.
#pragma once

#include <cstddef>

#include "modmul/cox_rower/bases.hpp"

namespace manymod::cox_rower {

/// A thread's constants, a word each: constant c of thread i is word c threads + i. Threads beyond the last
/// channel repeat its constants.
enum class ThreadConstant : unsigned {
  modulus_b,           ///< b, the thread's prime in base B
  negative_inverse_b,  ///< -1 / b mod 2^32
  modulus_a,           ///< a, the thread's prime in base A
  negative_inverse_a,  ///< -1 / a mod 2^32
  entry_to_b,          ///< 2^(32 (words + 2)) mod b: converts a partly reduced input to Montgomery form
  entry_to_a,          ///< 2^(32 (words + 2)) mod a
  coordinate_in_b,     ///< -1 / B_j mod b, where B_j = M_B / b
  coordinate_in_a,     ///< 1 / (M_B A_j) mod a, where A_j = M_A / a
  residue_in_a,        ///< 2^64 A_j mod a: turns a coordinate into a residue in Montgomery form
  last_coordinate,     ///< 1 / A_j mod a
  rank_to_a,           ///< -2^64 M_B mod a
  rank_to_b,           ///< -2^64 M_A mod b
  first_term           ///< 2^64 B_i mod a for the thread's coordinates i, then 2^64 A_i mod b
};

/// The parts of the constants, in words.
struct Layout {
  Bases bases;
  unsigned threads;

  [[nodiscard]] constexpr unsigned thread_constants() const {
    return static_cast<unsigned>(ThreadConstant::first_term) + 2 * bases.terms;
  }
  /// Words of a result before it is canonical.
  [[nodiscard]] constexpr unsigned columns() const { return bases.words() + 1; }
  /// Word w of A_i mod 2^(32 columns) is word output_at() + i columns + w; i = channels has those of -M_A.
  [[nodiscard]] constexpr std::size_t output_at() const { return std::size_t{thread_constants()} * threads; }
  [[nodiscard]] constexpr std::size_t size() const {
    return output_at() + (std::size_t{bases.channels()} + 1) * columns();
  }
};

}  // namespace manymod::cox_rower

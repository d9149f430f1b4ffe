// SPDX-License-Identifier: Apache-2.0
// Writes matrices of bytes in the layout of layout.hpp, on the host.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "modmul/rns/layout.hpp"

namespace manymod::rns {

/// For one target and one word of the operand: entry p is the constant by which byte p of the word is
/// multiplied.
using WordEntries = std::array<std::uint32_t, 4>;

/// Transposes a 4x4 matrix of bytes: word b of the result has byte b of entry p as its byte p.
inline std::array<std::uint32_t, 4> transposed(const WordEntries& entries) {
  constexpr std::uint32_t kEven = 0x00ff00ff;
  constexpr std::uint32_t kLow = 0x0000ffff;
  std::array<std::uint32_t, 2> even{};  // bytes 0 and 2 of two entries, alternating
  std::array<std::uint32_t, 2> odd{};   // bytes 1 and 3
  for (unsigned i = 0; i < 2; ++i) {
    even[i] = (entries[2 * i] & kEven) | (entries[2 * i + 1] & kEven) << 8;
    odd[i] = (entries[2 * i] >> 8 & kEven) | (entries[2 * i + 1] & ~kEven);
  }
  return {(even[0] & kLow) | even[1] << 16, (odd[0] & kLow) | odd[1] << 16, even[0] >> 16 | (even[1] & ~kLow),
          odd[0] >> 16 | (odd[1] & ~kLow)};
}

/// Writes the entries of a matrix in the layout of MatrixShape.
class MatrixWriter {
 public:
  /// `bytes`: shape.bytes() bytes, zero where nothing is written.
  MatrixWriter(const MatrixShape& shape, std::byte* bytes) : shape_(shape), bytes_(bytes) {}

  /// Stores the constants of one word for one target.
  void put(unsigned word, unsigned target, const WordEntries& entries) {
    const std::array<std::uint32_t, 4> columns = transposed(entries);
    for (unsigned byte = 0; byte < 4; ++byte) {
      std::memcpy(bytes_ + matrix_offset(shape_, word, 0, target, byte), &columns[byte],
                  sizeof columns[byte]);
    }
  }

 private:
  MatrixShape shape_;
  std::byte* bytes_;
};

}  // namespace manymod::rns

// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels that convert between byte strings of calls and rows of words, and of those
// that check what was read (rows.cuda.hpp). They are the same for all curves. All pointers are to device
// memory.
//
// `good` has a byte for each item, which kernels clear where an item is not as it should be. Such an item is
// computed nevertheless, with other numbers, and its result is not used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"
#include "ecc/device/jobs.hpp"

namespace manymod::ecc::device {

/// Byte strings of one length; stride 0: one for all items.
struct Strings {
  const std::uint8_t* data = nullptr;
  std::uint32_t stride = 0;
  std::uint32_t size = 0;

  MM_DEVICE const std::uint8_t* at(std::uint32_t item) const {
    return data + static_cast<std::size_t>(item) * stride;
  }
  /// Bytes begin to begin + size - 1 of each.
  [[nodiscard]] Strings part(std::size_t begin, std::size_t bytes) const {
    return {data + begin, stride, static_cast<std::uint32_t>(bytes)};
  }
};

/// Numbers from strings.
struct ReadJob {
  std::uint32_t count = 0;
  Strings from;
  std::uint32_t is_little_endian = 0;
  RowsOut to;                            ///< rows of to.stride words, which the number fits into
  std::uint32_t drop = 0;                ///< lowest bits that are no part of the number: 0 to 7
  std::uint32_t clear_low = 0;           ///< bits of the lowest word of a string that are read as 0
  std::uint32_t clear_high = 0;          ///< of the highest word of a row likewise
  std::uint32_t set_high = 0;            ///< of the highest word of a row: read as 1
  const std::uint32_t* limit = nullptr;  ///< null: any number; else those that are not in [1, limit) become 1
  std::uint32_t accepts_zero = 0;        ///< 1: in [0, limit)
  std::uint8_t* good = nullptr;          ///< where limit is not null: cleared for those
};

/// The first bytes of points of SEC 1 that are not compressed: 4.
struct TagJob {
  std::uint32_t count = 0;
  Strings from;
  std::uint8_t* good = nullptr;
};

/// What some bytes of a string are.
enum class FieldKind : std::uint32_t {
  big_endian,     ///< a number
  little_endian,  ///< a number; in the highest bit of the last byte that of `parity`, if there is one
  tag,            ///< of SEC 1: 4 where there is no parity, else 2 or 3
  flag            ///< the item's byte of `flags`
};
struct FieldOut {
  FieldKind kind = FieldKind::big_endian;
  std::uint32_t size = 0;  ///< bytes
  Rows number;
  Rows parity;  ///< a number whose lowest bit is written
  const std::uint8_t* flags = nullptr;
};

/// Strings of fields in a row, zeros for items that are not good, by a thread for each four bytes of all of
/// them.
struct WriteJob {
  static constexpr unsigned kMostFields = 3;

  std::uint32_t count = 0;     ///< threads
  std::uint32_t size = 0;      ///< of a string
  std::uint8_t* to = nullptr;  ///< room for 4 count bytes
  const std::uint8_t* good = nullptr;
  FieldOut fields[kMostFields];  ///< those that are not used have the size 0
};

/// Whether strings of one length are the same.
struct EqualJob {
  std::uint32_t count = 0;
  Strings a, b;
  std::uint8_t* equal = nullptr;  ///< cleared where they differ
};

/// Whether numbers are not 0.
struct NotZeroJob {
  std::uint32_t count = 0;
  Rows number;
  std::uint8_t* good = nullptr;
};

/// Whether points are those of signatures: x = r modulo n, or x = r, and the parity of y is bit 0 of the
/// recovery id. On input: x < 2 n.
struct SameJob {
  std::uint32_t count = 0;
  const std::uint32_t* order = nullptr;  ///< n; null: x = r
  std::uint32_t words = 0;
  Rows x, y, r;
  const std::uint8_t* recovery = nullptr;  ///< null: y is even
  std::uint8_t* good = nullptr;
};

/// Numbers modulo n for points with an even y: their opposites where y is odd. On input: 0 < number < n.
struct EvenJob {
  std::uint32_t count = 0;
  const std::uint32_t* order = nullptr;
  Rows number, y;
  RowsOut to;
};

/// The hash of strings in a row, of 32 bytes.
struct DigestJob {
  static constexpr unsigned kParts = 3;

  std::uint32_t count = 0;
  Strings parts[kParts];
  Rows mask;                   ///< null, or numbers of eight words, combined with it by exclusive or
  std::uint8_t* to = nullptr;  ///< 32 bytes an item
};

// ---- hashes (eddsa.cuda.hpp, schnorr.cuda.hpp)
// -------------------------------------------------------------------------------

/// The hash of strings in a row, as a number modulo n. The last one is the message.
struct HashJob {
  static constexpr unsigned kParts = 4;

  CurveNumbers curve;
  std::uint32_t count = 0;
  Strings parts[kParts];
  Rows message_sizes;  ///< bytes of each message that are used, in place of those of its string
  RowsOut number;
  std::uint32_t negates = 0;  ///< 1: the opposite number
};

/// Private keys.
struct ExpandJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  Strings secret;
  RowsOut scalar;                  ///< the clamped number modulo n
  std::uint8_t* prefix = nullptr;  ///< 32 bytes an item
};

// ---- compressed points ------------------------------------------------------------------------------------

/// Points of SEC 1, or the opposites of those of RFC 8032.
struct DecodeJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  Strings from;
  RowsOut x, y;
  std::uint8_t* good = nullptr;        ///< cleared where there is no such point
  std::uint32_t coordinate_bytes = 0;  ///< of SEC 1
  std::uint32_t any_encoding = 0;  ///< 1: ZIP 215: y of p or more and x = 0 with a sign are points as well
};

/// Whether 8 P = 8 R, by the opposite of R.
struct CofactorJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  const std::uint32_t* point = nullptr;  ///< P, columns X, Y, Z
  Rows x, y;                             ///< -R
  std::uint8_t* equal = nullptr;
};

}  // namespace manymod::ecc::device

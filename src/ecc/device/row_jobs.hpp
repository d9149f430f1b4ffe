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

/// Reads numbers from byte strings into rows.
struct ReadJob {
  std::uint32_t count = 0;
  Strings from;
  std::uint32_t is_little_endian = 0;
  RowsOut to;                            ///< rows of to.stride words, which the number fits into
  std::uint32_t drop = 0;                ///< the number is shifted right by so many bits, 0 to 7
  std::uint32_t clear_low = 0;           ///< mask: bits of the lowest word of the string that are read as 0
  std::uint32_t clear_high = 0;          ///< mask: bits of the highest word of the row that are read as 0
  std::uint32_t set_high = 0;            ///< mask: bits of the highest word of the row that are read as 1
  const std::uint32_t* limit = nullptr;  ///< not null: a number outside of [1, limit) is replaced by 1
  std::uint32_t accepts_zero = 0;        ///< 1: 0 is not replaced either
  std::uint8_t* good = nullptr;          ///< if limit is not null: cleared where a number is replaced
};

/// Copies strings of a table: of item i table.at(index[i]). A thread copies four bytes, which may belong to
/// two strings. Timing: as the indices are public, the strings may be secret.
struct GatherJob {
  std::uint32_t count = 0;  ///< threads
  std::uint32_t items = 0;
  Strings table;
  const std::uint32_t* index = nullptr;
  std::uint8_t* to = nullptr;  ///< room for 4 count bytes
};

/// Checks that the first byte of each string is 4, the tag of uncompressed points in SEC 1.
struct TagJob {
  std::uint32_t count = 0;
  Strings from;
  std::uint8_t* good = nullptr;
};

/// What a field of a string, some consecutive bytes, contains.
enum class FieldKind : std::uint32_t {
  big_endian,     ///< a number
  little_endian,  ///< a number; the highest bit of its last byte is the parity, if there is one
  tag,            ///< the tag of SEC 1: 4 without a parity, else 2 or 3
  flag            ///< the item's byte of `flags`
};
struct FieldOut {
  FieldKind kind = FieldKind::big_endian;
  std::uint32_t size = 0;  ///< bytes
  Rows number;
  Rows parity;  ///< numbers whose lowest bit is the parity; null: there is none
  const std::uint8_t* flags = nullptr;
};

/// Writes byte strings that consist of fields one after the other; zeros for items that are not good. A
/// thread writes four bytes, which may belong to two strings.
struct WriteJob {
  static constexpr unsigned kMostFields = 3;

  std::uint32_t count = 0;     ///< threads
  std::uint32_t size = 0;      ///< of a string
  std::uint8_t* to = nullptr;  ///< room for 4 count bytes
  const std::uint8_t* good = nullptr;
  FieldOut fields[kMostFields];  ///< those that are not used have the size 0
};

/// Compares strings of the same length.
struct EqualJob {
  std::uint32_t count = 0;
  Strings a, b;
  std::uint8_t* equal = nullptr;  ///< cleared where they differ
};

/// Clears `good` of items whose number is 0.
struct NotZeroJob {
  std::uint32_t count = 0;
  Rows number;
  std::uint8_t* good = nullptr;
};

/// Checks that points are those of signatures: x = r modulo n (or x = r), and the parity of y is bit 0 of
/// the recovery id. On input: x < 2 n.
struct SameJob {
  std::uint32_t count = 0;
  const std::uint32_t* order = nullptr;  ///< n; null: x = r
  std::uint32_t words = 0;
  Rows x, y, r;
  const std::uint8_t* recovery = nullptr;  ///< null: y is even
  std::uint8_t* good = nullptr;
};

/// Replaces numbers k by n - k where the y of their point k G is odd, so that all points have an even y. On
/// input: 0 < number < n.
struct EvenJob {
  std::uint32_t count = 0;
  const std::uint32_t* order = nullptr;
  Rows number, y;
  RowsOut to;
};

/// The hash of the concatenated strings, as bytes.
struct DigestJob {
  static constexpr unsigned kParts = 3;

  std::uint32_t count = 0;
  Strings parts[kParts];
  Rows last_sizes;             ///< the length of each last string in bytes, instead of its string's size
  Rows mask;                   ///< if not null: numbers of eight words, xored with a hash of 32 bytes
  std::uint8_t* to = nullptr;  ///< as many bytes an item as the hash has
};

// ---- hashes: eddsa.cuda.hpp, schnorr.cuda.hpp -------------------------------------------------------------

/// The hash of the concatenated strings, the last of which is the message, as a number modulo n.
struct HashJob {
  static constexpr unsigned kParts = 4;

  CurveNumbers curve;
  std::uint32_t count = 0;
  Strings parts[kParts];
  Rows message_sizes;  ///< the length of each message in bytes, instead of its string's size
  RowsOut number;
  std::uint32_t negates = 0;  ///< 1: n minus the number
};

/// Expands private keys of Ed25519 (RFC 8032, section 5.1.5).
struct ExpandJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  Strings secret;
  RowsOut scalar;                  ///< the clamped number modulo n
  std::uint8_t* prefix = nullptr;  ///< 32 bytes an item
};

// ---- compressed points ------------------------------------------------------------------------------------

/// Decodes compressed points: of SEC 1, or on Edwards curves the opposites of the points that RFC 8032
/// encodes.
struct DecodeJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  Strings from;
  RowsOut x, y;
  std::uint8_t* good = nullptr;        ///< cleared where there is no such point
  std::uint32_t coordinate_bytes = 0;  ///< bytes of a coordinate in SEC 1
  std::uint32_t any_encoding = 0;  ///< 1: as in ZIP 215, y >= p, and x = 0 with a sign, are points as well
};

/// Whether 8 P = 8 R, given -R.
struct CofactorJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  const std::uint32_t* point = nullptr;  ///< P, columns X, Y, Z
  Rows x, y;                             ///< -R
  std::uint8_t* equal = nullptr;
};

}  // namespace manymod::ecc::device

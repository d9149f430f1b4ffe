// SPDX-License-Identifier: Apache-2.0
// Decimal and hexadecimal text of integers, to limbs and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/limb.hpp"

namespace manymod::python {

/// What a piece of text is. The values are those of the extension's arrays of notations.
enum class Notation : std::uint8_t { none = 0, decimal = 1, hexadecimal = 2 };

/// An integer found in text: its digits without sign, prefix and leading zeros.
struct IntegerText {
  Notation notation = Notation::none;
  bool negative = false;
  std::string_view digits;
};

/// Find the integer in `text`: outer blanks, an optional sign, then decimal digits, or 0x and hexadecimal
/// digits. Anything else, and decimal text of more than `max_decimal_digits` characters, gives
/// Notation::none.
IntegerText scan_integer(std::string_view text, std::size_t max_decimal_digits);

/// An upper bound on the limbs of `scanned`, at least 1, which exceeds the least by at most 1 up to 65536
/// bits.
std::size_t limbs_of_text(const IntegerText& scanned);

/// Write the magnitude of `scanned`, zero-extended, to limbs[0, width).
/// On input width >= limbs_of_text(scanned). Takes O(digits^2) for decimal text. Variable-time.
void read_integer_text(const IntegerText& scanned, Limb* limbs, std::size_t width);

/// Append the decimal digits of limbs[0, width), without leading zeros, to `text`.
/// `scratch` keeps its memory from call to call. Takes O(width^2). Variable-time.
void append_decimal(const Limb* limbs, std::size_t width, std::vector<Limb>& scratch, std::string& text);

/// Append "0x" and the lower-case hexadecimal digits of limbs[0, width) to `text`, with leading zeros up to
/// `min_digits` digits; at least one digit.
void append_hexadecimal(const Limb* limbs, std::size_t width, std::size_t min_digits, std::string& text);

}  // namespace manymod::python

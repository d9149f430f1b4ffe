// SPDX-License-Identifier: Apache-2.0
// Columns of tables to limbs and back. Text and binary columns are one block of bytes with int64[N + 1]
// offsets, as Arrow's large_string and large_binary have them; decimals are two's complement words, least
// significant first.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/read_once.hpp"
#include "python/buffer.hpp"
#include "python/bytes_items.hpp"
#include "python/convert.hpp"
#include "python/integer_text.hpp"

namespace manymod::python {
namespace {

/// N slices of a block of bytes.
class Slices {
 public:
  Slices(nb::handle data, nb::handle offsets) : data_(data) {
    const Vector<std::int64_t> given(offsets, Access::read, "offsets");
    if (given.size() == 0) throw nb::value_error("offsets must have one element more than there are items");
    offsets_.assign(given.data(), given.data() + given.size());
    const auto size = static_cast<std::int64_t>(data_.bytes().size);
    std::int64_t previous = 0;
    for (const std::int64_t offset : offsets_) {
      if (offset < previous || offset > size) throw nb::value_error("offsets must ascend within the data");
      previous = offset;
    }
  }
  [[nodiscard]] std::size_t count() const { return offsets_.size() - 1; }
  [[nodiscard]] const std::uint8_t* begin(std::size_t i) const { return data_.bytes().data + offsets_[i]; }
  [[nodiscard]] std::size_t size(std::size_t i) const {
    return static_cast<std::size_t>(offsets_[i + 1] - offsets_[i]);
  }
  [[nodiscard]] std::string_view text(std::size_t i) const {
    return {reinterpret_cast<const char*>(begin(i)), size(i)};
  }

 private:
  BytesView data_;
  std::vector<std::int64_t> offsets_;  ///< a copy: other threads may write to the caller's
};

void check_count(std::size_t found, std::size_t expected) {
  if (found != expected) throw nb::value_error("the arrays have different lengths");
}

/// Finds the notation of each text (0: it is no integer) and an upper bound on its limbs.
void scan_text(nb::handle data, nb::handle offsets, std::size_t max_decimal_digits, nb::handle notations,
               nb::handle widths) {
  const Slices texts(data, offsets);
  const Vector<std::uint8_t> kinds(notations, Access::write, texts.count(), "notations");
  const Vector<std::uint32_t> limbs(widths, Access::write, texts.count(), "widths");
  for (std::size_t i = 0; i < texts.count(); ++i) {
    const IntegerText scanned = scan_integer(texts.text(i), max_decimal_digits);
    kinds.data()[i] = static_cast<std::uint8_t>(scanned.notation);
    limbs.data()[i] = static_cast<std::uint32_t>(limbs_of_text(scanned));
  }
}

/// The integers of texts [start, start + N), 0 where `notations` says that there is none, into limbs[N, L]
/// and signs. On input L is at least each text's width as scan_text found it.
void text_to_limbs(nb::handle data, nb::handle offsets, std::size_t start, nb::handle notations,
                   nb::handle limbs, nb::handle negative) {
  const Slices texts(data, offsets);
  const Vector<std::uint8_t> kinds(notations, Access::read, texts.count(), "notations");
  const LimbArray out(limbs, Access::write, "limbs");
  const ByteVector signs(negative, Access::write, out.count(), "negative");
  if (start > texts.count() || out.count() > texts.count() - start) {
    throw nb::value_error("there are fewer texts than limbs");
  }
  for (std::size_t i = 0; i < out.count(); ++i) {
    IntegerText scanned;
    if (kinds.data()[start + i] != 0) scanned = scan_integer(texts.text(start + i), texts.size(start + i));
    if (limbs_of_text(scanned) > out.width()) throw nb::value_error("limbs are too narrow for the text");
    read_integer_text(scanned, out.row(i), out.width());
    if (signs.data() != nullptr) signs.data()[i] = scanned.negative && !scanned.digits.empty() ? 1 : 0;
  }
}

/// Text of limbs[N, L] and signs: hexadecimal where `hexadecimal` is nonzero, with at least `min_digits`
/// digits, else decimal; empty where `present` is 0. Stores int64[N + 1] offsets. @return the block of text
nb::bytes limbs_to_text(nb::handle limbs, nb::handle negative, nb::handle present, nb::handle hexadecimal,
                        nb::handle min_digits, nb::handle offsets) {
  const LimbArray in(limbs, Access::read, "limbs");
  const ByteVector signs(negative, Access::read, in.count(), "negative");
  const ByteVector wanted(present, Access::read, in.count(), "present");
  const ByteVector hex(hexadecimal, Access::read, in.count(), "hexadecimal");
  const Vector<std::uint32_t> digits(min_digits, Access::read, in.count(), "min_digits");
  const Vector<std::int64_t> ends(offsets, Access::write, in.count() + 1, "offsets");
  std::string text;
  std::vector<Limb> scratch;
  ends.data()[0] = 0;
  for (std::size_t i = 0; i < in.count(); ++i) {
    if (wanted.data() == nullptr || wanted.at(i)) {
      if (signs.at(i)) text += '-';
      if (hex.at(i)) {
        append_hexadecimal(in.row(i), in.width(), digits.data() == nullptr ? 0 : digits.data()[i], text);
      } else {
        append_decimal(in.row(i), in.width(), scratch, text);
      }
    }
    ends.data()[i + 1] = static_cast<std::int64_t>(text.size());
  }
  return nb::bytes(text.data(), text.size());
}

/// Big-endian byte strings [start, start + N) into limbs[N, L]; 8 L is at least the longest's size.
void binary_to_limbs(nb::handle data, nb::handle offsets, std::size_t start, nb::handle limbs) {
  const Slices strings(data, offsets);
  const LimbArray out(limbs, Access::write, "limbs");
  if (start > strings.count() || out.count() > strings.count() - start) {
    throw nb::value_error("there are fewer byte strings than limbs");
  }
  for (std::size_t i = 0; i < out.count(); ++i) {
    const std::size_t size = strings.size(start + i);
    if (size > out.width() * sizeof(Limb)) throw nb::value_error("limbs are too narrow for the bytes");
    read_bytes(strings.begin(start + i), size, out.row(i), out.width());
  }
}

/// limbs[N, L] as big-endian byte strings of the sizes that int64[N + 1] offsets give, into
/// uint8[offsets[N]]. OverflowError names the first item that needs more bytes.
void limbs_to_binary(nb::handle limbs, nb::handle offsets, nb::handle data) {
  const LimbArray in(limbs, Access::read, "limbs");
  const Vector<std::int64_t> ends(offsets, Access::read, in.count() + 1, "offsets");
  const Vector<std::uint8_t> out(data, Access::write, "data");
  std::int64_t begin = read_once(ends.data()[0]);
  if (begin != 0 || ends.data()[in.count()] != static_cast<std::int64_t>(out.size())) {
    throw nb::value_error("offsets must begin at 0 and end at the size of the data");
  }
  for (std::size_t i = 0; i < in.count(); ++i) {
    const std::int64_t end = read_once(ends.data()[i + 1]);
    const std::int64_t size = end - begin;
    if (size < 0 || end > static_cast<std::int64_t>(out.size())) throw nb::value_error("offsets must ascend");
    if (!write_bytes(in.row(i), in.width(), out.data() + begin, static_cast<std::size_t>(size))) {
      PyErr_Format(PyExc_OverflowError, "item %zu does not fit into %zd bytes", i,
                   static_cast<Py_ssize_t>(size));
      throw nb::python_error();
    }
    begin = end;
  }
}

/// target = source or, if `negative`, 2^(64 width) - source. The arrays may be the same.
void negate_if(bool negative, const Limb* source, Limb* target, std::size_t width) {
  const Limb mask = negative ? ~Limb{0} : Limb{0};
  Limb carry = negative ? 1 : 0;
  for (std::size_t j = 0; j < width; ++j) {
    const Limb word = (source[j] ^ mask) + carry;
    carry = carry != 0 && word == 0 ? 1 : 0;
    target[j] = word;
  }
}

/// Two's complement words[N, L] into limbs[N, L] and signs.
void words_to_limbs(nb::handle words, nb::handle limbs, nb::handle negative) {
  const LimbArray in(words, Access::read, "words");
  const LimbArray out(limbs, Access::write, "limbs");
  const ByteVector signs(negative, Access::write, in.count(), "negative");
  check_count(out.count(), in.count());
  check_count(out.width(), in.width());
  if (signs.data() == nullptr) throw nb::value_error("negative: must be an array");
  for (std::size_t i = 0; i < in.count(); ++i) {
    const bool minus = in.row(i)[in.width() - 1] >> 63 != 0;
    signs.data()[i] = minus ? 1 : 0;
    negate_if(minus, in.row(i), out.row(i), in.width());
  }
}

/// limbs[N, L] and signs into two's complement words[N, W]. OverflowError names the first item whose
/// magnitude needs more than 64 W - 1 bits.
void limbs_to_words(nb::handle limbs, nb::handle negative, nb::handle words) {
  const LimbArray in(limbs, Access::read, "limbs");
  const ByteVector signs(negative, Access::read, in.count(), "negative");
  const LimbArray out(words, Access::write, "words");
  check_count(out.count(), in.count());
  for (std::size_t i = 0; i < in.count(); ++i) {
    const Limb* row = in.row(i);
    const std::size_t common = std::min(in.width(), out.width());
    const bool wide = std::any_of(row + common, row + in.width(), [](Limb limb) { return limb != 0; }) ||
                      (common == out.width() && row[common - 1] >> 63 != 0);
    if (wide) {
      PyErr_Format(PyExc_OverflowError, "item %zu does not fit into %zu words", i, out.width());
      throw nb::python_error();
    }
    std::copy(row, row + common, out.row(i));
    std::fill(out.row(i) + common, out.row(i) + out.width(), Limb{0});
    negate_if(signs.at(i), out.row(i), out.row(i), out.width());
  }
}

}  // namespace

void bind_columns(nb::module_& module) {
  module.def("scan_text", &scan_text, nb::arg("data"), nb::arg("offsets"), nb::arg("max_decimal_digits"),
             nb::arg("notations"), nb::arg("widths"));
  module.def("text_to_limbs", &text_to_limbs, nb::arg("data"), nb::arg("offsets"), nb::arg("start"),
             nb::arg("notations"), nb::arg("limbs"), nb::arg("negative").none());
  module.def("limbs_to_text", &limbs_to_text, nb::arg("limbs"), nb::arg("negative").none(),
             nb::arg("present").none(), nb::arg("hexadecimal").none(), nb::arg("min_digits").none(),
             nb::arg("offsets"));
  module.def("binary_to_limbs", &binary_to_limbs, nb::arg("data"), nb::arg("offsets"), nb::arg("start"),
             nb::arg("limbs"));
  module.def("limbs_to_binary", &limbs_to_binary, nb::arg("limbs"), nb::arg("offsets"), nb::arg("data"));
  module.def("words_to_limbs", &words_to_limbs, nb::arg("words"), nb::arg("limbs"), nb::arg("negative"));
  module.def("limbs_to_words", &limbs_to_words, nb::arg("limbs"), nb::arg("negative").none(),
             nb::arg("words"));
}

}  // namespace manymod::python

// SPDX-License-Identifier: Apache-2.0
// Queries on limb arrays.
#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <vector>

#include "python/buffer.hpp"
#include "python/convert.hpp"

namespace manymod::python {
namespace {

std::size_t bit_length(const Limb* limbs, std::size_t width) {
  while (width > 0 && limbs[width - 1] == 0) --width;
  return width == 0 ? 0 : width * kLimbBits - static_cast<std::size_t>(std::countl_zero(limbs[width - 1]));
}

/// Write the bit length of each |item| to out, int64[N].
void bit_lengths(nb::handle limbs, nb::handle out) {
  const LimbArray in(limbs, Access::read, "limbs");
  const Buffer result(out, Access::write, 1, "out");
  if (result.itemsize() != sizeof(std::int64_t) || result.shape(0) != in.count()) {
    throw nb::value_error("out must be int64, one for each item");
  }
  for (std::size_t i = 0; i < in.count(); ++i) {
    const auto bits = static_cast<std::int64_t>(bit_length(in.row(i), in.width()));
    std::memcpy(static_cast<char*>(result.data()) + static_cast<Py_ssize_t>(i) * result.stride(0), &bits,
                sizeof bits);
  }
}

/// -1, 0 or 1 if |x| < |y|, |x| == |y| or |x| > |y|. The widths may differ.
int compare_magnitudes(const Limb* x, std::size_t x_width, const Limb* y, std::size_t y_width) {
  const std::size_t x_bits = bit_length(x, x_width);
  const std::size_t y_bits = bit_length(y, y_width);
  if (x_bits != y_bits) return x_bits < y_bits ? -1 : 1;
  for (std::size_t j = limbs_for_bits(x_bits); j-- > 0;) {
    if (x[j] != y[j]) return x[j] < y[j] ? -1 : 1;
  }
  return 0;
}

int sign(const Limb* limbs, std::size_t width, bool negative) {
  if (std::all_of(limbs, limbs + width, [](Limb limb) { return limb == 0; })) return 0;
  return negative ? -1 : 1;
}

/// Write the comparison of each pair to out, int8[N]; y may be a single item.
void compare(nb::handle x, nb::handle x_negative, nb::handle y, nb::handle y_negative, nb::handle out) {
  const LimbArray left(x, Access::read, "x");
  const LimbArray right(y, Access::read, "y");
  const ByteVector left_signs(x_negative, Access::read, left.count(), "x_negative");
  const ByteVector right_signs(y_negative, Access::read, right.count(), "y_negative");
  const ByteVector result(out, Access::write, left.count(), "out");
  if (right.count() != 1 && right.count() != left.count()) throw nb::value_error("lengths differ");
  for (std::size_t i = 0; i < left.count(); ++i) {
    const std::size_t k = right.count() == 1 ? 0 : i;
    const int left_sign = sign(left.row(i), left.width(), left_signs.at(i));
    const int right_sign = sign(right.row(k), right.width(), right_signs.at(k));
    const int order = left_sign != right_sign ? left_sign - right_sign
                                              : left_sign * compare_magnitudes(left.row(i), left.width(),
                                                                               right.row(k), right.width());
    result.data()[i] = static_cast<std::uint8_t>(static_cast<std::int8_t>((order > 0) - (order < 0)));
  }
}

/// Split a batch into runs of consecutive items whose arrays stay within `budget` bytes, and return the ends
/// of the runs.
///
/// On input: `widths`: uint32[N] limb counts of each array, which in a run is as wide as its widest item;
/// `fixed`: further bytes per item.
nb::list split_runs(const nb::list& widths, std::size_t fixed, std::size_t budget) {
  std::deque<Buffer> buffers;
  for (const nb::handle item : widths) {
    const Buffer& buffer = buffers.emplace_back(item, Access::read, 1, "widths");
    if (buffer.itemsize() != sizeof(std::uint32_t) || buffer.shape(0) != buffers.front().shape(0) ||
        (buffer.shape(0) > 1 && buffer.stride(0) != buffer.itemsize())) {
      throw nb::value_error("widths must be contiguous uint32 arrays of one length");
    }
  }
  nb::list ends;
  const std::size_t count = buffers.empty() ? 0 : buffers.front().shape(0);
  std::vector<std::uint32_t> widest(buffers.size(), 1);
  std::vector<std::uint32_t> grown(buffers.size());
  for (std::size_t start = 0, i = 0; i < count; ++i) {
    std::size_t item_bytes = fixed;
    for (std::size_t k = 0; k < buffers.size(); ++k) {
      grown[k] = std::max(widest[k], static_cast<const std::uint32_t*>(buffers[k].data())[i]);
      item_bytes += grown[k] * sizeof(Limb);
    }
    if (i > start && item_bytes > budget / (i + 1 - start)) {
      ends.append(i);
      start = i;
      for (std::size_t k = 0; k < buffers.size(); ++k) {
        grown[k] = static_cast<const std::uint32_t*>(buffers[k].data())[i];
      }
    }
    widest.swap(grown);
  }
  if (count > 0) ends.append(count);
  return ends;
}

}  // namespace

void bind_limbs(nb::module_& module) {
  module.def("bit_lengths", &bit_lengths, nb::arg("limbs"), nb::arg("out"));
  module.def("split_runs", &split_runs, nb::arg("widths"), nb::arg("fixed_bytes"), nb::arg("budget_bytes"));
  module.def("compare", &compare, nb::arg("x"), nb::arg("x_negative").none(), nb::arg("y"),
             nb::arg("y_negative").none(), nb::arg("out"));
}

}  // namespace manymod::python

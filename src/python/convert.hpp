// SPDX-License-Identifier: Apache-2.0
// Conversions between Python's sequences of integers, big-endian bytes and limb arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"

namespace manymod::python {

/// Big-endian bytes[0, width) to limbs[0, limb_width), zero-extended. On input 8 limb_width >= width.
void read_bytes(const std::uint8_t* bytes, std::size_t width, Limb* limbs, std::size_t limb_width);

/// The low 8 width bits of limbs[0, limb_width) to big-endian bytes[0, width). @return whether the higher
/// bits are 0
bool write_bytes(const Limb* limbs, std::size_t limb_width, std::uint8_t* bytes, std::size_t width);

/// Add the conversion functions to the extension module.
void bind_convert(nanobind::module_& module);

/// Add the queries on limb arrays (bit lengths, comparison) to the extension module.
void bind_limbs(nanobind::module_& module);

/// Add the constants of the C ABI.
void bind_constants(nanobind::module_& module);

/// Add the conversions between columns of tables (text, byte strings, decimals) and limb arrays.
void bind_columns(nanobind::module_& module);

}  // namespace manymod::python

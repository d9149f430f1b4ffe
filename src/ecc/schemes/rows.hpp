// SPDX-License-Identifier: Apache-2.0
// Calls whose operands are rows of bytes of the right lengths, on devices that compute these as a whole
// (ecc/device_schemes.hpp).
#pragma once

#include <memory>

#include "ecc/schemes/schemes.hpp"

namespace manymod::ecc {

/// A scheme that lets the engine's device compute whole calls, if it offers this one, and `rest` those items
/// that it has not done: with operands that have another length or are no keys, and all if the device fails.
/// Else `rest` itself.
std::unique_ptr<Scheme> with_rows(const SchemeArguments& arguments, std::unique_ptr<Scheme> rest);

}  // namespace manymod::ecc

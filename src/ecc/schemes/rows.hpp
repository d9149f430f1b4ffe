// SPDX-License-Identifier: Apache-2.0
// Calls whose operands are rows of bytes of the right lengths, on devices that compute these as a whole
// (ecc/device_schemes.hpp).
#pragma once

#include <memory>

#include "ecc/schemes/schemes.hpp"

namespace manymod::ecc {

/// A scheme by which the engine's device computes the whole call; `rest` if the device does not offer it.
/// `rest` also computes the items that the device leaves: those with operands of another length or with
/// invalid keys, and all items if the device fails.
std::unique_ptr<Scheme> with_rows(const SchemeArguments& arguments, std::unique_ptr<Scheme> rest);

}  // namespace manymod::ecc

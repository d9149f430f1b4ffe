// SPDX-License-Identifier: Apache-2.0
// Going on with another engine where one fails.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace manymod {

/// Computes with `engine`; items of a call in which that throws StatusError (a GPU that fails, or has too
/// little memory) are computed by `substitute`, which accepts every item. `engine` is tried again at the next
/// call.
std::unique_ptr<Engine> with_substitute(std::unique_ptr<const Engine> engine,
                                        std::unique_ptr<const Engine> substitute);

}  // namespace manymod

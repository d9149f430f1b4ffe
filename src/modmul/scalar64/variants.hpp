// SPDX-License-Identifier: Apache-2.0
// The variants of technique scalar64 on CPUs, as the registry lists them.
#pragma once

#include <memory>
#include <vector>

#include "engine/variant.hpp"

namespace manymod::scalar64 {

void register_variants(std::vector<Variant>& variants);

/// The engine of the fastest variant that this machine runs, for techniques that leave some items to it.
std::unique_ptr<Engine> make_fastest_engine();

}  // namespace manymod::scalar64

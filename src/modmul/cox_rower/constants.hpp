// SPDX-License-Identifier: Apache-2.0
// The primes and the constants of technique cox_rower, computed on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "modmul/cox_rower/layout.hpp"

namespace manymod::cox_rower {

/// The primes of both bases.
struct Primes {
  std::vector<std::uint32_t> b, a;
};
Primes primes_of(const Bases& bases);

/// The words of `layout`.
std::vector<std::uint32_t> constants_of(const Layout& layout);

}  // namespace manymod::cox_rower

// SPDX-License-Identifier: Apache-2.0
#include "dispatch/registry.hpp"

namespace manymod {

std::span<const Variant> registry() {
  static const std::vector<Variant> variants = [] {
    std::vector<Variant> rows;
    scalar64::register_variants(rows);
    ifma52::register_variants(rows);
    vcpc512::register_variants(rows);
    radix28::register_variants(rows);
    dpf52::register_variants(rows);
    device::register_variants(rows);
    return rows;
  }();
  return variants;
}

}  // namespace manymod

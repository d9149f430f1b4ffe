// SPDX-License-Identifier: Apache-2.0
#include "ecc/variants.hpp"

#include <array>
#include <cstring>

#include "ecc/cuda/engine.hpp"
#include "ecc/lanes/variants.hpp"
#include "ecc/scalar64/engine.hpp"

namespace manymod::ecc {

std::span<const Variant> variants() {
  // One line a backend, fastest first.
  static const auto* const all = new const std::array{
      cuda::variant(), lanes::variants()[0], lanes::variants()[1], lanes::variants()[2], scalar64::variant(),
  };
  return *all;
}

const Variant* find_variant(const char* name) {
  for (const Variant& variant : variants())
    if (std::strcmp(variant.name, name) == 0) return &variant;
  return nullptr;
}

}  // namespace manymod::ecc

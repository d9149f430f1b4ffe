// SPDX-License-Identifier: Apache-2.0
#include "ecc/variants.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "core/published_once.hpp"
#include "ecc/cuda/variants.cuda.hpp"
#include "ecc/lanes/variants.hpp"
#include "ecc/opencl/variants.opencl.hpp"
#include "ecc/scalar64/engine.hpp"

namespace manymod::ecc {

std::span<const Variant> variants() {
  static constinit PublishedForever<std::vector<Variant>> all;
  return *all.get([] {
    auto list = std::make_unique<std::vector<Variant>>();
    // One line a backend, fastest first; the last one computes on every curve.
    list->push_back(cuda::variant());
    for (const Variant& variant : lanes::variants()) list->push_back(variant);
    list->push_back(opencl::variant());
    list->push_back(scalar64::variant());
    return list;
  });
}

const Variant* find_variant(const char* name) {
  for (const Variant& variant : variants())
    if (std::strcmp(variant.name, name) == 0) return &variant;
  return nullptr;
}

}  // namespace manymod::ecc

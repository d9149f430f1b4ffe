// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/technique.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "gpu/engine/engine.hpp"

namespace manymod::gpu {
namespace {

Variant variant_of(const Technique& technique, unsigned threads) {
  Variant variant;
  variant.name =
      std::string(technique.name) + "." + technique.backend->name() + ".t" + std::to_string(threads);
  variant.technique = technique.folder;
  variant.backend = technique.backend->id();
  variant.secret_operations = operation_bit(Operation::powmod) | operation_bit(Operation::fixed_base_powmod);
  variant.public_operations = variant.secret_operations | operation_bit(Operation::mulmod) |
                              operation_bit(Operation::sqrmod) | operation_bit(Operation::multi_powmod);
  unsigned words = 0;
  for (const Shape& shape : technique.shapes) {
    if (shape.threads == threads) words = std::max(words, shape.words);
  }
  variant.max_bits = std::min<std::size_t>(kMaxModulusBits, words / 2 * kLimbBits);
  variant.accepts_every_item = false;
  variant.threads_per_instance = threads;
  variant.requirements = technique.requirements;
  variant.comparison_only = technique.comparison_only;
  variant.priority = technique.priority - static_cast<int>(threads);
  variant.summary = std::string(technique.summary) + ", " + std::to_string(threads) +
                    (threads == 1 ? " thread per instance" : " threads per instance");
  variant.make_engine = [&technique, threads](unsigned device_index) {
    return make_engine(technique, threads, device_index);
  };
  return variant;
}

}  // namespace

void add_variants(std::span<const Technique> forms, std::vector<Variant>& variants) {
  for (const Technique& technique : forms) {
    std::set<unsigned> threads;
    for (const Shape& shape : technique.shapes) threads.insert(shape.threads);
    for (const unsigned count : threads) variants.push_back(variant_of(technique, count));
  }
}

}  // namespace manymod::gpu

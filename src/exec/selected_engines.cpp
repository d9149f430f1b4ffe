// SPDX-License-Identifier: Apache-2.0
// The engines of a selection, on one device or several, with what computes in the place of a GPU that fails.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "exec/engine_set.hpp"
#include "exec/spread.hpp"
#include "exec/substitution.hpp"

namespace manymod {
namespace {

std::unique_ptr<const Engine> make_engine(const Choice& choice) {
  const auto on = [&](const Device* device) { return choice.variant->make_engine(device->index); };
  if (choice.devices.size() == 1) return on(choice.devices.front());
  std::vector<SpreadPart> parts;
  for (const Device* device : choice.devices) {
    parts.push_back({on(device), std::max(1u, device->units), &gpu_load(device->index)});
  }
  return spread(std::move(parts));
}

}  // namespace

EngineSet make_engines(const Selection& selection) {
  std::vector<EngineChoice> choices;
  for (const Choice& choice : selection.choices) {
    const Variant& variant = *choice.variant;
    EngineChoice made;
    made.engine = make_engine(choice);
    made.lanes = variant.instances;
    made.min_items = choice.min_items;
    made.accepts_every_item = variant.accepts_every_item;
    if (variant.backend == Backend::cuda) made.gpus = static_cast<unsigned>(choice.devices.size());
    if (made.gpus > 0 && selection.cpu_fallback != nullptr) {
      made.engine = with_substitute(std::move(made.engine), selection.cpu_fallback->make_engine(0));
    }
    choices.push_back(std::move(made));
  }
  return EngineSet(std::move(choices));
}

}  // namespace manymod

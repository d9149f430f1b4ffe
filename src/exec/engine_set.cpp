// SPDX-License-Identifier: Apache-2.0
#include "exec/engine_set.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace manymod {
namespace {

Placement placement_of(const Choice& choice, const Variant* fallback, const AdaptCpuEngine& adapt_cpu) {
  if (choice.variant->backend == Backend::cpu) {
    std::unique_ptr<const Engine> engine = choice.variant->make_engine(0);
    return adapt_cpu ? adapt_cpu(std::move(engine)) : std::move(engine);
  }
  std::vector<GpuEngine> gpus;
  for (const Device* device : choice.devices) {
    gpus.push_back({choice.variant->make_engine(device->index), device->index, std::max(1u, device->units),
                    &gpu_load(device->backend, device->index), device->backend});
  }
  return Placement(std::move(gpus), fallback == nullptr ? nullptr : fallback->make_engine(0));
}

}  // namespace

EngineSet::EngineSet(std::vector<EngineChoice> choices)
    : choices_(std::move(choices)),
      first_places_(1, 0),
      accepts_every_item_(std::all_of(choices_.begin(), choices_.end(),
                                      [](const EngineChoice& choice) { return choice.accepts_every_item; })) {
  if (std::none_of(choices_.begin(), choices_.end(),
                   [](const EngineChoice& choice) { return choice.min_items <= 1; })) {
    throw std::logic_error("no engine for a single item");
  }
  for (const EngineChoice& choice : choices_) {
    first_places_.push_back(first_places_.back() + choice.placement.size());
  }
}

std::size_t EngineSet::for_items(std::size_t items) const {
  std::size_t index = 0;
  while (choices_[index].min_items > std::max<std::size_t>(1, items)) ++index;
  return index;
}

bool EngineSet::accepts(std::size_t index, const Job& job, std::size_t item) const {
  return choices_[index].accepts_every_item || choices_[index].placement.accepts(job, item);
}

std::size_t EngineSet::accepting(const Job& job, std::size_t item, std::size_t items) const {
  for (const std::size_t least : {items, kFallbackOnly}) {
    for (std::size_t index = 0; index < choices_.size(); ++index) {
      if (choices_[index].min_items <= least && accepts(index, job, item)) return index;
    }
  }
  throw std::logic_error("no engine accepts item " + std::to_string(item));
}

EngineSet make_engines(const Selection& selection, const AdaptCpuEngine& adapt_cpu) {
  std::vector<EngineChoice> choices;
  for (const Choice& choice : selection.choices) {
    const Variant& variant = *choice.variant;
    choices.push_back({placement_of(choice, selection.cpu_fallback, adapt_cpu), variant.instances,
                       choice.min_items, variant.accepts_every_item});
  }
  return EngineSet(std::move(choices));
}

}  // namespace manymod

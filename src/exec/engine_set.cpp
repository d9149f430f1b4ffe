// SPDX-License-Identifier: Apache-2.0
#include "exec/engine_set.hpp"

#include <algorithm>
#include <stdexcept>

namespace manymod {
namespace {

Job fixed_base_job(std::size_t base_limbs, std::span<const Limb> modulus, TimingClass timing) {
  Job job;
  job.x.width = base_limbs;
  job.op = Operation::fixed_base_powmod;
  job.timing = timing;
  job.modulus = {modulus.data(), 1, modulus.size(), modulus.size(), nullptr};
  return job;
}

}  // namespace

EngineSet::EngineSet(std::vector<EngineChoice> choices)
    : choices_(std::move(choices)),
      accepts_every_item_(std::all_of(choices_.begin(), choices_.end(),
                                      [](const EngineChoice& choice) { return choice.accepts_every_item; })) {
  if (std::none_of(choices_.begin(), choices_.end(),
                   [](const EngineChoice& choice) { return choice.min_items <= 1; })) {
    throw std::logic_error("no engine for a single item");
  }
}

std::size_t EngineSet::for_items(std::size_t items) const {
  std::size_t index = 0;
  while (choices_[index].min_items > std::max<std::size_t>(1, items)) ++index;
  return index;
}

bool EngineSet::accepts(std::size_t index, const Job& job, std::size_t item) const {
  return choices_[index].accepts_every_item || choices_[index].engine->accepts(job, item);
}

std::size_t EngineSet::accepting(const Job& job, std::size_t item, std::size_t items) const {
  for (const std::size_t least : {items, kFallbackOnly}) {
    for (std::size_t index = 0; index < choices_.size(); ++index) {
      if (choices_[index].min_items <= least && accepts(index, job, item)) return index;
    }
  }
  throw std::logic_error("no engine accepts item " + std::to_string(item));
}

PreparedBases::PreparedBases(const EngineSet& engines, const BatchView& base, std::span<const Limb> modulus,
                             std::size_t exponent_bits, TimingClass timing)
    : engines_(engines),
      base_(base.width),
      negative_(base.is_negative(0) ? 1 : 0),
      modulus_(modulus),
      exponent_bits_(exponent_bits),
      timing_(timing),
      main_engine_(engines.accepting(fixed_base_job(base.width, modulus, timing), 0, SIZE_MAX)),
      prepared_(engines.size()) {
  const std::span<const Limb> limbs = base.magnitude(0);
  std::copy(limbs.begin(), limbs.end(), base_.data());
}

std::size_t PreparedBases::engine_for(std::size_t exponents) const {
  const std::size_t index = engines_.for_items(exponents);
  return engines_.accepts(index, fixed_base_job(base_.size(), modulus_, timing_), 0) ? index : main_engine_;
}

const PreparedBase* PreparedBases::for_engine(std::size_t index, const StopToken& stop) const {
  return prepared_[index].get([&] {
    const BatchView base{base_.data(), 1, base_.size(), base_.size(), &negative_};
    return engines_[index].engine->prepare_base(base, modulus_, exponent_bits_, timing_, stop);
  });
}

}  // namespace manymod

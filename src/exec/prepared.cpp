// SPDX-License-Identifier: Apache-2.0
#include "exec/prepared.hpp"

#include <algorithm>

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

PreparedBases::PreparedBases(const EngineSet& engines, const BatchView& base, std::span<const Limb> modulus,
                             std::size_t exponent_bits, TimingClass timing)
    : engines_(engines),
      base_(base.width),
      negative_(base.is_negative(0) ? 1 : 0),
      modulus_(modulus),
      exponent_bits_(exponent_bits),
      timing_(timing),
      main_choice_(engines.accepting(fixed_base_job(base.width, modulus, timing), 0, SIZE_MAX)),
      prepared_(engines.places()) {
  const std::span<const Limb> limbs = base.magnitude(0);
  std::copy(limbs.begin(), limbs.end(), base_.data());
}

std::size_t PreparedBases::choice_for(std::size_t exponents) const {
  const std::size_t index = engines_.for_items(exponents);
  const bool accepted = engines_.accepts(index, fixed_base_job(base_.size(), modulus_, timing_), 0);
  return accepted ? index : main_choice_;
}

bool PreparedBases::prepare(std::size_t index, const StopToken& stop) const {
  const Placement& placement = engines_[index].placement;
  for (std::size_t place = 0; place < placement.size(); ++place) {
    if (prepared_[engines_.place_number(index, place)].has_value()) return true;
  }
  bool done = false;
  placement.run(1, [&](std::size_t place) { done = get(index, place, stop) != nullptr; });
  return done;
}

const PreparedBase* PreparedBases::get(std::size_t index, std::size_t place, const StopToken& stop) const {
  return prepared_[engines_.place_number(index, place)].get([&] {
    const BatchView base{base_.data(), 1, base_.size(), base_.size(), &negative_};
    return engines_[index].placement.engine(place).prepare_base(base, modulus_, exponent_bits_, timing_,
                                                                stop);
  });
}

}  // namespace manymod

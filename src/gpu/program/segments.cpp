// SPDX-License-Identifier: Apache-2.0
#include "gpu/program/segments.hpp"

namespace manymod::gpu {
namespace {

std::size_t products_of(const Step& step) { return std::size_t{step.squarings} + step.multiplications; }

Step store_in(std::uint32_t slot) {
  Step step;
  step.store = true;
  step.slot = slot;
  return step;
}

Step load_from(std::uint32_t slot) {
  Step step;
  step.source = Source::slot;
  step.load = true;
  step.index = slot;
  return step;
}

}  // namespace

std::size_t products_of(const Program& program) {
  std::size_t products = 0;
  for (const Step& step : program.steps) products += products_of(step);
  return products;
}

SegmentedProgram cut_program(const Program& program, std::uint32_t segments) {
  const std::size_t all = products_of(program);
  SegmentedProgram cut{{{}, program.slots, program.scan}, {0}};
  std::vector<Step>& steps = cut.program.steps;
  steps.reserve(program.steps.size() + 2 * std::size_t{segments});
  if (segments > 1) ++cut.program.slots;
  const std::uint32_t kept = program.slots;
  std::size_t products = 0;
  for (const Step& step : program.steps) {
    steps.push_back(step);
    products += products_of(step);
    while (cut.begin.size() < segments && products * segments >= all * cut.begin.size()) {
      steps.push_back(store_in(kept));
      cut.begin.push_back(static_cast<std::uint32_t>(steps.size()));
      steps.push_back(load_from(kept));
    }
  }
  cut.begin.push_back(static_cast<std::uint32_t>(steps.size()));
  count_selection_runs(steps);
  return cut;
}

}  // namespace manymod::gpu

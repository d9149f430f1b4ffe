// SPDX-License-Identifier: Apache-2.0
// Which engines of a plan may compute an operation of a call.
#pragma once

#include "ecc/plan.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/schemes/scheme.hpp"

namespace manymod::ecc {

/// At least one is not null.
struct UsableEngines {
  const PointEngine* cpu = nullptr;
  const PointEngine* gpu = nullptr;  ///< its kernels compute points of the task
};

/// Those of a curve's engines for a task with these operands. Where kernels compute nothing of it, the engine
/// of the processor behind the GPUs' takes their place: the task is cut for the threads of the call then, and
/// not into chunks as long as GPUs want them.
/// @throws StatusError why the GPUs cannot be used, if the plan has no other device
UsableEngines usable_engines(const CurveEngines& engines, Task task, const Inputs& inputs);

}  // namespace manymod::ecc

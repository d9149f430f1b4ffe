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

/// The engines that compute a task with these operands. If the GPU has no kernel for it, the CPU engine alone
/// computes it, or the GPU engine's host() if the plan has no CPU engine, so that the task is cut into chunks
/// for the call's threads and not into long chunks for a GPU.
/// @throws StatusError why the GPUs cannot be used, if the plan has no other device
UsableEngines usable_engines(const CurveEngines& engines, Task task, const Inputs& inputs);

}  // namespace manymod::ecc

// SPDX-License-Identifier: Apache-2.0
#include "ecc/engine_choice.hpp"

#include <optional>

#include "core/status_error.hpp"

namespace manymod::ecc {
namespace {

/// The engine of the plan's GPUs; null where it has none, or where this process can use none of them and
/// the processor is to compute what they do not.
const PointEngine* usable_gpu(const CurveEngines& engines) {
  const PointEngine* const gpu = engines.on_gpu();
  if (gpu == nullptr) return nullptr;
  try {
    gpu->check_usable();
    return gpu;
  } catch (const StatusError&) {
    if (engines.on_cpu() == nullptr) throw;
    return nullptr;
  }
}

/// Whether given points may be uncompressed, which takes a check; compressed ones take a square root.
bool may_be_uncompressed(const Curve& curve, const Inputs& inputs) {
  const std::optional<ByteRows> rows = inputs.point->rows();
  return !rows || rows->size == point_bytes(curve, MM_ECC_UNCOMPRESSED);
}

bool is_secret(mm_ecc_op op) {
  switch (op) {
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
    case MM_ECC_RECOVER:
    case MM_ECC_ADD:
    case MM_ECC_POINT:
    case MM_ECC_SUM:
      return false;
    default:
      return true;
  }
}

/// Whether kernels of an engine's GPUs compute points of a task.
bool computes_points(const PointEngine& gpu, Task task, const Inputs& inputs) {
  const Curve& curve = gpu.curve();
  if (is_secret(task.op) && !gpu.takes_secrets()) return false;
  if (task.op == MM_ECC_POINT && gpu.computes(PointOperation::check) && may_be_uncompressed(curve, inputs)) {
    return true;
  }
  // One verdict on signatures of EdDSA is about one sum.
  const bool is_sum = task.op == MM_ECC_VERIFY_ALL && task.scheme == MM_ECC_EDDSA;
  return gpu.computes(is_sum ? PointOperation::sum : main_operation(task, curve));
}

}  // namespace

UsableEngines usable_engines(const CurveEngines& engines, Task task, const Inputs& inputs) {
  const PointEngine *const cpu = engines.on_cpu(), *const gpu = usable_gpu(engines);
  if (gpu == nullptr || computes_points(*gpu, task, inputs)) return {cpu, gpu};
  return {cpu == nullptr ? gpu->host() : cpu, nullptr};
}

}  // namespace manymod::ecc

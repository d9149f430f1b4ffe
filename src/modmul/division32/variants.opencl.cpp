// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/variants.opencl.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "engine/device_facts.hpp"
#include "gpu/engine/known_answers.hpp"
#include "gpu/engine/workspace.hpp"
#include "gpu/opencl/backend.hpp"
#include "gpu/opencl/requirements.hpp"
#include "modmul/division32/host_rows.hpp"
#include "modmul/division32/row_run.opencl.hpp"
#include "modmul/scalar64/variants.hpp"

namespace manymod::division32 {
namespace {

constexpr const char* kFolder = "division32";
constexpr std::size_t kMostLimbs = kMaxWords / 2;

// Kernels find the divisor of each item themselves.
class NoDivisor final : public PreparedModulus {};

class OpenclRowEngine final : public Engine {
 public:
  explicit OpenclRowEngine(unsigned device_index) : device_index_(device_index) {}

  [[nodiscard]] bool accepts(const manymod::Job& job, std::size_t) const override {
    const auto has_signs = [](const BatchView& view) { return view.negative != nullptr; };
    return !uses_device_memory(job) && widest_of_item(job, 1) <= kMostLimbs && !has_signs(job.x) &&
           !has_signs(job.y) && !has_signs(job.z);
  }

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb>, Operation,
                                                         TimingClass) const override {
    return std::make_unique<NoDivisor>();
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView&, std::span<const Limb>,
                                                           std::size_t, TimingClass,
                                                           const StopToken&) const override {
    throw std::logic_error("division32 computes no powers");
  }

  [[nodiscard]] std::size_t chunk_granularity(const manymod::Job&, std::size_t) const override {
    return kGranularity;
  }

  [[nodiscard]] double item_cost_ns(const manymod::Job& job, std::size_t modulus_limbs) const override {
    return host_cost_ns(job, modulus_limbs);
  }

  void run(const manymod::Job& job, Items items, std::size_t modulus_limbs) const override {
    gpu::Device& gpu = device();  // throws in a forked child, before any mutex is locked
    const RowShape& shape = row_shape_for(2 * widest_of_item(job, modulus_limbs));
    check_answers({opencl::backend(), kFolder, shape.kernel}, gpu, [&] { return wrong_operation(shape); });
    run_items(job, items, modulus_limbs);
  }

 private:
  unsigned device_index_;
  mutable std::once_flag workspaces_made_;
  mutable std::unique_ptr<gpu::Workspaces> workspaces_;

  [[nodiscard]] gpu::Device& device() const { return opencl::backend().device(device_index_); }

  [[nodiscard]] gpu::Workspaces& workspaces() const {
    std::call_once(workspaces_made_,
                   [this] { workspaces_ = std::make_unique<gpu::Workspaces>(device(), kInFlight); });
    return *workspaces_;
  }

  void run_items(const manymod::Job& job, Items items, std::size_t modulus_limbs) const {
    const std::size_t bytes = copied_limbs_of_item(job, modulus_limbs) * sizeof(Limb);
    in_chunks(job.stop, items, items_of_copied_chunk(device(), bytes), [&](Items some) {
      workspaces().lend(
          [&](gpu::Workspace& workspace) { RowRun(job, modulus_limbs, some, workspace).run(); });
      for (const std::size_t item : some) job.status[item] = ItemStatus::ok;
    });
  }

  // With moduli as wide as the kernel's numbers, and with the narrowest.
  [[nodiscard]] std::string wrong_operation(const RowShape& shape) const {
    const gpu::RunItems run = [this](const manymod::Job& job, Items items, std::size_t limbs) {
      run_items(job, items, limbs);
    };
    const std::unique_ptr<Engine> reference = scalar64::make_fastest_engine();
    const std::size_t limbs = shape.words / 2;
    std::string wrong = gpu::find_wrong_row_operation(run, *reference, limbs, limbs);
    if (wrong.empty()) wrong = gpu::find_wrong_row_operation(run, *reference, 1, limbs);
    return wrong;
  }
};

}  // namespace

void register_opencl_variants(std::vector<Variant>& variants) {
  Variant variant;
  variant.name = "division32.opencl";
  variant.technique = kFolder;
  variant.backend = Backend::opencl;
  for (const Operation op : {Operation::addmod, Operation::submod, Operation::negmod, Operation::mulmod,
                             Operation::sqrmod, Operation::fmamod}) {
    variant.public_operations |= operation_bit(op);
  }
  variant.secret_operations = variant.public_operations;
  variant.row_operations = variant.public_operations;
  variant.max_bits = 32 * kMaxWords;
  variant.accepts_every_item = false;  // operands are limited in width, and have no signs
  variant.requirements = opencl::requirements(kFolder, opencl::DeviceKind::any);
  variant.priority = 100;
  variant.summary = "element-wise operations on rows: long division by lazy quotient digits";
  variant.make_engine = [](unsigned device_index) { return std::make_unique<OpenclRowEngine>(device_index); };
  variants.push_back(std::move(variant));
}

}  // namespace manymod::division32

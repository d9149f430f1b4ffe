// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/engine.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "engine/device_facts.hpp"
#include "engine/resident_rows.hpp"
#include "gpu/engine/workspace.hpp"
#include "modmul/division32/host_rows.hpp"
#include "modmul/division32/range_run.hpp"

namespace manymod::division32 {
namespace {

constexpr std::size_t kMaxLimbs = kMaxWords / 2;
// Most bytes of one item's operands, which are uploaded together.
constexpr std::size_t kMostUploaded = std::size_t{256} << 20;
constexpr std::size_t kMostTerms = kItemsPerLaunch;

class RowEngine final : public Engine, public ResidentRows {
 public:
  RowEngine(const gpu::Backend& backend, unsigned device_index)
      : backend_(backend), device_index_(device_index) {}

  /// Calls on arrays in device memory are computed by run_call.
  [[nodiscard]] bool accepts(const manymod::Job& job, std::size_t) const override {
    return !uses_device_memory(job) && fits(job);
  }

  [[nodiscard]] bool accepts_call(const manymod::Job& job) const override {
    return fits(job) && job.modulus.width <= kMaxLimbs && job.modulus.negative == nullptr;
  }

  [[nodiscard]] const ResidentRows* resident_rows() const override { return this; }

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass) const override {
    return std::make_unique<PreparedDivisor>(modulus,
                                             shape_for(row_operation(op), 2 * modulus.size()).words());
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView&, std::span<const Limb>,
                                                           std::size_t, TimingClass,
                                                           const StopToken&) const override {
    throw std::logic_error("division32 computes no powers");
  }

  [[nodiscard]] std::size_t chunk_granularity(const manymod::Job& job, std::size_t) const override {
    return std::max<std::size_t>(1, kGranularity / terms_of(job));
  }

  [[nodiscard]] double item_cost_ns(const manymod::Job& job, std::size_t modulus_limbs) const override {
    return host_cost_ns(job, modulus_limbs);
  }

  void run(const manymod::Job& job, Items items, std::size_t modulus_limbs) const override {
    const Range range{job, static_cast<const PreparedDivisor*>(job.shared), modulus_limbs,
                      kLimbBits * modulus_limbs};
    in_chunks(range, items, nullptr, [&](Items some, const std::vector<ModulusClass>&) {
      for (const std::size_t item : some) job.status[item] = ItemStatus::ok;
    });
  }

  [[nodiscard]] std::vector<ModulusClass> run_call(const manymod::Job& job, std::size_t modulus_bits,
                                                   void* stream) const override {
    const auto* const shared = static_cast<const PreparedDivisor*>(job.shared);
    const Range range{job, shared, shared == nullptr ? job.modulus.width : shared->limbs(), modulus_bits};
    const std::unique_ptr<gpu::Stream> own = device().borrow_stream(stream);
    std::vector<ModulusClass> all;
    in_chunks(range, Items::run(0, job.result.count), own.get(),
              [&](Items some, const std::vector<ModulusClass>& kinds) {
                if (kinds.empty()) return;
                all.resize(job.result.count, ModulusClass::compute);
                std::ranges::copy(kinds, all.begin() + static_cast<std::ptrdiff_t>(some.front()));
              });
    return all;
  }

 private:
  const gpu::Backend& backend_;
  unsigned device_index_;
  mutable std::once_flag workspaces_made_;
  mutable std::unique_ptr<gpu::Workspaces> workspaces_;

  // Call this before locking any mutex: it throws in a forked child, where a mutex may stay locked forever.
  [[nodiscard]] gpu::Device& device() const { return backend_.device(device_index_); }

  [[nodiscard]] gpu::Workspaces& workspaces() const {
    std::call_once(workspaces_made_,
                   [this] { workspaces_ = std::make_unique<gpu::Workspaces>(device(), kInFlight); });
    return *workspaces_;
  }

  // In Engine::run a modulus has as many limbs as its bucket, and the plan's moduli at most kMaxLimbs.
  [[nodiscard]] static bool fits(const manymod::Job& job) {
    return job.timing == TimingClass::public_ && widest(job, 1) <= kMaxLimbs && job.x.negative == nullptr &&
           job.y.negative == nullptr && job.z.negative == nullptr && terms_of(job) > 0 &&
           terms_of(job) <= kMostTerms && copied_limbs_of_item(job, 0) <= kMostUploaded / sizeof(Limb);
  }

  // Calls done(items, what RangeRun::finish returned) for each chunk. `stream`: null for the workspace's.
  template <class Done>
  void in_chunks(const Range& range, Items items, const gpu::Stream* stream, const Done& done) const {
    const std::size_t bytes = copied_limbs_of_item(range.call, range.modulus_limbs) * sizeof(Limb);
    division32::in_chunks(range.call.stop, items, items_of_copied_chunk(device(), bytes), [&](Items some) {
      std::vector<ModulusClass> kinds;
      workspaces().lend([&](gpu::Workspace& workspace) {
        RangeRun run(range, some, workspace, stream == nullptr ? workspace.stream() : *stream);
        run.start();
        kinds = run.finish();
      });
      done(some, kinds);
    });
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine(const gpu::Backend& backend, unsigned device_index) {
  return std::make_unique<RowEngine>(backend, device_index);
}

}  // namespace manymod::division32

// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/engine.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "engine/device_facts.hpp"
#include "engine/resident_rows.hpp"
#include "gpu/device_error.hpp"
#include "gpu/engine/workspace.hpp"
#include "modmul/division32/range_run.hpp"

namespace manymod::division32 {
namespace {

constexpr std::size_t kMaxLimbs = kMaxWords / 2;
// Enough to be copied at full speed, and at most 1 / kMemoryParts of the device's memory.
constexpr std::size_t kCopiedBytes = std::size_t{32} << 20;
constexpr std::size_t kMemoryParts = 128;
constexpr std::size_t kGranularity = 4096;  // items of one term
// Of an item's operands that are uploaded, which must be in memory at once.
constexpr std::size_t kMostUploaded = std::size_t{256} << 20;
constexpr std::size_t kMostTerms = kItemsPerLaunch;
// Copies between pageable and page-locked memory take longer than those over the link: more chunks at a time
// than of other engines, whose kernels take longer.
constexpr std::size_t kInFlight = 8;
// The rate, in bytes per nanosecond, at which one thread gathers a chunk's operands and stores its results.
constexpr double kHostBytesPerNs = 5;

class RowEngine final : public Engine, public ResidentRows {
 public:
  RowEngine(const gpu::Backend& backend, unsigned device_index)
      : backend_(backend), device_index_(device_index) {}

  /// Calls on arrays in device memory are computed by run_call.
  [[nodiscard]] bool accepts(const manymod::Job& job, std::size_t) const override {
    return !uses_device_memory(job) && fits(job) && copied_limbs(job, 0) <= kMostUploaded / sizeof(Limb);
  }

  [[nodiscard]] bool accepts_call(const manymod::Job& job) const override {
    return fits(job) && job.modulus.width <= kMaxLimbs && job.modulus.negative == nullptr &&
           copied_limbs(job, 0) <= kMostUploaded / sizeof(Limb);
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

  /// The time of the host: the device and its link are faster.
  [[nodiscard]] double item_cost_ns(const manymod::Job& job, std::size_t modulus_limbs) const override {
    return static_cast<double>(copied_limbs(job, modulus_limbs) * sizeof(Limb)) / kHostBytesPerNs;
  }

  void run(const manymod::Job& job, Items items, std::size_t modulus_limbs) const override {
    const Range range{job, static_cast<const PreparedDivisor*>(job.shared), modulus_limbs,
                      kLimbBits * modulus_limbs};
    in_chunks(range, items, nullptr, [&](Items some, std::vector<ModulusClass>) {
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
           terms_of(job) <= kMostTerms;
  }

  // Of an item: those that are copied between the host and the device.
  [[nodiscard]] static std::size_t copied_limbs(const manymod::Job& job, std::size_t modulus_limbs) {
    const auto copied = [](const BatchView& view, std::size_t limbs) {
      return view.on_device || view.broadcast() ? 0 : limbs;
    };
    return terms_of(job) * (copied(job.x, job.x.width) + copied(job.y, job.y.width)) +
           copied(job.z, job.z.width) + copied(job.modulus, modulus_limbs) +
           (job.result.on_device ? 0 : modulus_limbs);
  }

  [[nodiscard]] static std::size_t items_of_chunk(const gpu::Device& gpu, std::size_t copied_bytes) {
    if (copied_bytes == 0) return kItemsPerLaunch;
    const auto part = static_cast<std::size_t>(gpu.properties().memory_bytes / kMemoryParts);
    return std::clamp<std::size_t>(std::min(kCopiedBytes, part) / copied_bytes, 1, kItemsPerLaunch);
  }

  // Calls done(items, what RangeRun::finish returned) for each chunk. `stream`: null for the workspace's.
  template <class Done>
  void in_chunks(const Range& range, Items items, const gpu::Stream* stream, const Done& done) const {
    gpu::Device& gpu = device();
    std::size_t most = items_of_chunk(gpu, copied_limbs(range.call, range.modulus_limbs) * sizeof(Limb));
    for (std::size_t first = 0; first < items.size();) {
      if (range.call.stop.requested()) return;
      const Items some = items.subspan(first, std::min(most, items.size() - first));
      std::vector<ModulusClass> kinds;
      try {
        workspaces().lend([&](gpu::Workspace& workspace) {
          RangeRun run(range, some, workspace, stream == nullptr ? workspace.stream() : *stream);
          run.start();
          kinds = run.finish();
        });
      } catch (const gpu::DeviceError& error) {
        if (error.fault() != gpu::Fault::out_of_memory || some.size() == 1) throw;
        most = some.size() / 2;
        continue;
      }
      done(some, kinds);
      first += some.size();
    }
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine(const gpu::Backend& backend, unsigned device_index) {
  return std::make_unique<RowEngine>(backend, device_index);
}

}  // namespace manymod::division32

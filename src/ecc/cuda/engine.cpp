// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/engine.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <semaphore>
#include <utility>

#include "dispatch/devices.hpp"
#include "ecc/cuda/chunk.hpp"
#include "ecc/cuda/device_curve.hpp"
#include "ecc/cuda/queue.hpp"
#include "ecc/cuda/row_queue.hpp"
#include "ecc/device_schemes.hpp"
#include "ecc/variants.hpp"
#include "gpu/device_error.hpp"

namespace manymod::ecc::cuda {
namespace {

/// Items of a chunk for each multiprocessor, all of whose threads are busy with half of them.
constexpr std::size_t kChunkItems = 1024;
/// Chunks of a thread in work: one is computed while others are copied.
constexpr std::size_t kChunksInFlight = 3;
/// Chunks of all threads on the GPU. If there were more, all would be computed side by side and be ready at
/// the same time, so that their results would be copied while the GPU is idle.
constexpr std::ptrdiff_t kChunksOnGpu = 8;

using Slots = std::counting_semaphore<kChunksOnGpu>;
/// Gives a slot back that was taken.
struct GiveBack {
  void operator()(Slots* slots) const { slots->release(); }
};
using Slot = std::unique_ptr<Slots, GiveBack>;

/// A chunk in work, and the end of its items.
struct InFlight {
  std::unique_ptr<Chunk> chunk;
  std::size_t end = 0;
  Slot slot;
};
/// Rows of limbs and flags of an item in any of the calls below on numbers.
constexpr std::size_t kMostRows = 16, kMostFlags = 8;

class CudaEngine final : public PointEngine, public DeviceSchemes {
 public:
  CudaEngine(const Curve& curve, gpu::Device& device, const CurveKernels& kernels, unsigned wide_window,
             std::unique_ptr<const PointEngine> host)
      : PointEngine(curve),
        device_(device),
        kernels_(kernels),
        wide_window_(wide_window),
        host_(std::move(host)),
        pool_(device) {}

  [[nodiscard]] const DeviceSchemes* device_schemes() const override {
    return kernels_.for_any_curve() ? nullptr : this;
  }
  [[nodiscard]] const char* variant() const override { return kName; }
  [[nodiscard]] std::size_t granularity() const override {
    return device_.properties().multiprocessors * kChunkItems / 2;
  }
  [[nodiscard]] double item_ns(PointOperation operation) const override;

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                     const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) {
      const Queue queue = queue_of(chunk);
      PointJob job = queue.point_job();
      job.scalar = chunk.upload(k, curve().scalar_limbs());
      on_device().multiply_base(chunk.stream(), job);
      queue.affine(job, results_in(chunk, r));
    };
    const std::size_t done = run(items, timing == TimingClass::secret, stop, start);
    if (done < items.end) host_->multiply_base(r, k, {done, items.end}, timing, stop);
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass timing, const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) {
      const Queue queue = queue_of(chunk);
      PointJob job = queue.point_job();
      job.scalar = chunk.upload(k, curve().scalar_limbs());
      upload_points(job, chunk, points);
      on_device().multiply(chunk.stream(), job);
      queue.affine(job, results_in(chunk, r));
    };
    const std::size_t done = run(items, timing == TimingClass::secret, stop, start);
    if (done < items.end) host_->multiply(r, k, points, {done, items.end}, timing, stop);
  }

  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) {
      const Queue queue = queue_of(chunk);
      PointJob job = queue.point_job();
      job.scalar = chunk.upload(v, curve().scalar_limbs());
      job.base_scalar = chunk.upload(u, curve().scalar_limbs());
      upload_points(job, chunk, points);
      on_device().multiply_two(chunk.stream(), job);
      queue.affine(job, results_in(chunk, r));
    };
    const std::size_t done = run(items, false, stop, start);
    if (done < items.end) host_->multiply_two(r, u, v, points, {done, items.end}, stop);
  }

  void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
              const StopToken& stop) const override {
    if (bits != kLadderBits) return host_->ladder(r, k, u, bits, items, stop);
    const auto start = [&](Chunk& chunk) {
      const Queue queue = queue_of(chunk);
      PointJob job = queue.point_job();
      job.scalar = chunk.upload(k, limbs());
      job.x = chunk.upload(u, limbs());
      on_device().ladder(chunk.stream(), job);
      queue.affine(job, results_in(chunk, {r, nullptr, nullptr}));
    };
    const std::size_t done = run(items, true, stop, start);
    if (done < items.end) host_->ladder(r, k, u, bits, {done, items.end}, stop);
  }

  void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const override {
    host_->add(r, p, q, items);
  }
  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override {
    host_->lift(r, found, given, odd, items);
  }
  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override {
    if (curve().form != MM_ECC_WEIERSTRASS) return host_->check(valid, points, items);
    const auto start = [&](Chunk& chunk) {
      PointJob job;
      job.count = chunk.count();
      upload_points(job, chunk, points);
      job.valid = chunk.result(valid);
      chunk.stream().set_bytes(job.valid, 1, job.count);
      on_device().check(chunk.stream(), job);
    };
    const std::size_t done = run(items, false, {}, start);
    for (std::size_t i = items.begin; i < done && points.infinity != nullptr; ++i) {
      if (points.infinity[i] != 0) valid[i] = 1;
    }
    if (done < items.end) host_->check(valid, points, {done, items.end});
  }
  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override {
    host_->sum(r, k, points, items, stop);
  }

  // ---- schemes --------------------------------------------------------------------------------------------

  [[nodiscard]] bool has_deterministic_nonces() const override { return kernels_.has_nonces; }

  [[nodiscard]] bool sign(const EcdsaSigning& batch, ItemRange items, const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) { queue_signing(chunk, batch); };
    return run(items, true, stop, start) == items.end || stop.was_requested();
  }
  [[nodiscard]] bool verify(const EcdsaVerification& batch, ItemRange items,
                            const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) { queue_verification(chunk, batch); };
    return run(items, false, stop, start) == items.end || stop.was_requested();
  }

  [[nodiscard]] bool offers(const RowCall& call) const override { return RowQueue::offers(kernels_, call); }
  void run(const RowCall& call, ItemRange items, const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) { RowQueue(on_device(), curve(), chunk).queue(call); };
    const std::size_t end = run(items, RowQueue::bytes(curve(), call), call.is_secret(), stop, start);
    std::fill(call.done + end, call.done + items.end, std::uint8_t{0});
  }

 private:
  gpu::Device& device_;
  const CurveKernels& kernels_;
  unsigned wide_window_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const DeviceCurve> on_device_;
  std::unique_ptr<const PointEngine> host_;
  mutable ChunkPool pool_;
  mutable Slots slots_{kChunksOnGpu};

  [[nodiscard]] std::size_t limbs() const { return curve().limbs(); }

  /// The tables take long to compute for calls that never use them: they are made for the first one that
  /// does.
  /// @throws gpu::DeviceError
  [[nodiscard]] const DeviceCurve& on_device() const {
    std::call_once(made_, [this] {
      on_device_ = std::make_unique<const DeviceCurve>(device_, curve(), kernels_, wide_window_,
                                                       static_cast<unsigned>(kChunksOnGpu));
    });
    return *on_device_;
  }

  /// Computes chunks, of which start(chunk) enqueues the work. Returns the first item that was not computed:
  /// items.end; or where the GPU failed or `stop` was requested, an earlier one.
  template <class Start>
  std::size_t run(ItemRange items, bool secret, const StopToken& stop, const Start& start) const {
    const std::size_t bytes = kMostRows * limbs() * sizeof(Limb) + kMostFlags;
    return run(items, {bytes, bytes}, secret, stop, start);
  }
  template <class Start>
  std::size_t run(ItemRange items, const ItemBytes& bytes, bool secret, const StopToken& stop,
                  const Start& start) const {
    std::deque<InFlight> chunks;
    const std::size_t most = device_.properties().multiprocessors * kChunkItems;
    std::size_t done = items.begin, next = items.begin;
    try {
      while (!chunks.empty() || (next < items.end && !stop.was_requested())) {
        const bool more = next < items.end && !stop.was_requested() && chunks.size() < kChunksInFlight;
        if (Slot slot = more ? take_slot(chunks.empty()) : nullptr) {
          const std::size_t end = std::min(items.end, next + most);
          Chunk& chunk = *chunks.emplace_back(InFlight{pool_.take(), end, std::move(slot)}).chunk;
          chunk.begin(next, static_cast<std::uint32_t>(end - next), bytes);
          start(chunk);
          chunk.queue_results();
          next = end;
        } else {
          InFlight one = std::move(chunks.front());
          chunks.pop_front();
          one.chunk->wait(secret);
          one.slot.reset();
          one.chunk->store_results(secret);
          done = one.end;
          pool_.give(std::move(one.chunk));
        }
      }
    } catch (const gpu::DeviceError&) {
      // Chunks in work are abandoned: their memory is freed, and zeroed, when the stream is done with it.
    }
    return done;
  }

  /// A slot, null if none is free. `waits`: until one is, which only threads without one may do.
  [[nodiscard]] Slot take_slot(bool waits) const {
    if (!waits) return Slot(slots_.try_acquire() ? &slots_ : nullptr);
    slots_.acquire();
    return Slot(&slots_);
  }

  [[nodiscard]] Queue queue_of(Chunk& chunk) const { return {on_device(), chunk, limbs()}; }
  [[nodiscard]] AffineRows results_in(Chunk& chunk, const PointResults& r) const {
    AffineRows to;
    to.x = chunk.result(r.x, limbs());
    if (r.y != nullptr) to.y = chunk.result(r.y, limbs());
    if (r.infinity != nullptr) to.infinity = chunk.result(r.infinity);
    return to;
  }
  void upload_points(PointJob& job, Chunk& chunk, const PointRows& points) const {
    job.x = chunk.upload(points.x, limbs());
    job.y = chunk.upload(points.y, limbs());
  }

  void queue_signing(Chunk& chunk, const EcdsaSigning& batch) const {
    SignJob job;
    job.secret = chunk.upload(batch.secret, limbs());
    job.digest = chunk.upload(batch.digest, limbs());
    job.valid = chunk.result(batch.done);
    chunk.stream().set_bytes(job.valid, 1, chunk.count());
    if (batch.nonce.data != nullptr) job.nonce = chunk.upload(batch.nonce, limbs());
    job.r = chunk.result(batch.r, limbs());
    job.s = chunk.result(batch.s, limbs());
    job.recovery = chunk.result(batch.recovery);
    job.low_s = batch.low_s ? 1 : 0;
    queue_of(chunk).sign(job);
  }

  void queue_verification(Chunk& chunk, const EcdsaVerification& batch) const {
    VerifyScalarsJob job;
    job.digest = chunk.upload(batch.digest, limbs());
    job.r = chunk.upload(batch.r, limbs());
    job.s = chunk.upload(batch.s, limbs());
    job.valid = chunk.result(batch.valid);
    job.low_s = batch.low_s ? 1 : 0;
    PointJob point;
    point.count = chunk.count();
    upload_points(point, chunk, batch.keys);
    point.valid = chunk.result(nullptr);
    chunk.stream().set_bytes(point.valid, 1, point.count);
    on_device().check(chunk.stream(), point);
    queue_of(chunk).verify(job, point.x, point.y, point.valid);
  }
};

/// Of kernels for any curve, estimated by the products of k P: 5000 at the rate of 61 G/s, and sums.
constexpr double kAnyItemNs = 150;

/// Measured on an H100 for 256 bits; wider fields take about the cube of their length.
double CudaEngine::item_ns(PointOperation operation) const {
  const double wide = static_cast<double>(curve().field_bits) / 256;
  const double scale = wide * wide * wide;
  switch (operation) {
    case PointOperation::multiply_base:
      return (kernels_.for_any_curve() ? kAnyItemNs : 8) * scale;
    case PointOperation::multiply:
    case PointOperation::multiply_two:
    case PointOperation::ladder:
      return (kernels_.for_any_curve() ? kAnyItemNs : 45) * scale;
    case PointOperation::check:
      return curve().form == MM_ECC_WEIERSTRASS ? 2 * scale : host_->item_ns(operation);
    default:
      return host_->item_ns(operation);
  }
}

bool runs_here() {
  const auto usable = [](const Device& device) {
    return device.backend == Backend::cuda && device.obstacle.empty();
  };
  return gpu_support(Backend::cuda).built && std::ranges::any_of(devices_for("cuda"), usable);
}

bool offers(const Curve& curve) { return find_curve_kernels(curve) != nullptr; }

/// The fastest engine of the processor, for what the kernels do not have.
std::unique_ptr<const PointEngine> make_host(const Curve& curve) {
  const auto fits = [&curve](const Variant& variant) {
    return !variant.on_gpu && variant.offers(curve) && variant.runs_here();
  };
  return std::ranges::find_if(variants(), fits)->make(curve, 0);
}

std::unique_ptr<const PointEngine> make(const Curve& curve, unsigned gpu) {
  return make_engine(curve, gpu_device(Backend::cuda, gpu), make_host(curve));
}

}  // namespace

Variant variant() { return {kName, true, runs_here, offers, make}; }

std::unique_ptr<const PointEngine> make_engine(const Curve& curve, gpu::Device& device,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window) {
  return std::make_unique<CudaEngine>(curve, device, *find_curve_kernels(curve), wide_window,
                                      std::move(host));
}

}  // namespace manymod::ecc::cuda

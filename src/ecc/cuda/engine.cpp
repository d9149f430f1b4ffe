// SPDX-License-Identifier: Apache-2.0
#include "ecc/cuda/engine.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "dispatch/devices.hpp"
#include "ecc/cuda/chunk.hpp"
#include "ecc/cuda/device_curve.hpp"
#include "ecc/device_schemes.hpp"
#include "ecc/variants.hpp"
#include "gpu/device_error.hpp"

namespace manymod::ecc::cuda {
namespace {

/// Items of a chunk for each multiprocessor, all of whose threads are busy with half of them.
constexpr std::size_t kChunkItems = 1024;
/// Chunks of a call in work: one is computed while others are copied.
constexpr std::size_t kChunksInFlight = 3;
/// Rows of limbs and flags of an item in any of the calls below.
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
    return curve().form == MM_ECC_WEIERSTRASS ? this : nullptr;
  }
  [[nodiscard]] const char* variant() const override { return kName; }
  [[nodiscard]] std::size_t granularity() const override {
    return device_.properties().multiprocessors * kChunkItems / 2;
  }
  [[nodiscard]] double item_ns(PointOperation operation) const override;

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                     const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) {
      PointJob job = point_job(chunk);
      job.scalar = chunk.upload(k, limbs());
      on_device().multiply_base(chunk.stream(), job);
      queue_affine(chunk, job, r);
    };
    const std::size_t done = run(items, timing == TimingClass::secret, stop, start);
    if (done < items.end) host_->multiply_base(r, k, {done, items.end}, timing, stop);
  }

  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass timing, const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) {
      PointJob job = point_job(chunk);
      job.scalar = chunk.upload(k, limbs());
      upload_points(job, chunk, points);
      on_device().multiply(chunk.stream(), job);
      queue_affine(chunk, job, r);
    };
    const std::size_t done = run(items, timing == TimingClass::secret, stop, start);
    if (done < items.end) host_->multiply(r, k, points, {done, items.end}, timing, stop);
  }

  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override {
    const auto start = [&](Chunk& chunk) {
      PointJob job = point_job(chunk);
      job.scalar = chunk.upload(v, limbs());
      job.base_scalar = chunk.upload(u, limbs());
      upload_points(job, chunk, points);
      on_device().multiply_two(chunk.stream(), job);
      queue_affine(chunk, job, r);
    };
    const std::size_t done = run(items, false, stop, start);
    if (done < items.end) host_->multiply_two(r, u, v, points, {done, items.end}, stop);
  }

  void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
              const StopToken& stop) const override {
    if (bits != kLadderBits) return host_->ladder(r, k, u, bits, items, stop);
    const auto start = [&](Chunk& chunk) {
      PointJob job = point_job(chunk);
      job.scalar = chunk.upload(k, limbs());
      job.x = chunk.upload(u, limbs());
      on_device().ladder(chunk.stream(), job);
      queue_affine(chunk, job, {r, nullptr, nullptr});
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

 private:
  gpu::Device& device_;
  const CurveKernels& kernels_;
  unsigned wide_window_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const DeviceCurve> on_device_;
  std::unique_ptr<const PointEngine> host_;
  mutable ChunkPool pool_;

  [[nodiscard]] std::size_t limbs() const { return curve().limbs(); }

  /// The tables take long to compute for calls that never use them: they are made for the first one that
  /// does.
  /// @throws gpu::DeviceError
  [[nodiscard]] const DeviceCurve& on_device() const {
    std::call_once(made_, [this] {
      on_device_ = std::make_unique<const DeviceCurve>(device_, curve(), kernels_, wide_window_);
    });
    return *on_device_;
  }

  /// Computes chunks, of which start(chunk) enqueues the work. Returns the first item that was not computed:
  /// items.end; or where the GPU failed or `stop` was requested, an earlier one.
  template <class Start>
  std::size_t run(ItemRange items, bool secret, const StopToken& stop, const Start& start) const {
    std::array<std::unique_ptr<Chunk>, kChunksInFlight> chunks;
    std::array<std::size_t, kChunksInFlight> ends{};
    const std::size_t most = device_.properties().multiprocessors * kChunkItems;
    const std::size_t bytes = kMostRows * limbs() * sizeof(Limb) + kMostFlags;
    std::size_t done = items.begin, next = items.begin, started = 0, finished = 0;
    try {
      while (finished < started || (next < items.end && !stop.was_requested())) {
        if (next < items.end && started - finished < kChunksInFlight && !stop.was_requested()) {
          auto& chunk = chunks[started % kChunksInFlight];
          if (chunk == nullptr) chunk = pool_.take();
          const std::size_t count = std::min(most, items.end - next);
          chunk->begin(next, static_cast<std::uint32_t>(count), bytes);
          start(*chunk);
          chunk->queue_results();
          next += count;
          ends[started++ % kChunksInFlight] = next;
        } else {
          chunks[finished % kChunksInFlight]->finish(secret);
          done = ends[finished++ % kChunksInFlight];
        }
      }
    } catch (const gpu::DeviceError&) {
      // Chunks in work are abandoned: their memory is freed, and zeroed, when the stream is done with it.
      return done;
    }
    for (auto& chunk : chunks) {
      if (chunk != nullptr) pool_.give(std::move(chunk));
    }
    return done;
  }

  [[nodiscard]] PointJob point_job(Chunk& chunk) const {
    PointJob job;
    job.count = chunk.count();
    job.result = chunk.room<std::uint32_t>(3 * limbs() * sizeof(Limb));
    return job;
  }
  void upload_points(PointJob& job, Chunk& chunk, const PointRows& points) const {
    job.x = chunk.upload(points.x, limbs());
    job.y = chunk.upload(points.y, limbs());
  }
  /// The affine forms of a job's points.
  AffineJob queue_affine(Chunk& chunk, const PointJob& job, const PointResults& r) const {
    AffineJob affine;
    affine.count = job.count;
    affine.point = job.result;
    affine.scratch = chunk.room<std::uint32_t>(limbs() * sizeof(Limb));
    affine.x = chunk.result(r.x, limbs());
    if (r.y != nullptr) affine.y = chunk.result(r.y, limbs());
    if (r.infinity != nullptr) affine.infinity = chunk.result(r.infinity);
    on_device().affine(chunk.stream(), affine);
    return affine;
  }

  void queue_signing(Chunk& chunk, const EcdsaSigning& batch) const {
    const gpu::Stream& stream = chunk.stream();
    SignJob job;
    job.count = chunk.count();
    job.secret = chunk.upload(batch.secret, limbs());
    job.digest = chunk.upload(batch.digest, limbs());
    job.valid = chunk.result(batch.done);
    if (batch.nonce.data != nullptr) {
      job.nonce = chunk.upload(batch.nonce, limbs());
      stream.set_bytes(job.valid, 1, job.count);
    } else {
      const RowsOut nonce = chunk.result(nullptr, limbs());
      on_device().nonces(stream, {{}, job.count, job.secret, job.digest, nonce, job.valid});
      job.nonce = {nonce.words, nonce.stride};
    }
    PointJob point = point_job(chunk);
    point.scalar = job.nonce;
    on_device().multiply_base(stream, point);
    AffineJob affine;
    affine.count = point.count;
    affine.point = point.result;
    affine.scratch = job.scratch = chunk.room<std::uint32_t>(2 * limbs() * sizeof(Limb));
    affine.x = chunk.result(nullptr, limbs());
    affine.y = chunk.result(nullptr, limbs());
    on_device().affine(stream, affine);
    job.x = {affine.x.words, affine.x.stride};
    job.y = {affine.y.words, affine.y.stride};
    job.r = chunk.result(batch.r, limbs());
    job.s = chunk.result(batch.s, limbs());
    job.recovery = chunk.result(batch.recovery);
    job.low_s = batch.low_s ? 1 : 0;
    on_device().sign(stream, job);
  }

  void queue_verification(Chunk& chunk, const EcdsaVerification& batch) const {
    const gpu::Stream& stream = chunk.stream();
    VerifyScalarsJob job;
    job.count = chunk.count();
    job.digest = chunk.upload(batch.digest, limbs());
    job.r = chunk.upload(batch.r, limbs());
    job.s = chunk.upload(batch.s, limbs());
    job.scratch = chunk.room<std::uint32_t>(2 * limbs() * sizeof(Limb));
    job.u = chunk.result(nullptr, limbs());
    job.v = chunk.result(nullptr, limbs());
    job.valid = chunk.result(batch.valid);
    job.low_s = batch.low_s ? 1 : 0;
    on_device().verification_scalars(stream, job);
    PointJob point = point_job(chunk);
    upload_points(point, chunk, batch.keys);
    point.valid = chunk.result(nullptr);
    point.scalar = {job.v.words, job.v.stride};
    point.base_scalar = {job.u.words, job.u.stride};
    on_device().check(stream, point);
    on_device().multiply_two(stream, point);
    on_device().compare(stream, {{}, job.count, point.result, job.r, point.valid, job.valid});
  }
};

/// Measured on an H100 for 256 bits; wider fields take about the cube of their length.
double CudaEngine::item_ns(PointOperation operation) const {
  const double wide = static_cast<double>(curve().field_bits) / 256;
  const double scale = wide * wide * wide;
  switch (operation) {
    case PointOperation::multiply_base:
      return 8 * scale;
    case PointOperation::multiply:
    case PointOperation::multiply_two:
    case PointOperation::ladder:
      return 45 * scale;
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
  return gpu_support(Backend::cuda).built && std::ranges::any_of(devices(), usable);
}

bool offers(const Curve& curve) { return find_curve_kernels(curve.id) != nullptr; }

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
  return std::make_unique<CudaEngine>(curve, device, *find_curve_kernels(curve.id), wide_window,
                                      std::move(host));
}

}  // namespace manymod::ecc::cuda

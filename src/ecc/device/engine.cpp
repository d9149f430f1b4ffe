// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/engine.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "core/status_error.hpp"
#include "dispatch/devices.hpp"
#include "ecc/device/gpu_engine.hpp"
#include "ecc/device/row_queue.hpp"
#include "ecc/variants.hpp"

namespace manymod::ecc::device {
namespace {

/// Rows of limbs and flags of an item in any of the calls below on numbers.
constexpr std::size_t kMostRows = 16, kMostFlags = 8;

GpuGroup group_of(Backend backend, std::span<gpu::Device* const> devices) {
  std::vector<GpuMember> members;
  for (const gpu::Device* const device : devices) {
    members.push_back(
        {std::max(1U, device->properties().multiprocessors), &gpu_load(backend, device->index())});
  }
  return GpuGroup(std::move(members));
}

/// Public keys and signatures are public results of secret operands; a shared secret is secret itself.
Secrecy secrecy_of(const RowCall& call) {
  if (!call.is_secret()) return Secrecy::none;
  return call.operation == RowOperation::exchange ? Secrecy::all : Secrecy::operands;
}

/// The point operation that takes most of the time.
PointOperation main_operation(RowOperation operation, const Curve& curve) {
  if (curve.form == MM_ECC_MONTGOMERY) return PointOperation::ladder;
  switch (operation) {
    case RowOperation::exchange:
      return PointOperation::multiply;
    case RowOperation::verify:
    case RowOperation::recover:
      return PointOperation::multiply_two;
    case RowOperation::add:
      return PointOperation::add;
    case RowOperation::sum:
      return PointOperation::sum;
    case RowOperation::public_key:
    case RowOperation::sign:
      break;
  }
  return PointOperation::multiply_base;
}

}  // namespace

GpuEngine::GpuEngine(const EngineKind& kind, const Curve& curve, std::span<gpu::Device* const> devices,
                     CurveKernels kernels, unsigned wide_window, std::unique_ptr<const PointEngine> host)
    : PointEngine(curve),
      kind_(kind),
      kernels_(std::move(kernels)),
      host_(std::move(host)),
      group_(group_of(kind.backend, devices)),
      group_of_sums_(group_of(kind.backend, devices)) {
  for (gpu::Device* const device : devices) {
    workers_.push_back(std::make_unique<const Worker>(*device, curve, kernels_, wide_window));
  }
}

void GpuEngine::check_usable() const {
  std::exception_ptr first;
  for (const std::unique_ptr<const Worker>& worker : workers_) {
    try {
      return worker->check_usable();
    } catch (const StatusError&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  std::rethrow_exception(first);
}

/// On curves with a cofactor, sums of two points may be secret (PointEngine::add), so that the host computes
/// them. Kernels of whole schemes add the points of public calls alone.
bool GpuEngine::has_kernels(PointOperation operation) const {
  switch (operation) {
    case PointOperation::add:
    case PointOperation::sum:
      if (curve().form == MM_ECC_MONTGOMERY) return false;
      if (!kernels_.points_only) return device_schemes() != nullptr;
      return operation == PointOperation::sum || curve().has_cofactor_one();
    case PointOperation::lift:
      return decodes(kernels_, curve());
    case PointOperation::check:
      return curve().form == MM_ECC_WEIERSTRASS;
    default:
      return true;
  }
}

bool GpuEngine::computes(PointOperation operation) const {
  if (!has_kernels(operation)) return false;
  for (std::size_t gpu = 0; gpu < workers_.size(); ++gpu) {
    if (obstacle(gpu, operation).empty()) return true;
  }
  return false;
}

void GpuEngine::multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                              const StopToken& stop) const {
  if (curve().form == MM_ECC_MONTGOMERY) {
    return ladder(r.x, k, {curve().x.data(), 0}, ladder_bits(), items, stop);
  }
  const std::size_t done =
      run(PointOperation::multiply_base, items, timing == TimingClass::secret, stop, base_work(r, k));
  if (done < items.end) host_->multiply_base(r, k, {done, items.end}, timing, stop);
}

void GpuEngine::multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                         TimingClass timing, const StopToken& stop) const {
  const std::size_t done =
      run(PointOperation::multiply, items, timing == TimingClass::secret, stop, multiply_work(r, k, points));
  if (done < items.end) host_->multiply(r, k, points, {done, items.end}, timing, stop);
}

void GpuEngine::multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v,
                             const PointRows& points, ItemRange items, const StopToken& stop) const {
  const std::size_t done = run(PointOperation::multiply_two, items, false, stop, two_work(r, u, v, points));
  if (done < items.end) host_->multiply_two(r, u, v, points, {done, items.end}, stop);
}

void GpuEngine::ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
                       const StopToken& stop) const {
  if (bits != ladder_bits()) return host_->ladder(r, k, u, bits, items, stop);
  const std::size_t done = run(PointOperation::ladder, items, true, stop, ladder_work(r, k, u));
  if (done < items.end) host_->ladder(r, k, u, bits, {done, items.end}, stop);
}

void GpuEngine::lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
                     ItemRange items) const {
  if (!has_kernels(PointOperation::lift)) return host_->lift(r, found, given, odd, items);
  std::vector<Limb> parity(items.end);
  // On Edwards curves the kernels return the opposite of the encoded point, so that the parity is inverted.
  const Limb flips = curve().form == MM_ECC_EDWARDS ? 1 : 0;
  for (std::size_t i = items.begin; i < items.end; ++i) parity[i] = odd[i] ^ flips;
  const auto start = [&](Chunk& chunk, const Turn& turn) {
    const Rows coordinate = chunk.upload(given, limbs());
    const Rows parities = chunk.upload(NumberRows{parity.data(), 1}, 1);
    RowQueue::Operands operands;
    operands.good = chunk.result(found);
    const DeviceCurve& on_device = turn();
    chunk.stream().set_bytes(operands.good, 1, chunk.count());
    RowQueue(on_device, curve(), chunk, operands).lift(coordinate, parities, chunk.result(r, limbs()));
  };
  const std::size_t done = run(PointOperation::lift, items, false, {}, start);
  for (std::size_t i = items.begin; i < done; ++i) {
    if (found[i] == 0) std::fill_n(r + i * limbs(), limbs(), Limb{0});
  }
  if (done < items.end) host_->lift(r, found, given, odd, {done, items.end});
}

void GpuEngine::check(std::uint8_t* valid, const PointRows& points, ItemRange items) const {
  if (!has_kernels(PointOperation::check)) return host_->check(valid, points, items);
  const std::size_t done = run(PointOperation::check, items, false, {}, check_work(valid, points));
  for (std::size_t i = items.begin; i < done && points.infinity != nullptr; ++i) {
    if (points.infinity[i] != 0) valid[i] = 1;
  }
  if (done < items.end) host_->check(valid, points, {done, items.end});
}

bool GpuEngine::sign(const EcdsaSigning& batch, ItemRange items, const StopToken& stop) const {
  const auto start = [&](Chunk& chunk, const Turn& turn) { queue_signing(chunk, turn, batch); };
  return run(PointOperation::multiply_base, items, true, stop, start) == items.end || stop.was_requested();
}

bool GpuEngine::verify(const EcdsaVerification& batch, ItemRange items, const StopToken& stop) const {
  const auto start = [&](Chunk& chunk, const Turn& turn) { queue_verification(chunk, turn, batch); };
  return run(PointOperation::multiply_two, items, false, stop, start) == items.end || stop.was_requested();
}

bool GpuEngine::offers(const RowCall& call) const { return RowQueue::offers(kernels_, curve(), call); }

void GpuEngine::run(const RowCall& call, ItemRange items, const StopToken& stop) const {
  if (call.operation == RowOperation::sum) return add_up(call, items, stop);
  const auto start = [&](Chunk& chunk, const Turn& turn) {
    const RowQueue::Operands operands = RowQueue::upload(call, chunk);
    RowQueue(turn(), curve(), chunk, operands).queue(call);
  };
  const std::size_t end = run(main_operation(call.operation, curve()), items,
                              {RowQueue::bytes(curve(), call), secrecy_of(call), start}, stop);
  std::fill(call.done + end, call.done + items.end, std::uint8_t{0});
}

// Functions that enqueue the work for the items of a chunk.

void GpuEngine::queue_multiples(Chunk& chunk, const DeviceCurve& on_device, Multiply compute, PointJob& job,
                                const PointResults& r) const {
  const Queue queue(on_device, chunk, limbs());
  queue.make_room(job);
  (on_device.*compute)(chunk.stream(), job);
  queue.affine(job, results_in(chunk, r));
}

GpuEngine::Start GpuEngine::base_work(const PointResults& r, const NumberRows& k) const {
  return [this, r, k](Chunk& chunk, const Turn& turn) {
    PointJob job;
    job.scalar = chunk.upload(k, curve().scalar_limbs());
    queue_multiples(chunk, turn(), &DeviceCurve::multiply_base, job, r);
  };
}

GpuEngine::Start GpuEngine::multiply_work(const PointResults& r, const NumberRows& k,
                                          const PointRows& points) const {
  return [this, r, k, points](Chunk& chunk, const Turn& turn) {
    PointJob job;
    job.scalar = chunk.upload(k, curve().scalar_limbs());
    upload_points(job, chunk, points);
    queue_multiples(chunk, turn(), &DeviceCurve::multiply, job, r);
  };
}

GpuEngine::Start GpuEngine::two_work(const PointResults& r, const NumberRows& u, const NumberRows& v,
                                     const PointRows& points) const {
  return [this, r, u, v, points](Chunk& chunk, const Turn& turn) {
    PointJob job;
    job.scalar = chunk.upload(v, curve().scalar_limbs());
    job.base_scalar = chunk.upload(u, curve().scalar_limbs());
    upload_points(job, chunk, points);
    queue_multiples(chunk, turn(), &DeviceCurve::multiply_two, job, r);
  };
}

GpuEngine::Start GpuEngine::ladder_work(Limb* r, const NumberRows& k, const NumberRows& u) const {
  return [this, r, k, u](Chunk& chunk, const Turn& turn) {
    PointJob job;
    job.scalar = chunk.upload(k, limbs());
    job.x = chunk.upload(u, limbs());
    queue_multiples(chunk, turn(), &DeviceCurve::ladder, job, {r, nullptr, nullptr});
  };
}

GpuEngine::Start GpuEngine::check_work(std::uint8_t* valid, const PointRows& points) const {
  return [this, valid, points](Chunk& chunk, const Turn& turn) {
    PointJob job;
    job.count = chunk.count();
    upload_points(job, chunk, points);
    const DeviceCurve& on_device = turn();
    job.valid = chunk.result(valid);
    chunk.stream().set_bytes(job.valid, 1, job.count);
    on_device.check(chunk.stream(), job);
  };
}

AffineRows GpuEngine::results_in(Chunk& chunk, const PointResults& r) const {
  AffineRows to;
  to.x = chunk.result(r.x, limbs());
  if (r.y != nullptr) to.y = chunk.result(r.y, limbs());
  if (r.infinity != nullptr) to.infinity = chunk.result(r.infinity);
  return to;
}

void GpuEngine::upload_points(PointJob& job, Chunk& chunk, const PointRows& points) const {
  job.x = chunk.upload(points.x, limbs());
  job.y = chunk.upload(points.y, limbs());
}

void GpuEngine::queue_signing(Chunk& chunk, const Turn& turn, const EcdsaSigning& batch) const {
  SignJob job;
  job.secret = chunk.upload(batch.secret, limbs());
  job.digest = chunk.upload(batch.digest, limbs());
  if (batch.nonce.data != nullptr) job.nonce = chunk.upload(batch.nonce, limbs());
  const DeviceCurve& on_device = turn();
  job.valid = chunk.result(batch.done);
  chunk.stream().set_bytes(job.valid, 1, chunk.count());
  job.r = chunk.result(batch.r, limbs());
  job.s = chunk.result(batch.s, limbs());
  job.recovery = chunk.result(batch.recovery);
  job.low_s = batch.low_s ? 1 : 0;
  Queue(on_device, chunk, limbs()).sign(job);
}

void GpuEngine::queue_verification(Chunk& chunk, const Turn& turn, const EcdsaVerification& batch) const {
  VerifyScalarsJob job;
  job.digest = chunk.upload(batch.digest, limbs());
  job.r = chunk.upload(batch.r, limbs());
  job.s = chunk.upload(batch.s, limbs());
  PointJob point;
  point.count = chunk.count();
  upload_points(point, chunk, batch.keys);
  const DeviceCurve& on_device = turn();
  job.valid = chunk.result(batch.valid);
  job.low_s = batch.low_s ? 1 : 0;
  point.valid = chunk.result(nullptr);
  chunk.stream().set_bytes(point.valid, 1, point.count);
  on_device.check(chunk.stream(), point);
  Queue(on_device, chunk, limbs()).verify(job, point.x, point.y, point.valid);
}

std::size_t GpuEngine::run(PointOperation operation, ItemRange items, const ChunkedWork& work,
                           const StopToken& stop) const {
  std::size_t done = items.begin;
  if (work.secrecy != Secrecy::none && !takes_secrets()) return done;
  const GpuGroup& group = is_addition(operation) ? group_of_sums_ : group_;
  // A failure is no error: the caller computes the rest.
  static_cast<void>(group.run(static_cast<double>(items.size()) * item_ns(operation), [&](std::size_t gpu) {
    if (kind_.tested != nullptr) test(gpu, operation);
    workers_[gpu]->run(done, items.end, work, stop);
  }));
  return done;
}

ChunkedWork GpuEngine::chunked(bool secret, Start start) const {
  const std::size_t row = std::max(limbs() * sizeof(Limb), kernels_.words * sizeof(std::uint32_t));
  const std::size_t bytes = kMostRows * row + kMostFlags;
  return {{bytes, bytes}, secret ? Secrecy::all : Secrecy::none, std::move(start)};
}

/// Nanoseconds for an item of the kernels for any curve: k P (estimated: 5000 products at 61 G/s, and sums)
/// and k G with its affine form (measured).
constexpr double kAnyItemNs = 150, kAnyBaseNs = 12;
/// Nanoseconds of a square root (estimated: 254 squarings, 80 products) and of a check that a point is on the
/// curve.
constexpr double kRootNs = 6, kCheckNs = 2;
/// Nanoseconds of a sum of two points with both checks, and of one term of a sum of many.
constexpr double kAddNs = 6, kTermNs = 15;

/// Measured on an H100 for 256 bits. The time grows with about the cube of the field's length; for kernels
/// for any curve, of the length that they are compiled for.
double GpuEngine::item_ns(PointOperation operation) const {
  if (!computes(operation)) return host_->item_ns(operation);
  const std::size_t bits = kernels_.for_any_curve() ? 32 * std::size_t{kernels_.words} : curve().field_bits;
  const double wide = static_cast<double>(bits) / 256;
  const double scale = wide * wide * wide;
  switch (operation) {
    case PointOperation::multiply_base:
      if (curve().form != MM_ECC_MONTGOMERY) return (kernels_.for_any_curve() ? kAnyBaseNs : 8) * scale;
      [[fallthrough]];
    case PointOperation::multiply:
    case PointOperation::multiply_two:
    case PointOperation::ladder:
      return (kernels_.for_any_curve() ? kAnyItemNs : 45) * scale;
    case PointOperation::check:
      return kCheckNs * scale;
    case PointOperation::lift:
      return kRootNs * scale;
    case PointOperation::add:
      return kAddNs * scale;
    case PointOperation::sum:
      break;
  }
  return kTermNs * scale;
}

std::unique_ptr<const PointEngine> make_engine(const EngineKind& kind, const Curve& curve,
                                               std::span<gpu::Device* const> devices, CurveKernels kernels,
                                               std::unique_ptr<const PointEngine> host,
                                               unsigned wide_window) {
  return std::make_unique<GpuEngine>(kind, curve, devices, std::move(kernels), wide_window, std::move(host));
}

}  // namespace manymod::ecc::device

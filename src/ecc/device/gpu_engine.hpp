// SPDX-License-Identifier: Apache-2.0
// The class of the engines that engine.hpp makes. Its functions are defined in engine.cpp, those for sums in
// engine_sums.cpp, and those that test kernels before their first use in engine_answers.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ecc/device/chunk.hpp"
#include "ecc/device/device_curve.hpp"
#include "ecc/device/engine.hpp"
#include "ecc/device/power_sums.hpp"
#include "ecc/device/queue.hpp"
#include "ecc/device/worker.hpp"
#include "ecc/device_schemes.hpp"
#include "exec/gpu_group.hpp"

namespace manymod::ecc::device {

/// Whether the operation only adds points. If its kernels fail their test, the others stay in use, and the
/// host, which is nearly as fast at this, adds points instead.
constexpr bool is_addition(PointOperation operation) {
  return operation == PointOperation::add || operation == PointOperation::sum;
}

class GpuEngine final : public PointEngine, public DeviceSchemes {
 public:
  GpuEngine(const EngineKind& kind, const Curve& curve, std::span<gpu::Device* const> devices,
            CurveKernels kernels, unsigned wide_window, std::unique_ptr<const PointEngine> host);

  [[nodiscard]] const DeviceSchemes* device_schemes() const override {
    return has_schemes(kernels_, curve()) ? this : nullptr;
  }
  [[nodiscard]] const char* variant() const override { return kind_.variant; }
  [[nodiscard]] std::size_t granularity() const override {
    return workers_[group_.first_working()]->granularity();
  }
  [[nodiscard]] std::size_t least_chunk() const override { return granularity() / kind_.granule_parts; }
  [[nodiscard]] unsigned gpus() const override { return static_cast<unsigned>(workers_.size()); }
  [[nodiscard]] const PointEngine* host() const override { return host_.get(); }
  [[nodiscard]] bool takes_secrets() const override { return kind_.takes_secrets; }
  [[nodiscard]] bool computes(PointOperation operation) const override;
  void check_usable() const override;
  [[nodiscard]] double item_ns(PointOperation operation) const override;

  void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                     const StopToken& stop) const override;
  void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                TimingClass timing, const StopToken& stop) const override;
  void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v, const PointRows& points,
                    ItemRange items, const StopToken& stop) const override;
  void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
              const StopToken& stop) const override;
  void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const override;
  void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
            ItemRange items) const override;
  void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const override;
  void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
           const StopToken& stop) const override;

  // ---- schemes --------------------------------------------------------------------------------------------

  [[nodiscard]] bool has_deterministic_nonces() const override { return derives_nonces(kernels_, curve()); }
  [[nodiscard]] bool sign(const EcdsaSigning& batch, ItemRange items, const StopToken& stop) const override;
  [[nodiscard]] bool verify(const EcdsaVerification& batch, ItemRange items,
                            const StopToken& stop) const override;
  [[nodiscard]] bool offers(const RowCall& call) const override;
  [[nodiscard]] mm_hash message_hash() const override { return kernels_.hash; }
  void run(const RowCall& call, ItemRange items, const StopToken& stop) const override;

 private:
  const EngineKind kind_;
  const CurveKernels kernels_;
  std::unique_ptr<const PointEngine> host_;
  /// Two groups of the same GPUs, because the kernels of sums may fail on a GPU on which all others work,
  /// and vice versa.
  GpuGroup group_, group_of_sums_;
  std::vector<std::unique_ptr<const Worker>> workers_;  ///< of the GPUs of the groups

  [[nodiscard]] std::size_t limbs() const { return curve().limbs(); }
  /// The bits of a scalar that the kernels of the ladder read.
  [[nodiscard]] unsigned ladder_bits() const { return static_cast<unsigned>(curve().field_bits); }

  /// Whether there are kernels for the operation on this curve, even if they have failed their test.
  [[nodiscard]] bool has_kernels(PointOperation operation) const;

  // Functions that enqueue the work for the items of a chunk.

  using Start = std::function<void(Chunk& chunk, const Turn& turn)>;

  /// The function of DeviceCurve that computes a chunk's multiples of points.
  using Multiply = void (DeviceCurve::*)(const gpu::Stream& stream, PointJob job) const;
  void queue_multiples(Chunk& chunk, const DeviceCurve& on_device, Multiply compute, PointJob& job,
                       const PointResults& r) const;
  [[nodiscard]] Start base_work(const PointResults& r, const NumberRows& k) const;
  [[nodiscard]] Start multiply_work(const PointResults& r, const NumberRows& k,
                                    const PointRows& points) const;
  [[nodiscard]] Start two_work(const PointResults& r, const NumberRows& u, const NumberRows& v,
                               const PointRows& points) const;
  [[nodiscard]] Start ladder_work(Limb* r, const NumberRows& k, const NumberRows& u) const;
  [[nodiscard]] Start add_work(const PointResults& r, const PointRows& p, const PointRows& q) const;
  [[nodiscard]] Start check_work(std::uint8_t* valid, const PointRows& points) const;
  void queue_signing(Chunk& chunk, const Turn& turn, const EcdsaSigning& batch) const;
  void queue_verification(Chunk& chunk, const Turn& turn, const EcdsaVerification& batch) const;

  [[nodiscard]] AffineRows results_in(Chunk& chunk, const PointResults& r) const;
  void upload_points(PointJob& job, Chunk& chunk, const PointRows& points) const;

  // Sums of many multiples. The GPU computes the PowerSums of each chunk, from which the host computes the
  // chunk's sum.

  struct SumShape {
    std::size_t terms;  ///< of a chunk, at most
    BucketShape buckets;
  };
  /// For scalars of that many bits.
  [[nodiscard]] SumShape sum_shape(std::size_t bits, ItemRange items) const;
  /// Sums of rows.
  void add_up(const RowCall& call, ItemRange items, const StopToken& stop) const;
  /// A flag for each term that is not infinity.
  [[nodiscard]] static std::vector<std::uint8_t> finite_terms(const PointRows& points, ItemRange items);
  /// Sums of numbers, whose terms are those with a flag in `good`; both must stay until the work is done.
  [[nodiscard]] ChunkedWork sum_work(ChunkSums& sums, const SumShape& shape, const NumberRows& k,
                                     const PointRows& points, const std::vector<std::uint8_t>& good) const;

  /// Why kernels of the operation are not used on a GPU; empty if they are.
  [[nodiscard]] std::string obstacle(std::size_t gpu, PointOperation operation) const;
  /// Compares an operation's kernels on a GPU with the host, if this is their first use there.
  /// @throws gpu::DeviceError where they cannot be compiled, or are wrong
  void test(std::size_t gpu, PointOperation operation) const;
  [[nodiscard]] std::string find_wrong(std::size_t gpu, PointOperation operation) const;
  [[nodiscard]] std::string find_wrong_ladder(std::size_t gpu) const;
  [[nodiscard]] std::string find_wrong_sum(std::size_t gpu) const;

  /// Computes items on the GPU that is expected to finish them first, and on the next one those that it
  /// fails to compute. @return items.end, or the first item that was not computed if all GPUs failed or
  /// `stop` was requested
  std::size_t run(PointOperation operation, ItemRange items, const ChunkedWork& work,
                  const StopToken& stop) const;
  std::size_t run(PointOperation operation, ItemRange items, bool secret, const StopToken& stop,
                  Start start) const {
    return run(operation, items, chunked(secret, std::move(start)), stop);
  }
  [[nodiscard]] ChunkedWork chunked(bool secret, Start start) const;
};

}  // namespace manymod::ecc::device

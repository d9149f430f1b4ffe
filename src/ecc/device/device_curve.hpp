// SPDX-License-Identifier: Apache-2.0
// One curve on one GPU: its constants and tables in device memory, and the launches of its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ecc/curve.hpp"
#include "ecc/device/jobs.hpp"
#include "ecc/device/row_jobs.hpp"
#include "ecc/device/sum_jobs.hpp"
#include "gpu/buffer.hpp"
#include "gpu/device.hpp"

namespace manymod::ecc::device {

/// What the host knows of a curve that has kernels, or of curves of one width, for which some are.
struct CurveKernels {
  CurveId id;                  ///< custom: for any curve
  std::string name;            ///< in the names of its kernels
  unsigned words;              ///< of an element of the field
  unsigned entry_elements;     ///< of an entry of a wide table: 0 where u G + v P needs none
  unsigned row_words;          ///< of a coordinate or scalar in memory; of kernels for any curve, at most
  unsigned scalar_words;       ///< of an element of the field of scalars
  unsigned scalar_radix_bits;  ///< R = 2^this
  bool has_nonces;             ///< RFC 6979 with the hash of the curve's length: see derives_nonces
  std::vector<std::uint32_t> (*base_table)(const Curve& curve);  ///< not called for ladders
  unsigned field_radix_bits = 0;                                 ///< of kernels for any curve: R = 2^this
  bool points_only = false;                                      ///< without whole schemes
  std::string source = {}, definitions = {};                     ///< as in gpu::KernelId
  std::string bucket_source = {};                                ///< likewise, of bucket_kernel()

  /// For any curve, by complete formulas.
  [[nodiscard]] bool for_any_curve() const { return id == CurveId::custom; }
  /// The prefix of all kernel names.
  [[nodiscard]] std::string common_name() const { return "ecc_" + name; }
  /// Sources take the part by a macro.
  [[nodiscard]] gpu::KernelId kernel(const std::string& part) const;
  /// A kernel that sorts the terms of sums; the same for all curves.
  [[nodiscard]] gpu::KernelId bucket_kernel(const std::string& part) const;
};

/// Whether they compute whole schemes on the curve, besides points: those for any curve only where each
/// multiple of a point by a scalar in [1, n) is finite, and where scalars and coordinates have as many words
/// as elements.
bool has_schemes(const CurveKernels& kernels, const Curve& curve);
/// Whether they derive nonces on it: those for any curve only where a scalar fills its bytes.
bool derives_nonces(const CurveKernels& kernels, const Curve& curve);

/// Whether they find the other coordinate of points on it: those for any curve only where p is 3 modulo 4.
bool decodes(const CurveKernels& kernels, const Curve& curve);

/// The threads for `count` items in chains: one each where there are few items, so that all multiprocessors
/// work, then chains of up to kMaxChain. Of `launches` at the same time, each has its share of the
/// multiprocessors.
inline constexpr std::uint32_t kMaxChain = 16;
std::uint32_t chain_threads(std::uint32_t count, unsigned multiprocessors, unsigned launches = 1);

/// Its functions enqueue work for the items of a job; a job's curve, table and threads are filled in here.
/// Several threads may use one object at a time, each with a stream of its own.
class DeviceCurve {
 public:
  /// Computes the tables; that of multiply_two has windows of `wide_window` bits, a divisor of kWideWindow.
  /// `streams`: in how many of them work is enqueued at the same time.
  /// @throws gpu::DeviceError
  DeviceCurve(gpu::Device& device, const Curve& curve, const CurveKernels& kernels,
              unsigned wide_window = kWideWindow, unsigned streams = 1);

  [[nodiscard]] const CurveKernels& kernels() const { return kernels_; }
  [[nodiscard]] gpu::Device& device() const { return device_; }
  /// The constants of the curve in device memory. Not for curves of ladders alone.
  [[nodiscard]] CurveNumbers numbers() const;

  void multiply_base(const gpu::Stream& stream, PointJob job) const;
  void multiply(const gpu::Stream& stream, PointJob job) const;
  void multiply_two(const gpu::Stream& stream, PointJob job) const;
  void ladder(const gpu::Stream& stream, PointJob job) const;
  void check(const gpu::Stream& stream, PointJob job) const;
  void affine(const gpu::Stream& stream, AffineJob job) const;
  /// Hedged ones, if the job has extra bytes.
  void nonces(const gpu::Stream& stream, NonceJob job) const;
  void sign(const gpu::Stream& stream, SignJob job) const;
  void combine(const gpu::Stream& stream, CombineJob job) const;
  void verification_scalars(const gpu::Stream& stream, VerifyScalarsJob job) const;
  void compare(const gpu::Stream& stream, VerifyCompareJob job) const;
  void decode(const gpu::Stream& stream, DecodeJob job) const;
  void sum_terms(const gpu::Stream& stream, SumJob job) const;
  void sum_points(const gpu::Stream& stream, SumJob job) const;
  // For Ed25519, secp256k1 and SM2:
  void hash_to_scalars(const gpu::Stream& stream, HashJob job) const;
  // For secp256k1 and SM2:
  void digest(const gpu::Stream& stream, const DigestJob& job) const;
  // For SM2:
  void sign_sm2(const gpu::Stream& stream, SignJob job) const;
  // For Ed25519:
  void expand_keys(const gpu::Stream& stream, ExpandJob job) const;
  void compare_cofactored(const gpu::Stream& stream, CofactorJob job) const;

 private:
  gpu::Device& device_;
  const CurveKernels& kernels_;
  unsigned wide_window_, streams_;
  CurveNumbers given_;  ///< of kernels for any curve, without addresses
  gpu::DeviceBuffer numbers_, base_table_, wide_table_;

  [[nodiscard]] const gpu::Kernel& kernel(const char* part) const;
  template <class Job>
  void launch_items(const gpu::Stream& stream, const char* part, const Job& job) const;
  template <class Job>
  void launch_chains(const gpu::Stream& stream, const char* part, Job job) const;
  template <class Values>
  [[nodiscard]] gpu::DeviceBuffer upload(const gpu::Stream& stream, const Values& values) const;
  /// What numbers() has, in its order. Those of any curve set given_.
  [[nodiscard]] std::vector<std::vector<Limb>> numbers_of(const Curve& curve) const;
  [[nodiscard]] std::vector<std::vector<Limb>> numbers_of_any(const Curve& curve);
  void make_wide_table(const gpu::Stream& stream, const Curve& curve);
};

}  // namespace manymod::ecc::device

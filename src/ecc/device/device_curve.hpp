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

/// The properties of a set of kernels, which the host needs to know. Kernels are compiled either for one
/// curve, or for all curves over fields of at most one width.
struct CurveKernels {
  CurveId id;                  ///< the curve of the kernels; custom: they are for any curve
  std::string name;            ///< the part of the kernels' names that tells the curve or the width
  unsigned words;              ///< 32-bit words of an element of the field of coordinates
  unsigned entry_elements;     ///< elements of an entry of the wide table; 0: u G + v P needs no such table
  unsigned row_words;          ///< words of a coordinate or scalar in memory; for any curve: at most so many
  unsigned scalar_words;       ///< words of an element of the field of scalars
  unsigned scalar_radix_bits;  ///< the Montgomery radix of scalars is 2^scalar_radix_bits
  mm_hash hash;                ///< of the kernels of RFC 6979 and of digests, for ECDSA; none: there are none
  std::vector<std::uint32_t> (*base_table)(const Curve& curve);  ///< not called for Montgomery curves
  unsigned field_radix_bits = 0;              ///< kernels for any curve: the radix of coordinates is 2^this
  bool points_only = false;                   ///< there are no kernels of whole schemes
  std::string source = {}, definitions = {};  ///< as in gpu::KernelId
  std::string bucket_source = {};             ///< the same for bucket_kernel()

  /// For any curve, by complete formulas.
  [[nodiscard]] bool for_any_curve() const { return id == CurveId::custom; }
  /// The prefix of all kernel names.
  [[nodiscard]] std::string common_name() const { return "ecc_" + name; }
  /// The kernel of one part, such as "multiply". OpenCL sources are compiled for one part at a time, which a
  /// macro names.
  [[nodiscard]] gpu::KernelId kernel(const std::string& part) const;
  /// A kernel that sorts the terms of sums; the same for all curves.
  [[nodiscard]] gpu::KernelId bucket_kernel(const std::string& part) const;
};

/// Whether the kernels compute whole schemes on the curve. Kernels for any curve do so only if no multiple
/// of a point by a scalar in [1, n) is infinity, and if scalars and coordinates have as many words as
/// elements.
bool has_schemes(const CurveKernels& kernels, const Curve& curve);
/// Whether the kernels derive nonces by RFC 6979 on the curve. Kernels for any curve do so only if the bytes
/// of a scalar are exactly those of an element's words.
bool derives_nonces(const CurveKernels& kernels, const Curve& curve);

/// Whether the kernels find the second coordinate of points on the curve. Kernels for any curve do so only
/// if p = 3 modulo 4.
bool decodes(const CurveKernels& kernels, const Curve& curve);

/// The number of threads for `count` items. The items of a thread form a chain, and the chains of a block
/// share one inversion. If there are few items, each has a thread of its own, so that all multiprocessors
/// work; if there are more, chains have up to kMaxChain items. `launches` kernels run at the same time and
/// share the multiprocessors.
inline constexpr std::uint32_t kMaxChain = 16;
std::uint32_t chain_threads(std::uint32_t count, unsigned multiprocessors, unsigned launches = 1);

/// Its functions enqueue the kernel for the items of a job, whose members `curve`, `table` and `threads`
/// they fill in. Several threads may use one object at the same time, each with a stream of its own.
class DeviceCurve {
 public:
  /// Computes the tables. The one of multiply_two has windows of `wide_window` bits, a divisor of
  /// kWideWindow. `streams`: the number of streams that are used at the same time. @throws gpu::DeviceError
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
  /// Nonces by RFC 6979, hedged with the job's extra bytes if it has any.
  void nonces(const gpu::Stream& stream, NonceJob job) const;
  /// Digests of strings, by the hash of the kernels, on SM2 by SM3.
  void digest(const gpu::Stream& stream, const DigestJob& job) const;
  void sign(const gpu::Stream& stream, SignJob job) const;
  void combine(const gpu::Stream& stream, CombineJob job) const;
  void verification_scalars(const gpu::Stream& stream, VerifyScalarsJob job) const;
  void compare(const gpu::Stream& stream, VerifyCompareJob job) const;
  void decode(const gpu::Stream& stream, DecodeJob job) const;
  void sum_terms(const gpu::Stream& stream, SumJob job) const;
  void sum_points(const gpu::Stream& stream, SumJob job) const;
  // For Ed25519, secp256k1 and SM2:
  void hash_to_scalars(const gpu::Stream& stream, HashJob job) const;
  // For SM2:
  void sign_sm2(const gpu::Stream& stream, SignJob job) const;
  // For Ed25519:
  void expand_keys(const gpu::Stream& stream, ExpandJob job) const;
  void compare_cofactored(const gpu::Stream& stream, CofactorJob job) const;

 private:
  gpu::Device& device_;
  const CurveKernels& kernels_;
  unsigned wide_window_, streams_;
  CurveNumbers given_;  ///< for any curve: the members of numbers() that are no addresses
  gpu::DeviceBuffer numbers_, base_table_, wide_table_;

  [[nodiscard]] const gpu::Kernel& kernel(const char* part) const;
  template <class Job>
  void launch_items(const gpu::Stream& stream, const char* part, const Job& job) const;
  template <class Job>
  void launch_chains(const gpu::Stream& stream, const char* part, Job job) const;
  template <class Values>
  [[nodiscard]] gpu::DeviceBuffer upload(const gpu::Stream& stream, const Values& values) const;
  /// The numbers that numbers() refers to, in its order. numbers_of_any() also sets given_.
  [[nodiscard]] std::vector<std::vector<Limb>> numbers_of(const Curve& curve) const;
  [[nodiscard]] std::vector<std::vector<Limb>> numbers_of_any(const Curve& curve);
  void make_wide_table(const gpu::Stream& stream, const Curve& curve);
};

}  // namespace manymod::ecc::device

// SPDX-License-Identifier: Apache-2.0
// Points and signatures of the items of a chunk, from operands in device memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ecc/device/chunk.hpp"
#include "ecc/device/device_curve.hpp"
#include "ecc/device/jobs.hpp"
#include "manymod/ecc.h"

namespace manymod::ecc::device {

/// Where affine points go. y.words and infinity may be null.
struct AffineRows {
  RowsOut x, y;
  std::uint8_t* infinity = nullptr;
};

inline Rows rows_in(const RowsOut& rows) { return {rows.words, rows.stride}; }

/// Enqueues work in the stream of a chunk, with temporary results in its memory.
class Queue {
 public:
  Queue(const DeviceCurve& curve, Chunk& chunk, std::size_t limbs)
      : curve_(curve), chunk_(chunk), limbs_(limbs) {}

  [[nodiscard]] const DeviceCurve& curve() const { return curve_; }
  [[nodiscard]] const gpu::Stream& stream() const { return chunk_.stream(); }
  [[nodiscard]] std::uint32_t count() const { return chunk_.count(); }

  /// A row for each item in device memory.
  [[nodiscard]] RowsOut rows() const { return chunk_.result(nullptr, limbs_); }
  /// A job for all items, with room for its result.
  [[nodiscard]] PointJob point_job() const;
  /// The same for a job that has its operands.
  void make_room(PointJob& job) const;
  /// The affine forms of a job's points.
  void affine(const PointJob& points, const AffineRows& to) const;

  /// Makes signatures of ECDSA or SM2. On input: secret, digest, r, s, recovery, valid and low_s of `job`
  /// are set, and `nonce`, unless RFC 6979 is to derive the nonces; `extra`, if not null, then hedges them
  /// (NonceJob).
  void sign(SignJob job, const Rows& extra = {}, mm_ecc_scheme scheme = MM_ECC_ECDSA) const;
  /// Fills in u and v. On input: digest, r, s, valid, low_s of `job`.
  void verification_scalars(VerifyScalarsJob& job) const;
  /// Writes the verdicts on ECDSA signatures to job.valid. On input: digest, r, s and low_s of `job` are
  /// set; x and y are the keys' coordinates, and on_curve tells whether they are on the curve.
  void verify(VerifyScalarsJob job, const Rows& x, const Rows& y, const std::uint8_t* on_curve) const;

 private:
  const DeviceCurve& curve_;
  Chunk& chunk_;
  std::size_t limbs_;

  /// Elements may have more words than coordinates in memory.
  [[nodiscard]] std::uint32_t* columns(std::size_t elements) const {
    const std::size_t words = std::max<std::size_t>(2 * limbs_, curve_.kernels().words);
    return chunk_.room<std::uint32_t>(elements * words * sizeof(std::uint32_t));
  }
};

}  // namespace manymod::ecc::device

// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/queue.hpp"

namespace manymod::ecc::device {
namespace {

/// Elements of a field of scalars may be longer than numbers: room for one.
constexpr std::size_t kScalarColumns = 2;

}  // namespace

PointJob Queue::point_job() const {
  PointJob job;
  make_room(job);
  return job;
}

void Queue::make_room(PointJob& job) const {
  job.count = count();
  job.result = columns(3);
}

void Queue::affine(const PointJob& points, const AffineRows& to) const {
  AffineJob job;
  job.count = points.count;
  job.point = points.result;
  job.scratch = columns(1);
  job.x = to.x;
  job.y = to.y;
  job.infinity = to.infinity;
  curve_.affine(stream(), job);
}

void Queue::sign(SignJob job, const Rows& extra, mm_ecc_scheme scheme) const {
  job.count = count();
  if (job.nonce.words == nullptr) {
    const RowsOut nonce = rows();
    curve_.nonces(stream(), {{}, job.count, job.secret, job.digest, extra, nonce, job.valid});
    job.nonce = rows_in(nonce);
  }
  PointJob point = point_job();
  point.scalar = job.nonce;
  curve_.multiply_base(stream(), point);
  const AffineRows of_nonce{rows(), rows(), nullptr};
  affine(point, of_nonce);
  job.x = rows_in(of_nonce.x);
  job.y = rows_in(of_nonce.y);
  job.scratch = columns(kScalarColumns);
  if (scheme == MM_ECC_SM2DSA) return curve_.sign_sm2(stream(), job);
  curve_.sign(stream(), job);
}

void Queue::verification_scalars(VerifyScalarsJob& job) const {
  job.count = count();
  job.scratch = columns(kScalarColumns);
  job.u = rows();
  job.v = rows();
  curve_.verification_scalars(stream(), job);
}

void Queue::verify(VerifyScalarsJob job, const Rows& x, const Rows& y, const std::uint8_t* on_curve) const {
  verification_scalars(job);
  PointJob point = point_job();
  point.x = x;
  point.y = y;
  point.scalar = rows_in(job.v);
  point.base_scalar = rows_in(job.u);
  curve_.multiply_two(stream(), point);
  curve_.compare(stream(), {{}, job.count, point.result, job.r, on_curve, job.valid});
}

}  // namespace manymod::ecc::device

// SPDX-License-Identifier: Apache-2.0
// Sums of two points, and of multiples of many.
#include "ecc/device/bucket_queue.hpp"
#include "ecc/device/row_queue.hpp"

namespace manymod::ecc::device {

RowQueue::Coordinates RowQueue::terms(const RowCall& call, const Strings& from) {
  return curve_.form == MM_ECC_EDWARDS ? opposites(call, from) : points(from);
}

/// Points of Weierstrass curves, whose order is odd, have y = 0 only at infinity, which leaves the item
/// undone.
void RowQueue::add(const RowCall& call) {
  const bool is_edwards = curve_.form == MM_ECC_EDWARDS;
  const Coordinates p = terms(call, operands_.point), q = terms(call, operands_.second);
  const PointJob sum = queue_.point_job();
  SumJob job;
  job.count = count();
  job.x[0] = p.x;
  job.y[0] = p.y;
  job.x[1] = q.x;
  job.y[1] = q.y;
  job.negates = is_edwards ? 1 : 0;
  job.result = sum.result;
  on_device().sum_terms(queue_.stream(), job);
  const Coordinates r = affine(sum);
  if (is_edwards) return write_edwards(call, r);
  launch("ecc_rows_not_zero", NotZeroJob{count(), r.y, good_});
  write_points(call, r);
}

void RowQueue::add_up(const RowCall& call, const BucketShape& shape, PowerSums& to) {
  chunk_.also_result(good_, call.done);
  const bool is_edwards = curve_.form == MM_ECC_EDWARDS;
  ReadJob scalar;
  scalar.from = operands_.secret;
  scalar.is_little_endian = is_edwards ? 1 : 0;
  const Rows k = numbers(scalar);
  const Coordinates p = terms(call, operands_.point);
  BucketQueue(queue_, chunk_, shape).add_up({k, p.x, p.y, k.stride, good_, is_edwards}, to);
}

}  // namespace manymod::ecc::device

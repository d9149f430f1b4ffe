// SPDX-License-Identifier: Apache-2.0
// Signatures of SM2 (GB/T 32918.2): SM3 of what identifies the signer, of the message behind it, and the
// equations modulo the order.
#include <array>

#include "ecc/device/row_queue.hpp"

namespace manymod::ecc::device {
namespace {

/// Of digests, and of numbers.
constexpr std::uint32_t kSm3Bytes = 32, kSm2Bytes = 32;

}  // namespace

Rows RowQueue::sm2_digests(const KeyBytes& key) const {
  DigestJob identity{count(), {operands_.prefix, key.x, key.y}, {}, {}, nullptr};
  identity.last_sizes = one_size(chunk_, kSm3Bytes);
  identity.to = chunk_.result(nullptr, kSm3Bytes, kSm3Bytes);
  on_device().digest(queue_.stream(), identity);
  const HashJob job{{},
                    count(),
                    {{}, {}, {identity.to, kSm3Bytes, kSm3Bytes}, operands_.message},
                    operands_.message_sizes,
                    queue_.rows(),
                    0};
  on_device().hash_to_scalars(queue_.stream(), job);
  return rows_in(job.number);
}

RowQueue::KeyBytes RowQueue::sm2_own_keys(const RowCall& call, const Rows& secrets) const {
  if (call.prepared) {
    return {operands_.secret.part(kSm2Bytes, kSm2Bytes), operands_.secret.part(2 * kSm2Bytes, kSm2Bytes)};
  }
  const Coordinates key = own_keys(call, secrets);
  return {bytes_of(key.x), bytes_of(key.y)};
}

void RowQueue::sm2_sign(const RowCall& call) {
  SignJob job;
  job.secret = scalars(operands_.secret.part(0, kSm2Bytes));
  job.digest = call.prehashed ? digests(call) : sm2_digests(sm2_own_keys(call, job.secret));
  job.valid = good_;
  if (!call.derives_nonces) job.nonce = scalars(operands_.nonce);
  job.r = queue_.rows();
  job.s = queue_.rows();
  job.recovery = chunk_.result(nullptr);
  queue_.sign(job, words_of(operands_.extra), MM_ECC_SM2DSA);
  if (call.check) sm2_check(job);
  write(call, std::array{scalar(rows_in(job.r)), scalar(rows_in(job.s))});
}

/// The equation of verification: s G + (r + s) Q for Q = d G is (s + r d + s d) G.
void RowQueue::sm2_check(const SignJob& signatures) {
  const Rows r = rows_in(signatures.r), s = rows_in(signatures.s);
  PointJob point = queue_.point_job();
  point.scalar = combine({{}, count(), s, r, signatures.secret, queue_.rows(), 0});
  point.scalar = combine({{}, count(), point.scalar, s, signatures.secret, queue_.rows(), 0});
  on_device().multiply_base(queue_.stream(), point);
  expect_same(affine(point), sum(r, signatures.digest, true), signatures.recovery);
}

/// x(s G + t Q) = r - e modulo n, for t = r + s, which is not 0.
void RowQueue::sm2_verify(const RowCall& call) {
  const std::size_t size = curve_.scalar_bytes();
  const Coordinates key = points(operands_.point);
  const Rows r = scalars(operands_.signature.part(0, size));
  PointJob point = queue_.point_job();
  point.x = key.x;
  point.y = key.y;
  point.base_scalar = scalars(operands_.signature.part(size, size));
  point.scalar = sum(r, point.base_scalar);
  std::uint8_t* const ok = chunk_.result(call.ok);
  queue_.stream().set_bytes(ok, 1, count());
  launch("ecc_rows_not_zero", NotZeroJob{count(), point.scalar, ok});
  on_device().multiply_two(queue_.stream(), point);
  const Rows digest = call.prehashed ? digests(call) : sm2_digests({bytes_of(key.x), bytes_of(key.y)});
  const Rows expected = sum(r, digest, true);
  on_device().compare(queue_.stream(), {{}, count(), point.result, expected, good_, ok});
}

}  // namespace manymod::ecc::device

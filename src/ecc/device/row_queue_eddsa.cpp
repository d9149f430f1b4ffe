// SPDX-License-Identifier: Apache-2.0
// Ed25519 (RFC 8032, section 5.1). Public keys are always computed from private ones, here or by the host
// once for a ring: one that is given could make two signatures with one R and different challenges, which
// reveal the private key.
#include <array>

#include "ecc/device/row_queue.hpp"

namespace manymod::ecc::device {
namespace {

constexpr std::uint32_t kSize = 32;  ///< bytes of keys, of points and of S

}  // namespace

Strings RowQueue::encoded(const PointJob& points) const {
  const Coordinates p = affine(points);
  std::uint8_t* const to = chunk_.result(nullptr, kSize, kSize);
  write(to, kSize, std::array{FieldOut{FieldKind::little_endian, kSize, p.y, p.x, nullptr}});
  return {to, kSize, kSize};
}

Strings RowQueue::encoded_multiples(const Rows& scalars) const {
  PointJob job = queue_.point_job();
  job.scalar = scalars;
  on_device().multiply_base(queue_.stream(), job);
  return encoded(job);
}

RowQueue::ExpandedKeys RowQueue::expand_keys() const {
  const ExpandJob job{{}, count(), operands_.secret, queue_.rows(), chunk_.result(nullptr, kSize, kSize)};
  on_device().expand_keys(queue_.stream(), job);
  return {rows_in(job.scalar), {job.prefix, kSize, kSize}};
}

RowQueue::ExpandedKeys RowQueue::prepared_keys() const {
  ReadJob job;
  job.is_little_endian = 1;
  job.from = operands_.secret.part(0, kSize);
  return {numbers(job), operands_.secret.part(kSize, kSize)};
}

Rows RowQueue::combine(const CombineJob& job) const {
  on_device().combine(queue_.stream(), job);
  return rows_in(job.k);
}

Rows RowQueue::hash(const Strings& first, const Strings& second) const {
  HashJob job{{}, count(), {{}, first, second, operands_.message}, operands_.message_sizes, queue_.rows()};
  on_device().hash_to_scalars(queue_.stream(), job);
  return rows_in(job.number);
}

void RowQueue::expect_equal(const Strings& a, const Strings& b, std::uint8_t* flags) const {
  launch("ecc_rows_equal", EqualJob{count(), a, b, flags});
}

void RowQueue::eddsa_public_keys(const RowCall& call) {
  PointJob job = queue_.point_job();
  job.scalar = expand_keys().scalar;
  on_device().multiply_base(queue_.stream(), job);
  write_edwards(call, affine(job));
}

void RowQueue::write_edwards(const RowCall& call, const Coordinates& point) const {
  write(call, std::array{FieldOut{FieldKind::little_endian, kSize, point.y, point.x, nullptr}});
}

/// S = r + k a.
void RowQueue::eddsa_sign(const RowCall& call) {
  const ExpandedKeys keys = call.prepared ? prepared_keys() : expand_keys();
  EddsaSigning x;
  x.key = keys.scalar;
  x.public_key = call.prepared ? operands_.secret.part(2 * kSize, kSize) : encoded_multiples(x.key);
  const Rows nonce = hash(keys.prefix, {});
  x.commitment = encoded_multiples(nonce);
  x.challenge = hash(x.commitment, x.public_key);
  x.response = combine({{}, count(), nonce, x.challenge, x.key, queue_.rows(), 0});
  if (call.check) eddsa_check(call, x);
  const Rows commitment{reinterpret_cast<const std::uint32_t*>(x.commitment.data), kSize / 4};
  write(call, std::array{FieldOut{FieldKind::little_endian, kSize, commitment, {}, nullptr},
                         FieldOut{FieldKind::little_endian, kSize, x.response, {}, nullptr}});
}

/// S B = R + k A, for A = a B: a B is computed again unless it was known, and R as (S - k a) B.
void RowQueue::eddsa_check(const RowCall& call, const EddsaSigning& x) {
  const Rows nonce = combine({{}, count(), x.response, x.challenge, x.key, queue_.rows(), 1});
  expect_equal(encoded_multiples(nonce), x.commitment, good_);
  if (!call.prepared) expect_equal(encoded_multiples(x.key), x.public_key, good_);
}

RowQueue::Coordinates RowQueue::opposites(const RowCall& call, const Strings& from) const {
  DecodeJob job;
  job.count = count();
  job.from = from;
  job.x = queue_.rows();
  job.y = queue_.rows();
  job.good = good_;
  job.any_encoding = call.cofactored ? 1 : 0;
  on_device().decode(queue_.stream(), job);
  return {rows_in(job.x), rows_in(job.y)};
}

/// S B + k (-A), whose encoding is to be R; by ZIP 215, which is to be R but for points of small order.
void RowQueue::eddsa_verify(const RowCall& call) {
  const Strings key = operands_.point, signature = operands_.signature;
  const Strings commitment = signature.part(0, kSize);
  const Coordinates opposite = opposites(call, key);
  ReadJob response;
  response.is_little_endian = response.accepts_zero = 1;
  response.from = signature.part(kSize, kSize);
  response.limit = on_device().numbers().order;
  response.good = good_;
  PointJob job = queue_.point_job();
  job.x = opposite.x;
  job.y = opposite.y;
  job.base_scalar = numbers(response);
  job.scalar = hash(commitment, key);
  on_device().multiply_two(queue_.stream(), job);
  std::uint8_t* const ok = chunk_.result(call.ok);
  queue_.stream().set_bytes(ok, 1, count());
  if (!call.cofactored) return expect_equal(encoded(job), commitment, ok);
  const Coordinates other = opposites(call, commitment);
  on_device().compare_cofactored(queue_.stream(), {{}, count(), job.result, other.x, other.y, ok});
}

void RowQueue::queue_eddsa(const RowCall& call) {
  switch (call.operation) {
    case RowOperation::public_key:
      return eddsa_public_keys(call);
    case RowOperation::sign:
      return eddsa_sign(call);
    case RowOperation::verify:
      return eddsa_verify(call);
    case RowOperation::exchange:
    case RowOperation::recover:
    case RowOperation::add:
    case RowOperation::sum:
      return;  // not offered, or functions of their own
  }
}

}  // namespace manymod::ecc::device

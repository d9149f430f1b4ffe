// SPDX-License-Identifier: Apache-2.0
// Signatures of BIP 340. Public keys are always computed from private ones, as for EdDSA.
#include <algorithm>
#include <array>

#include "crypto/hash.hpp"
#include "ecc/device/row_queue.hpp"

namespace manymod::ecc::device {
namespace {

constexpr std::uint32_t kSchnorrSize = 32;  ///< bytes of a number
constexpr std::uint32_t kTagBlock = 64;

}  // namespace

Strings RowQueue::tag_block(std::string_view tag) const {
  std::array<std::uint8_t, kTagBlock> block{};
  const ByteSpan text(reinterpret_cast<const std::uint8_t*>(tag.data()), tag.size());
  crypto::Hasher(MM_SHA256).digest(std::span(block).first(kSchnorrSize), {text});
  std::copy_n(block.begin(), kSchnorrSize, block.begin() + kSchnorrSize);
  return chunk_.upload(ByteRows{block.data(), 0, block.size()});
}

Rows RowQueue::even(const Rows& numbers, const Rows& y) const {
  const EvenJob job{count(), on_device().numbers().order, numbers, y, queue_.rows()};
  launch("ecc_rows_even", job);
  return rows_in(job.to);
}

Strings RowQueue::bytes_of(const Rows& numbers) const {
  std::uint8_t* const to = chunk_.result(nullptr, kSchnorrSize, kSchnorrSize);
  write(to, kSchnorrSize, std::array{coordinate(numbers)});
  return {to, kSchnorrSize, kSchnorrSize};
}

Rows RowQueue::tagged_hash(std::string_view tag, const Strings& first, const Strings& second,
                           bool negates) const {
  const HashJob job{{},
                    count(),
                    {tag_block(tag), first, second, operands_.message},
                    operands_.message_sizes,
                    queue_.rows(),
                    negates ? 1U : 0U};
  on_device().hash_to_scalars(queue_.stream(), job);
  return rows_in(job.number);
}

void RowQueue::expect_even(const Coordinates& found, const Rows& x, std::uint8_t* flags) const {
  SameJob job;
  job.count = count();
  job.words = on_device().kernels().row_words;
  job.x = found.x;
  job.y = found.y;
  job.r = x;
  job.good = flags;
  launch("ecc_rows_same", job);
}

RowQueue::Coordinates RowQueue::own_keys(const RowCall& call, const Rows& secrets) const {
  if (call.prepared) {
    ReadJob x, y;
    x.from = operands_.secret.part(kSchnorrSize, kSchnorrSize);
    y.from = operands_.secret.part(2 * kSchnorrSize, kSchnorrSize);
    return {numbers(x), numbers(y)};
  }
  PointJob job = queue_.point_job();
  job.scalar = secrets;
  on_device().multiply_base(queue_.stream(), job);
  return affine(job);
}

/// s = k + e d, for the key and the nonce of points with an even y.
void RowQueue::schnorr_sign(const RowCall& call) {
  const Rows given = scalars(operands_.secret.part(0, kSchnorrSize));
  const Coordinates key = own_keys(call, given);
  const Rows secret = even(given, key.y);
  const Strings public_key = bytes_of(key.x);
  DigestJob mask{count(),
                 {{}, tag_block("BIP0340/aux"), operands_.extra},
                 one_size(chunk_, operands_.extra.size),
                 secret,
                 chunk_.result(nullptr, kSchnorrSize, kSchnorrSize)};
  on_device().digest(queue_.stream(), mask);
  PointJob point = queue_.point_job();
  point.scalar = tagged_hash("BIP0340/nonce", {mask.to, kSchnorrSize, kSchnorrSize}, public_key);
  launch("ecc_rows_not_zero", NotZeroJob{count(), point.scalar, good_});
  on_device().multiply_base(queue_.stream(), point);
  const Coordinates commitment = affine(point);
  const Rows nonce = even(point.scalar, commitment.y);
  const Rows challenge = tagged_hash("BIP0340/challenge", bytes_of(commitment.x), public_key);
  const Rows response = combine({{}, count(), nonce, challenge, secret, queue_.rows(), 0});
  if (call.check) {
    // The equation of verification, R = s G - e P with an even y, for P = d G.
    point.scalar = combine({{}, count(), response, challenge, secret, queue_.rows(), 1});
    on_device().multiply_base(queue_.stream(), point);
    expect_even(affine(point), commitment.x, good_);
  }
  write(call, std::array{coordinate(commitment.x), scalar(response)});
}

/// s G - e P is the point with x = r and an even y.
void RowQueue::schnorr_verify(const RowCall& call) {
  const Coordinates key = points(operands_.point);
  const Strings commitment = operands_.signature.part(0, kSchnorrSize);
  ReadJob r, s;
  r.from = commitment;
  r.limit = chunk_.upload(NumberRows{curve_.p.data(), 0}, curve_.limbs()).words;
  s.from = operands_.signature.part(kSchnorrSize, kSchnorrSize);
  s.limit = on_device().numbers().order;
  s.accepts_zero = 1;
  r.good = s.good = good_;
  const Rows x = numbers(r);
  PointJob point = queue_.point_job();
  point.x = key.x;
  point.y = key.y;
  point.base_scalar = numbers(s);
  point.scalar = tagged_hash("BIP0340/challenge", commitment, operands_.point, true);
  on_device().multiply_two(queue_.stream(), point);
  std::uint8_t* const ok = chunk_.result(call.ok);
  queue_.stream().set_bytes(ok, 1, count());
  expect_even(affine(point), x, ok);
}

}  // namespace manymod::ecc::device

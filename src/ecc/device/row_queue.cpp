// SPDX-License-Identifier: Apache-2.0
#include "ecc/device/row_queue.hpp"

#include <algorithm>
#include <vector>

#include "crypto/hash.hpp"

namespace manymod::ecc::device {
namespace {

/// Rows of words of an item, and its flags.
constexpr std::size_t kRowsOfSigning = 36, kRowsOfRecovery = 20, kRowsOfOthers = 16, kFlagsOfRows = 16;

/// Bits of the lowest byte and of the highest word of scalars and coordinates of X25519 (RFC 7748, section
/// 5).
constexpr std::uint32_t kClampedLow = 7, kTopBit = std::uint32_t{1} << 31;

/// The longest table that a device gathers strings from.
constexpr std::size_t kMostGathered = 8192;

/// Whether a table of strings and indices are copied to the device, because they are shorter than the items'
/// strings.
bool gathers_on_device(const ByteRows& rows, std::size_t count) {
  return rows.indices != nullptr && rows.table_size <= std::min(kMostGathered, count / 2);
}

}  // namespace

bool RowQueue::offers(const CurveKernels& kernels, const Curve& curve, const RowCall& call) {
  if (call.operation == RowOperation::add || call.operation == RowOperation::sum) {
    return curve.form != MM_ECC_MONTGOMERY;
  }
  if (call.scheme == MM_ECC_BIP340) return kernels.id == CurveId::secp256k1;
  if (call.scheme == MM_ECC_SM2DSA) return kernels.id == CurveId::sm2;
  if (kernels.id == CurveId::ed25519) return call.operation != RowOperation::exchange;
  if (call.operation == RowOperation::recover && !decodes(kernels, curve)) return false;
  const bool derives = call.operation == RowOperation::sign && call.derives_nonces;
  return !derives || derives_nonces(kernels, curve);
}

ItemBytes RowQueue::bytes(const Curve& curve, const RowCall& call) {
  const std::size_t operands = call.secret.size + call.point.size + call.second.size + call.message.size +
                               call.signature.size + call.nonce.size + call.extra.size;
  const std::size_t strings =
      operands + sizeof *call.message_sizes + sizeof *call.secret.indices + call.result_size + kFlagsOfRows;
  const bool may_gather = call.secret.indices != nullptr && call.secret.table_size <= kMostGathered;
  const std::size_t table = may_gather ? call.secret.table_size * call.secret.size : 0;
  const bool signs = call.operation == RowOperation::sign, recovers = call.operation == RowOperation::recover;
  const std::size_t rows = signs ? kRowsOfSigning : recovers ? kRowsOfRecovery : kRowsOfOthers;
  const std::size_t digest = call.hashes ? crypto::kMaxDigest : 0;
  const std::size_t of_chunk = call.prefix.size + table;
  return {strings + digest + rows * curve.limbs() * sizeof(Limb), strings, of_chunk, of_chunk};
}

Rows RowQueue::numbers(ReadJob job) const {
  job.count = count();
  job.to = queue_.rows();
  launch("ecc_rows_read", job);
  return rows_in(job.to);
}

Rows RowQueue::scalars(const Strings& from) const {
  ReadJob job;
  job.from = from;
  job.limit = on_device().numbers().order;
  job.good = good_;
  return numbers(job);
}

Strings RowQueue::hashed_messages() const {
  const auto size = static_cast<std::uint32_t>(crypto::find_hash(on_device().kernels().hash)->size);
  DigestJob job;
  job.count = count();
  job.parts[DigestJob::kParts - 1] = operands_.message;
  job.last_sizes = operands_.message_sizes;
  job.to = chunk_.result(nullptr, size, size);
  on_device().digest(queue_.stream(), job);
  return {job.to, size, std::min(size, static_cast<std::uint32_t>(curve_.scalar_bytes()))};
}

Rows RowQueue::digests(const RowCall& call) const {
  ReadJob job;
  job.from = call.hashes ? hashed_messages() : operands_.message;
  const std::size_t bits = 8 * std::size_t{job.from.size};
  job.drop = static_cast<std::uint32_t>(bits > curve_.order_bits ? bits - curve_.order_bits : 0);
  return numbers(job);
}

RowQueue::Coordinates RowQueue::points(const Strings& from) {
  const std::size_t size = curve_.coordinate_bytes();
  if (from.size <= 1 + size) {
    DecodeJob job;
    job.count = count();
    job.from = from;
    job.x = queue_.rows();
    job.y = queue_.rows();
    job.good = good_;
    job.coordinate_bytes = static_cast<std::uint32_t>(size);
    on_device().decode(queue_.stream(), job);
    return {rows_in(job.x), rows_in(job.y)};
  }
  ReadJob x, y;
  x.from = from.part(1, size);
  y.from = from.part(1 + size, size);
  PointJob job;
  job.count = count();
  job.x = numbers(x);
  job.y = numbers(y);
  job.valid = good_;
  on_device().check(queue_.stream(), job);
  TagJob tag;
  tag.count = count();
  tag.from = from;
  tag.good = good_;
  launch("ecc_rows_tag", tag);
  return {job.x, job.y};
}

void RowQueue::lift(const Rows& given, const Rows& odd, const RowsOut& other) {
  const bool is_edwards = curve_.form == MM_ECC_EDWARDS;
  const auto coordinate_bytes = static_cast<std::uint32_t>(curve_.coordinate_bytes());
  const std::uint32_t size = coordinate_bytes + (is_edwards ? 0 : 1);
  std::uint8_t* const encodings = chunk_.result(nullptr, size, size);
  if (is_edwards) {
    write(encodings, size, std::array{FieldOut{FieldKind::little_endian, size, given, odd, nullptr}});
  } else {
    write(encodings, size, std::array{FieldOut{FieldKind::tag, 1, {}, odd, nullptr}, coordinate(given)});
  }
  DecodeJob job;
  job.count = count();
  job.from = {encodings, size, size};
  job.x = is_edwards ? other : queue_.rows();
  job.y = is_edwards ? queue_.rows() : other;
  job.good = good_;
  job.coordinate_bytes = coordinate_bytes;
  job.any_encoding = 1;
  on_device().decode(queue_.stream(), job);
}

Rows RowQueue::constant(Limb value) const {
  std::vector<Limb> row(curve_.limbs());
  row[0] = value;
  return chunk_.upload(NumberRows{row.data(), 0}, row.size());
}

Rows RowQueue::sum(const Rows& a, const Rows& b, bool subtracts) const {
  return combine({{}, count(), a, b, constant(1), queue_.rows(), subtracts ? 1U : 0U});
}

RowQueue::Coordinates RowQueue::affine(const PointJob& points) const {
  const AffineRows to{queue_.rows(), queue_.rows(), nullptr};
  queue_.affine(points, to);
  return {rows_in(to.x), rows_in(to.y)};
}

FieldOut RowQueue::coordinate(const Rows& number) const {
  return {FieldKind::big_endian, static_cast<std::uint32_t>(curve_.coordinate_bytes()), number, {}, nullptr};
}
FieldOut RowQueue::scalar(const Rows& number) const {
  return {FieldKind::big_endian, static_cast<std::uint32_t>(curve_.scalar_bytes()), number, {}, nullptr};
}

void RowQueue::write(std::uint8_t* to, std::size_t size, std::span<const FieldOut> fields) const {
  WriteJob job;
  job.count = static_cast<std::uint32_t>((count() * size + 3) / 4);
  job.size = static_cast<std::uint32_t>(size);
  job.to = to;
  job.good = good_;
  std::ranges::copy(fields, job.fields);
  launch("ecc_rows_write", job);
}
void RowQueue::write(const RowCall& call, std::span<const FieldOut> fields) const {
  write(chunk_.result(call.result, call.result_stride, call.result_size), call.result_size, fields);
}

void RowQueue::public_keys(const RowCall& call) {
  PointJob job = queue_.point_job();
  job.scalar = scalars(operands_.secret);
  on_device().multiply_base(queue_.stream(), job);
  write_points(call, affine(job));
}

void RowQueue::write_points(const RowCall& call, const Coordinates& key) const {
  FieldOut tag{FieldKind::tag, 1, {}, {}, nullptr};
  switch (call.point_format) {
    case MM_ECC_UNCOMPRESSED:
      return write(call, std::array{tag, coordinate(key.x), coordinate(key.y)});
    case MM_ECC_COMPRESSED:
      tag.parity = key.y;
      return write(call, std::array{tag, coordinate(key.x)});
    case MM_ECC_X_ONLY:
      return write(call, std::array{coordinate(key.x)});
  }
}

void RowQueue::exchange(const RowCall& call) {
  // The order of points is n: no multiple by a scalar in [1, n) is infinity.
  const Coordinates key = points(operands_.point);
  PointJob job = queue_.point_job();
  job.x = key.x;
  job.y = key.y;
  job.scalar = scalars(operands_.secret);
  on_device().multiply(queue_.stream(), job);
  write(call, std::array{coordinate(affine(job).x)});
}

void RowQueue::sign(const RowCall& call) {
  SignJob job;
  job.secret = scalars(operands_.secret);
  job.digest = digests(call);
  job.valid = good_;
  if (!call.derives_nonces) job.nonce = scalars(operands_.nonce);
  job.r = queue_.rows();
  job.s = queue_.rows();
  job.recovery = chunk_.result(nullptr);
  job.low_s = call.low_s ? 1 : 0;
  queue_.sign(job, words_of(operands_.extra));
  if (call.check) check(job);
  FieldOut id{FieldKind::flag, call.recoverable ? 1U : 0U, {}, {}, job.recovery};
  write(call, std::array{scalar(rows_in(job.r)), scalar(rows_in(job.s)), id});
}

/// The equation of verification. For the public key d G its point u G + v Q is (u + v d) G: one
/// multiplication of the generator.
void RowQueue::check(const SignJob& signatures) {
  VerifyScalarsJob factors;
  factors.digest = signatures.digest;
  factors.r = rows_in(signatures.r);
  factors.s = rows_in(signatures.s);
  factors.valid = chunk_.result(nullptr);
  queue_.verification_scalars(factors);
  PointJob point = queue_.point_job();
  point.scalar =
      combine({{}, count(), rows_in(factors.u), rows_in(factors.v), signatures.secret, queue_.rows(), 0});
  on_device().multiply_base(queue_.stream(), point);
  expect_same(affine(point), factors.r, signatures.recovery);
}

void RowQueue::expect_same(const Coordinates& found, const Rows& r, const std::uint8_t* recovery) const {
  SameJob same;
  same.count = count();
  same.order = on_device().numbers().order;
  same.words = on_device().kernels().row_words;
  same.x = found.x;
  same.y = found.y;
  same.r = r;
  same.recovery = recovery;
  same.good = good_;
  launch("ecc_rows_same", same);
}

void RowQueue::verify(const RowCall& call) {
  const std::size_t size = curve_.scalar_bytes();
  const Coordinates key = points(operands_.point);
  const Strings signature = operands_.signature;
  VerifyScalarsJob job;
  job.digest = digests(call);
  job.r = scalars(signature.part(0, size));
  job.s = scalars(signature.part(size, size));
  job.valid = chunk_.result(call.ok);
  job.low_s = call.low_s ? 1 : 0;
  queue_.verify(job, key.x, key.y, good_);
}

/// SEC 1, section 4.1.6: (s / r) R - (e / r) G, which has y = 0 only if it is infinity, as n is odd.
void RowQueue::recover(const RowCall& call) {
  const std::size_t size = curve_.scalar_bytes();
  const Coordinates nonce = points(operands_.point);
  VerifyScalarsJob factors;
  factors.digest = digests(call);
  factors.r = scalars(operands_.signature.part(size, size));
  factors.s = scalars(operands_.signature.part(0, size));
  factors.valid = chunk_.result(nullptr);
  queue_.verification_scalars(factors);
  PointJob point = queue_.point_job();
  point.x = nonce.x;
  point.y = nonce.y;
  point.scalar = rows_in(factors.v);
  point.base_scalar = sum(constant(0), rows_in(factors.u), true);
  on_device().multiply_two(queue_.stream(), point);
  const Coordinates key = affine(point);
  launch("ecc_rows_not_zero", NotZeroJob{count(), key.y, good_});
  write_points(call, key);
}

void RowQueue::ladder(const RowCall& call) {
  ReadJob secret, given;
  secret.is_little_endian = given.is_little_endian = 1;
  secret.from = operands_.secret;
  secret.clear_low = kClampedLow;
  secret.clear_high = kTopBit;
  secret.set_high = kTopBit >> 1;
  given.clear_high = kTopBit;
  PointJob job = queue_.point_job();
  job.scalar = numbers(secret);
  if (call.operation == RowOperation::exchange) {
    given.from = operands_.point;
    job.x = numbers(given);
  } else {
    job.x = chunk_.upload(NumberRows{curve_.x.data(), 0}, curve_.limbs());
  }
  on_device().ladder(queue_.stream(), job);
  const AffineRows u{queue_.rows(), {}, nullptr};
  queue_.affine(job, u);
  const Rows result = rows_in(u.x);
  launch("ecc_rows_not_zero", NotZeroJob{count(), result, good_});
  write(call,
        std::array{FieldOut{
            FieldKind::little_endian, static_cast<std::uint32_t>(call.result_size), result, {}, nullptr}});
}

RowQueue::Operands RowQueue::upload(const RowCall& call, Chunk& chunk) {
  const auto strings = [&](const ByteRows& rows) {
    return rows.data == nullptr ? Strings{} : chunk.upload(rows);
  };
  Operands r;
  if (gathers_on_device(call.secret, chunk.count())) {
    r.secret = chunk.upload_table(call.secret);
    constexpr std::size_t kIndex = sizeof *call.secret.indices;
    const auto* const indices = reinterpret_cast<const std::uint8_t*>(call.secret.indices);
    r.secret_index = words_of(chunk.upload(ByteRows{indices, kIndex, kIndex})).words;
  } else {
    r.secret = strings(call.secret);
  }
  r.point = strings(call.point);
  r.second = strings(call.second);
  r.message = strings(call.message);
  r.signature = strings(call.signature);
  r.nonce = strings(call.nonce);
  r.extra = strings(call.extra);
  r.prefix = strings(call.prefix);
  r.good = chunk.upload(call.done);
  if (call.message_sizes != nullptr) {
    constexpr std::size_t kSize = sizeof *call.message_sizes;
    const auto* const sizes = reinterpret_cast<const std::uint8_t*>(call.message_sizes);
    r.message_sizes = words_of(chunk.upload(ByteRows{sizes, kSize, kSize}));
  } else if (call.operation == RowOperation::sign || call.operation == RowOperation::verify ||
             call.operation == RowOperation::recover) {
    r.message_sizes = one_size(chunk, static_cast<std::uint32_t>(call.message.size));
  }
  return r;
}

Rows RowQueue::one_size(Chunk& chunk, std::uint32_t size) {
  return words_of(chunk.upload(ByteRows{reinterpret_cast<const std::uint8_t*>(&size), 0, sizeof size}));
}

Strings RowQueue::gathered(const Strings& table, const std::uint32_t* index) const {
  std::uint8_t* const to = chunk_.result(nullptr, table.size, table.size);
  const std::uint32_t words = (count() * table.size + 3) / 4;
  launch("ecc_rows_gather", GatherJob{words, count(), table, index, to});
  return {to, table.size, table.size};
}

void RowQueue::queue(const RowCall& call) {
  chunk_.also_result(good_, call.done);
  if (operands_.secret_index != nullptr) {
    operands_.secret = gathered(operands_.secret, operands_.secret_index);
  }
  if (curve_.form == MM_ECC_MONTGOMERY) return ladder(call);
  if (call.operation == RowOperation::add) return add(call);
  if (curve_.form == MM_ECC_EDWARDS) return queue_eddsa(call);
  const bool signs = call.operation == RowOperation::sign;
  if (call.scheme == MM_ECC_BIP340) return signs ? schnorr_sign(call) : schnorr_verify(call);
  if (call.scheme == MM_ECC_SM2DSA) return signs ? sm2_sign(call) : sm2_verify(call);
  switch (call.operation) {
    case RowOperation::public_key:
      return public_keys(call);
    case RowOperation::exchange:
      return exchange(call);
    case RowOperation::sign:
      return sign(call);
    case RowOperation::verify:
      return verify(call);
    case RowOperation::recover:
      return recover(call);
    case RowOperation::add:
    case RowOperation::sum:
      return;  // they are functions of their own
  }
}

}  // namespace manymod::ecc::device

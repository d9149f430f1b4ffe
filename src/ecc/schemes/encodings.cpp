// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/encodings.hpp"

#include <algorithm>
#include <array>

#include "core/read_once.hpp"
#include "repr/limbs.hpp"

namespace manymod::ecc {
namespace {

constexpr std::uint8_t kSequence = 0x30;
constexpr std::uint8_t kInteger = 0x02;
// Contents of 128 to 255 bytes have a length of two bytes.
constexpr std::uint8_t kLongLength = 0x81;
constexpr std::size_t kShortest = 128;

/// Bytes of a number of `bits` bits as an INTEGER, whose first bit is a sign.
std::size_t integer_bytes(std::size_t bits) { return bits / 8 + 1; }

std::size_t header_bytes(std::size_t content) { return content < kShortest ? 2 : 3; }

std::span<std::uint8_t> write_integer(std::span<std::uint8_t> bytes, std::span<const Limb> number) {
  const std::size_t size = integer_bytes(limbs::bit_length_var(number));
  bytes[0] = kInteger;
  bytes[1] = static_cast<std::uint8_t>(size);
  bytes_from_limbs(bytes.subspan(2, size), number);
  return bytes.subspan(2 + size);
}

/// Take a tag and a length from the front of `bytes`. @return false unless the length is minimal and the
/// content is there; `content` is it
bool take(ByteSpan& bytes, std::uint8_t tag, ByteSpan& content) {
  if (bytes.size() < 2 || bytes[0] != tag) return false;
  std::size_t size = bytes[1];
  std::size_t header = 2;
  if (size >= kShortest) {
    if (size != kLongLength || bytes.size() < 3 || bytes[2] < kShortest) return false;
    size = bytes[2];
    header = 3;
  }
  if (bytes.size() - header < size) return false;
  content = bytes.subspan(header, size);
  bytes = bytes.subspan(header + size);
  return true;
}

bool take_integer(ByteSpan& bytes, std::span<Limb> number) {
  ByteSpan digits;
  if (!take(bytes, kInteger, digits) || digits.empty()) return false;
  const bool is_negative = (digits[0] & 0x80) != 0;
  const bool is_padded = digits.size() > 1 && digits[0] == 0 && (digits[1] & 0x80) == 0;
  if (is_negative || is_padded) return false;
  if (digits[0] == 0) digits = digits.subspan(1);
  if (digits.size() > number.size_bytes()) return false;
  limbs_from_bytes(number, digits);
  return true;
}

}  // namespace

std::size_t longest_der(std::size_t order_bits) {
  const std::size_t content = 2 * (2 + integer_bytes(order_bits));
  return header_bytes(content) + content;
}

std::size_t write_der(std::span<std::uint8_t> bytes, std::span<const Limb> r, std::span<const Limb> s) {
  const std::size_t content =
      4 + integer_bytes(limbs::bit_length_var(r)) + integer_bytes(limbs::bit_length_var(s));
  const std::size_t header = header_bytes(content);
  bytes[0] = kSequence;
  if (header == 3) bytes[1] = kLongLength;
  bytes[header - 1] = static_cast<std::uint8_t>(content);
  write_integer(write_integer(bytes.subspan(header), r), s);
  return header + content;
}

bool read_der(ByteSpan bytes, std::span<Limb> r, std::span<Limb> s) {
  // The caller's bytes may change meanwhile: they are read once. No signature is longer.
  std::array<std::uint8_t, kMaxDer> copy;
  if (bytes.size() > copy.size()) return false;
  std::copy(bytes.begin(), bytes.end(), copy.begin());
  ByteSpan rest(copy.data(), bytes.size());
  ByteSpan content;
  return take(rest, kSequence, content) && rest.empty() && take_integer(content, r) &&
         take_integer(content, s) && content.empty();
}

void write_sec1(const Curve& curve, mm_ecc_point_format format, std::span<std::uint8_t> bytes,
                std::span<const Limb> x, std::span<const Limb> y) {
  const std::size_t size = curve.coordinate_bytes();
  if (format == MM_ECC_X_ONLY) return bytes_from_limbs(bytes, x);
  bytes_from_limbs(bytes.subspan(1, size), x);
  if (format == MM_ECC_UNCOMPRESSED) {
    bytes[0] = 4;
    bytes_from_limbs(bytes.subspan(1 + size, size), y);
  } else {
    bytes[0] = static_cast<std::uint8_t>(2 + (y[0] & 1));
  }
}

Sec1Points::Sec1Points(const PointEngine& engine, Sec1Reading reading, std::size_t rows)
    : engine_(engine),
      curve_(engine.curve()),
      reading_(reading),
      points_(rows, curve_.limbs()),
      kind_(rows, Kind::none),
      odd_(rows, 0) {}

bool Sec1Points::read_coordinate(std::span<Limb> limbs, ByteSpan bytes) const {
  limbs_from_bytes(limbs, bytes);
  return limbs::less_var(limbs, curve_.p);
}

Sec1Points::Kind Sec1Points::read_kind(std::size_t row, ByteSpan bytes) {
  const std::size_t size = curve_.coordinate_bytes();
  const auto x = points_.x[row];
  if (reading_ == Sec1Reading::x_only) {
    return bytes.size() == size && read_coordinate(x, bytes) ? Kind::lifted : Kind::none;
  }
  if (bytes.empty()) return Kind::none;
  const std::uint8_t tag = read_once(bytes[0]);
  if (bytes.size() == 1) {
    return tag == 0 && reading_ == Sec1Reading::points ? Kind::infinity : Kind::none;
  }
  if (bytes.size() < 1 + size || !read_coordinate(x, bytes.subspan(1, size))) return Kind::none;
  odd_[row] = tag & 1;
  if (bytes.size() == 1 + size) return tag == 2 || tag == 3 ? Kind::lifted : Kind::none;
  const auto y = points_.y[row];
  if (bytes.size() != 1 + 2 * size || !read_coordinate(y, bytes.subspan(1 + size))) return Kind::none;
  const bool is_hybrid = tag == 6 || tag == 7;
  return tag == 4 || (is_hybrid && (y[0] & 1) == (tag & 1)) ? Kind::complete : Kind::none;
}

void Sec1Points::read(std::size_t row, ByteSpan bytes) { kind_[row] = read_kind(row, bytes); }

void Sec1Points::lift() {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < kind_.size(); ++row) {
    if (kind_[row] == Kind::lifted) rows.push_back(row);
  }
  if (rows.empty()) return;
  Points packed(rows.size(), curve_.limbs());
  std::vector<std::uint8_t> odd(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(points_.x[rows[i]], packed.x[i].begin());
    odd[i] = odd_[rows[i]];
  }
  engine_.lift(packed.y.data(), packed.infinity.data(), packed.x.view(), odd.data(), {0, rows.size()});
  const std::vector<std::uint8_t>& found = packed.infinity;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::ranges::copy(packed.y[i], points_.y[rows[i]].begin());
    // y = 0 has no odd counterpart below p.
    const bool has_parity = (packed.y[i][0] & 1) == odd[i];
    if (found[i] == 0 || !has_parity) kind_[rows[i]] = Kind::none;
  }
}

void Sec1Points::check() {
  if (std::ranges::find(kind_, Kind::complete) == kind_.end()) return;
  std::vector<std::uint8_t> on_curve(kind_.size());
  engine_.check(on_curve.data(), rows(), {0, kind_.size()});
  for (std::size_t row = 0; row < kind_.size(); ++row) {
    if (kind_[row] == Kind::complete && on_curve[row] == 0) kind_[row] = Kind::none;
  }
}

void Sec1Points::clear(std::size_t row) {
  std::ranges::copy(curve_.x, points_.x[row].begin());
  std::ranges::copy(curve_.y, points_.y[row].begin());
}

void Sec1Points::decode() {
  for (std::size_t row = 0; row < kind_.size(); ++row) {
    if (kind_[row] == Kind::none || kind_[row] == Kind::infinity) clear(row);
  }
  lift();
  check();
  for (std::size_t row = 0; row < kind_.size(); ++row) {
    if (kind_[row] == Kind::none) clear(row);
    points_.infinity[row] = kind_[row] == Kind::infinity ? 1 : 0;
  }
}

PointRows Sec1Points::rows(bool shared) const {
  const std::size_t stride = shared ? 0 : curve_.limbs();
  const bool has_infinity = reading_ == Sec1Reading::points && !shared;
  return {{points_.x.view().data, stride},
          {points_.y.view().data, stride},
          has_infinity ? points_.infinity.data() : nullptr};
}

PublicKeys::PublicKeys(const PointEngine& engine, const ItemsIn& items, const Block& block,
                       Sec1Reading reading)
    : shared_(items.is_shared()), points_(engine, reading, items.is_shared() ? 1 : block.size()) {
  const std::size_t rows = shared_ ? 1 : block.size();
  for (std::size_t row = 0; row < rows; ++row) points_.read(row, items[block.item(row)]);
  points_.decode();
  for (std::size_t row = 0; row < block.size(); ++row) {
    if (!points_.valid(shared_ ? 0 : row)) block.fail(row, MM_ITEM_ECC_POINT);
  }
}

}  // namespace manymod::ecc

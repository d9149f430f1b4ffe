// SPDX-License-Identifier: Apache-2.0
// Byte strings of ECDSA's signatures (X.690, SEC 1) and of points of Weierstrass curves (SEC 1, section 2.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ecc/curve.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/schemes/block.hpp"
#include "repr/bytes.hpp"

namespace manymod::ecc {

// ---- signatures ----------------------------------------------------------------------------------------

/// Bytes of the longest DER of two numbers below 2^order_bits.
std::size_t longest_der(std::size_t order_bits);
/// An upper bound of longest_der() for all curves.
inline constexpr std::size_t kMaxDer = 3 + 2 * (2 + MM_ECC_MAX_BITS / 8 + 1);

/// Write a SEQUENCE of the INTEGERs r and s. On input: room for them. @return its length
std::size_t write_der(std::span<std::uint8_t> bytes, std::span<const Limb> r, std::span<const Limb> s);

/// Read a SEQUENCE of two INTEGERs that are not negative, which must be DER: minimal lengths and numbers, and
/// nothing behind. Variable-time.
/// @return false if it is none, or if a number does not fit
bool read_der(ByteSpan bytes, std::span<Limb> r, std::span<Limb> s);

// ---- points --------------------------------------------------------------------------------------------

/// The encoding of a point other than infinity. On input: point_bytes(curve, format) bytes. Constant-time.
void write_sec1(const Curve& curve, mm_ecc_point_format format, std::span<std::uint8_t> bytes,
                std::span<const Limb> x, std::span<const Limb> y);

/// Which encodings are points.
enum class Sec1Reading : std::uint8_t {
  keys,    ///< uncompressed, compressed, or both (hybrid, whose parity must be right); no infinity
  points,  ///< the same, and infinity
  x_only   ///< x alone, of the point with an even y
};

/// Points of a block that are read from encodings: first read() for every row, then decode() once. Rows that
/// are no points become the generator, so that engines may compute with all of them. Public.
class Sec1Points {
 public:
  Sec1Points(const PointEngine& engine, Sec1Reading reading, std::size_t rows);

  /// Take an encoding of any length as that of a row; the bytes are read once.
  void read(std::size_t row, ByteSpan bytes);
  /// Find the y of compressed points, and check that the others are on the curve.
  void decode();

  /// After decode().
  [[nodiscard]] bool valid(std::size_t row) const { return kind_[row] != Kind::none; }
  [[nodiscard]] bool is_infinity(std::size_t row) const { return kind_[row] == Kind::infinity; }
  [[nodiscard]] std::span<const Limb> x(std::size_t row) const { return points_.x[row]; }
  [[nodiscard]] std::span<const Limb> y(std::size_t row) const { return points_.y[row]; }
  /// `shared`: the one row is that of every item.
  [[nodiscard]] PointRows rows(bool shared = false) const;

 private:
  enum class Kind : std::uint8_t { none, infinity, lifted, complete };

  const PointEngine& engine_;
  const Curve& curve_;
  Sec1Reading reading_;
  Points points_;
  std::vector<Kind> kind_;
  std::vector<std::uint8_t> odd_;

  [[nodiscard]] Kind read_kind(std::size_t row, ByteSpan bytes);
  [[nodiscard]] bool read_coordinate(std::span<Limb> limbs, ByteSpan bytes) const;
  void lift();
  void check();
  void clear(std::size_t row);
};

/// The public keys of a block's items: a row each, or one row for all items. Items whose key is none get the
/// status MM_ITEM_ECC_POINT.
class PublicKeys {
 public:
  PublicKeys(const PointEngine& engine, const ItemsIn& items, const Block& block,
             Sec1Reading reading = Sec1Reading::keys);

  [[nodiscard]] PointRows rows() const { return points_.rows(shared_); }
  [[nodiscard]] std::span<const Limb> x(std::size_t row) const { return points_.x(shared_ ? 0 : row); }
  [[nodiscard]] std::span<const Limb> y(std::size_t row) const { return points_.y(shared_ ? 0 : row); }

 private:
  bool shared_;
  Sec1Points points_;
};

}  // namespace manymod::ecc

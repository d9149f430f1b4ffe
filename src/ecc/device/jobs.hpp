// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels of point arithmetic and of signatures. All pointers are to device memory.
//
// Numbers are rows: little-endian 32-bit words, item i from words[i stride]; stride 0: one row for all items.
// A row of a coordinate or scalar has an even number of words. Elements of a field between kernels of CUDA
// are columns: word j of item i is words[j count + i], so that neighbouring threads access neighbouring
// words. Those of OpenCL are rows. Whether points are Jacobian or homogeneous between kernels is the kernels'
// own matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/portable.hpp"

namespace manymod::ecc::device {

inline constexpr unsigned kPointBlock = 128;  ///< threads of a block, one item each
inline constexpr unsigned kChainBlock = 128;  ///< of kernels whose blocks invert for all of their items

/// Bits of a digit of k in k G (constant-time, entries held by the threads of a warp), of u in u G + v P
/// (public), and of k in k P.
inline constexpr unsigned kBaseWindow = 7;
inline constexpr unsigned kWideWindow = 12;
inline constexpr unsigned kPointWindow = 4;

/// Bits of a scalar in the ladder of X25519.
inline constexpr unsigned kLadderBits = 255;

/// The number of windows of `window` bits that scalars below 2^bits have.
MM_DEVICE constexpr unsigned window_count(unsigned bits, unsigned window) {
  return (bits + window - 1) / window;
}

struct Rows {
  const std::uint32_t* words = nullptr;
  std::uint32_t stride = 0;

  MM_DEVICE const std::uint32_t* at(std::uint32_t item) const {
    return words + static_cast<std::size_t>(item) * stride;
  }
};

/// Rows that are written.
struct RowsOut {
  std::uint32_t* words = nullptr;
  std::uint32_t stride = 0;

  MM_DEVICE std::uint32_t* at(std::uint32_t item) const {
    return words + static_cast<std::size_t>(item) * stride;
  }
};

/// Constants of a curve, each in a row of its own.
struct CurveNumbers {
  const std::uint32_t* order = nullptr;          ///< n
  const std::uint32_t* radix_squared = nullptr;  ///< R^2 mod n for the field of scalars
  const std::uint32_t* b = nullptr;              ///< the coefficient b, or d of Edwards curves, canonical

  // For curves that no kernels are compiled for (any_curve.cuda.hpp):
  enum Row : unsigned { kPrime, kRadixSquared, kA, kB3, kB, kInverseExponent, kRows };
  /// The rows p, R^2 mod p, a, 3 b, b, p - 2, each as long as an element. Montgomery curves have (a - 2) / 4
  /// in place of b.
  const std::uint32_t* rows = nullptr;
  std::uint32_t scalar_words = 0;  ///< in a row of a scalar, and of n
  std::uint32_t a_is_zero = 0;     ///< 1: a = 0
  std::uint32_t row_words = 0;     ///< in a row of a coordinate
  std::uint32_t order_bits = 0;    ///< of n
};

/// Computes points in Jacobian coordinates: a multiple of the generator, a multiple of a point, or the sum
/// of both.
struct PointJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  Rows scalar;                           ///< the factor of the point; without a point, of the generator
  Rows base_scalar;                      ///< sums: the factor of the generator
  Rows x, y;                             ///< the point
  const std::uint32_t* table = nullptr;  ///< multiples of the generator
  unsigned window = 0;                   ///< sums: bits of a window of `table`
  std::uint32_t* result = nullptr;       ///< columns X, Y, Z
  std::uint8_t* valid = nullptr;         ///< in and out: cleared for points that are not on the curve

  static std::span<const std::size_t> device_pointers();  ///< see gpu::Kernel
};

/// Affine points from Jacobian ones.
struct AffineJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  std::uint32_t threads = 0;             ///< thread t computes items t, t + threads, ..
  const std::uint32_t* point = nullptr;  ///< columns X, Y, Z
  std::uint32_t* scratch = nullptr;      ///< room for one element of each item, in columns
  RowsOut x, y;                          ///< canonical coordinates; y.words may be null
  std::uint8_t* infinity = nullptr;      ///< may be null
  /// If not null, receives an entry of a table in place of x and y: the elements x and y, which are not
  /// canonical; on Edwards curves the three elements of a prepared point.
  std::uint32_t* entries = nullptr;

  static std::span<const std::size_t> device_pointers();
};

/// Derives nonces by RFC 6979.
struct NonceJob {
  static constexpr unsigned kExtraBytes = 32;

  CurveNumbers curve;
  std::uint32_t count = 0;
  Rows secret;          ///< 0 < d < n
  Rows digest;          ///< its leftmost bits, as many as n has, as a number
  Rows extra;           ///< for hedged nonces: kExtraBytes random bytes (section 3.6)
  RowsOut nonce;        ///< k, or 1 where `found` is 0
  std::uint8_t* found;  ///< in and out: cleared where no candidate is in [1, n)
};

/// r and s of ECDSA.
struct SignJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  std::uint32_t threads = 0;
  Rows nonce, secret, digest;
  Rows x, y;                         ///< k G, affine
  std::uint32_t* scratch = nullptr;  ///< columns of a scalar
  RowsOut r, s;
  std::uint8_t* recovery = nullptr;  ///< bit 0: y odd; bit 1: x >= n
  std::uint8_t* valid = nullptr;     ///< in and out: cleared where k is not in [1, n), or r or s is 0
  std::uint32_t low_s = 0;           ///< 1: s is replaced by n - s if that is lower
};

/// u = z / s and v = r / s of ECDSA.
struct VerifyScalarsJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  std::uint32_t threads = 0;
  Rows digest, r, s;
  std::uint32_t* scratch = nullptr;  ///< columns of a scalar
  RowsOut u, v;
  std::uint8_t* valid = nullptr;  ///< 0 where r or s is not in [1, n), or s is too high
  std::uint32_t low_s = 0;        ///< 1: s must not be above n / 2
};

/// The last step of a verification by ECDSA: whether x(R) = r modulo n.
struct VerifyCompareJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  const std::uint32_t* point = nullptr;  ///< R, columns X, Y, Z
  Rows r;
  const std::uint8_t* on_curve = nullptr;
  std::uint8_t* valid = nullptr;  ///< in and out
};

/// k = u + v d modulo n, or u - v d.
struct CombineJob {
  CurveNumbers curve;
  std::uint32_t count = 0;
  Rows u, v;    ///< below n
  Rows secret;  ///< d < n
  RowsOut k;
  std::uint32_t subtracts = 0;
};

}  // namespace manymod::ecc::device

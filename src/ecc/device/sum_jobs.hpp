// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels that add points: in pairs, or multiples of many points by buckets
// (buckets.cuda.hpp, sums.cuda.hpp). All pointers are to device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ecc/device/jobs.hpp"

namespace manymod::ecc::device {

/// Some elements each: those of group g are in the places first[g] up to first[g] + size[g] - 1.
struct Groups {
  std::uint32_t* first = nullptr;
  std::uint32_t* size = nullptr;
};

/// Stands for the neutral element in `references`.
inline constexpr std::uint32_t kNoPoint = ~std::uint32_t{0};

/// Which terms are in which bucket, by the digits d_i of k = sum of d_i 2^(width i), |d_i| <= 2^(width - 1).
/// Bucket (i << (width - 1)) + |d_i| - 1 has the term; a digit 0 has none.
struct DigitsJob {
  std::uint32_t count = 0;  ///< terms
  Rows scalar;
  std::uint32_t words = 0;  ///< of a scalar
  std::uint32_t width = 0, windows = 0;
  const std::uint8_t* good = nullptr;   ///< 0: the term is left out
  std::uint32_t* size = nullptr;        ///< of buckets: counted where references is null
  std::uint32_t* next = nullptr;        ///< the place of a bucket's next reference
  std::uint32_t* references = nullptr;  ///< 2 term, plus 1 where the digit is negative

  static std::span<const std::size_t> device_pointers();  ///< see gpu::Kernel
};

/// Groups are cut into pieces of at most `most` elements.
struct PiecesJob {
  std::uint32_t count = 0;  ///< groups
  std::uint32_t most = 0;
  Groups groups;
  /// If not null: a counter from which each group reserves a place for each of its elements; the first place
  /// is written to groups.first and to next.
  std::uint32_t* places = nullptr;
  std::uint32_t* next = nullptr;
  std::uint32_t* made = nullptr;  ///< a counter of pieces
  Groups pieces;                  ///< of each group
  Groups elements;                ///< of each piece

  static std::span<const std::size_t> device_pointers();
};

/// Distributes the buckets by the bits of their digits. With B_j the bucket of digit j in a window, the sum
/// of j B_j is the sum of 2^b S_b for 0 <= b < width, where S_b is the sum of B_j over all j with bit b.
/// Group (window width + b) gets references to the B_j in S_b.
struct BitsJob {
  std::uint32_t count = 0;  ///< windows width slots
  std::uint32_t width = 0;
  std::uint32_t slots = 0;  ///< of a group: 2^(width - 2)
  Groups buckets;           ///< of one element or none each
  std::uint32_t* references = nullptr;
  Groups groups;

  static std::span<const std::size_t> device_pointers();
};

/// Sums of elements: of affine points in rows, or of points in columns.
struct SumJob {
  CurveNumbers curve;
  std::uint32_t count = 0;              ///< sums, at most
  const std::uint32_t* made = nullptr;  ///< where not null: how many there are
  Groups elements;                      ///< of each sum
  /// references[place] is the element to add; null: the place itself. For affine points the format is that of
  /// DigitsJob; null: sum t is the sum of points t of both sets.
  const std::uint32_t* references = nullptr;
  Rows x[2], y[2];                        ///< affine points
  std::uint32_t negates = 0;              ///< of affine points: 1: the opposites are added
  const std::uint32_t* points = nullptr;  ///< columns X, Y, Z of point_count points
  std::uint32_t point_count = 0;
  std::uint32_t* result = nullptr;  ///< columns X, Y, Z of `count` points

  static std::span<const std::size_t> device_pointers();
};

}  // namespace manymod::ecc::device

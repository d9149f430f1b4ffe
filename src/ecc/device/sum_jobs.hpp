// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels that add points: in pairs, or multiples of many points by buckets
// (buckets.cuda.hpp, sums.cuda.hpp). All pointers are to device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ecc/device/jobs.hpp"

namespace manymod::ecc::device {

/// Groups of elements: those of group g are at the indices first[g] to first[g] + size[g] - 1.
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
  std::uint32_t* size = nullptr;        ///< the terms of each bucket, counted if references is null
  std::uint32_t* next = nullptr;        ///< the index of each bucket's next reference
  std::uint32_t* references = nullptr;  ///< 2 term, plus 1 where the digit is negative

  static std::span<const std::size_t> device_pointers();  ///< see gpu::Kernel
};

/// Cuts groups into pieces of at most `most` elements.
struct PiecesJob {
  std::uint32_t count = 0;  ///< groups
  std::uint32_t most = 0;
  Groups groups;
  /// If not null: a counter from which each group reserves an index for each of its elements. The first of
  /// them is written to groups.first and to next.
  std::uint32_t* places = nullptr;
  std::uint32_t* next = nullptr;
  std::uint32_t* made = nullptr;  ///< a counter of the pieces of all groups
  Groups pieces;                  ///< the pieces of each group
  Groups elements;                ///< the elements of each piece

  static std::span<const std::size_t> device_pointers();
};

/// Distributes the buckets by the bits of their digits. With B_j the bucket of digit j in a window, the sum
/// of j B_j is the sum of 2^b S_b for 0 <= b < width, where S_b is the sum of B_j over all j with bit b.
/// Group (window width + b) gets references to the B_j in S_b.
struct BitsJob {
  std::uint32_t count = 0;  ///< windows width slots
  std::uint32_t width = 0;
  std::uint32_t slots = 0;  ///< elements of a group, at most: 2^(width - 2)
  Groups buckets;           ///< each has one element, the sum of its terms, or none
  std::uint32_t* references = nullptr;
  Groups groups;

  static std::span<const std::size_t> device_pointers();
};

/// Adds up the elements of each group: affine points in rows, or points in columns.
struct SumJob {
  CurveNumbers curve;
  std::uint32_t count = 0;              ///< sums, at most
  const std::uint32_t* made = nullptr;  ///< if not null: the number of sums
  Groups elements;                      ///< the elements of each sum
  /// The element at index i is references[i]; null: it is i itself. For affine points the format is that of
  /// DigitsJob; null: sum t is the sum of point t of x[0], y[0] and point t of x[1], y[1].
  const std::uint32_t* references = nullptr;
  Rows x[2], y[2];                        ///< affine points
  std::uint32_t negates = 0;              ///< 1: the opposites of affine points are added
  const std::uint32_t* points = nullptr;  ///< columns X, Y, Z of point_count points
  std::uint32_t point_count = 0;
  std::uint32_t* result = nullptr;  ///< columns X, Y, Z of `count` points

  static std::span<const std::size_t> device_pointers();
};

}  // namespace manymod::ecc::device

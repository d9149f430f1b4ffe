// SPDX-License-Identifier: Apache-2.0
// What the kernels of this folder are given: points of one curve, and scalars.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/portable.hpp"

namespace manymod::ecc::giorgi {

/// What is computed for each item.
enum class Operation {
  multiply,       ///< X_P X_Q^steps as coordinate X, for comparison
  add,            ///< P + steps Q, one addition after the other
  twice,          ///< 2^steps P
  right_to_left,  ///< k P by double-and-add from the lowest bit of k up
  naf2,           ///< k P by w-NAF digits from the highest down, w = 2
  naf3,           ///< the same for w = 3, with 3 P
};

/// Numbers of `words` 32-bit words. Those of a curve are rows; those of items are in the paper's order (its
/// figure 1): word j of neighbouring items is at neighbouring addresses, so that the accesses of a warp
/// coalesce. Word j of coordinate c (X, Y, Z) of item i is at [(c words + j) stride + i], word j of its
/// scalar at [j stride + i]. Coordinates are below n.
struct PointJob {
  const std::uint32_t* curve;    ///< n, odd, n > 1; a; R^2 mod n for the technique's R = 2^kRadixBits
  const std::uint32_t* p;        ///< points in Jacobian coordinates; infinity is any with Z = 0
  const std::uint32_t* q;        ///< of add and multiply alone
  const std::uint32_t* scalars;  ///< 0 <= k < 2^bits; of scalar multiplications alone
  std::uint32_t* result;         ///< points in Jacobian coordinates
  std::uint32_t count;           ///< items
  std::uint32_t stride;          ///< count or more
  std::uint32_t words;           ///< at most those of the kernel
  std::uint32_t bits;            ///< of scalars, at most 32 words
  std::uint32_t steps;           ///< of the first three operations
  bool a_is_minus_three;         ///< a = n - 3: doublings take 9 multiplications in place of 10
  bool packed;                   ///< w-NAF digits of w bits each, in place of a word each
};

/// A number of an item to read: words from `count` on are 0.
struct ItemWords {
  const std::uint32_t* first;
  std::size_t stride;
  unsigned count;
  MM_DEVICE std::uint32_t operator[](unsigned j) const { return j < count ? first[j * stride] : 0; }
};

/// A number of an item to write: words from `count` on are discarded.
struct ItemSink {
  std::uint32_t* first;
  std::size_t stride;
  unsigned count;
  MM_DEVICE void set(unsigned j, std::uint32_t word) const {
    if (j < count) first[j * stride] = word;
  }
};

/// Coordinate `coordinate` of item `item`.
MM_DEVICE ItemWords coordinate_of(const PointJob& job, const std::uint32_t* points, unsigned coordinate,
                                  std::uint32_t item) {
  return {points + std::size_t{coordinate} * job.words * job.stride + item, job.stride, job.words};
}
MM_DEVICE ItemSink result_of(const PointJob& job, unsigned coordinate, std::uint32_t item) {
  return {job.result + std::size_t{coordinate} * job.words * job.stride + item, job.stride, job.words};
}
/// Number `index` of the curve: n, a, R^2 mod n.
MM_DEVICE ItemWords constant_of(const PointJob& job, unsigned index) {
  return {job.curve + std::size_t{index} * job.words, 1, job.words};
}

}  // namespace manymod::ecc::giorgi

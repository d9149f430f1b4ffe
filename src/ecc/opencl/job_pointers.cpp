// SPDX-License-Identifier: Apache-2.0
// Where the arguments of kernels on curves have pointers to device memory.
#include <array>
#include <cstddef>

#include "ecc/device/jobs.hpp"

namespace manymod::ecc::device {
namespace {

// jobs.clh declares the same structs for kernels.
static_assert(sizeof(CurveNumbers) == 48 && offsetof(CurveNumbers, order_bits) == 44 && sizeof(Rows) == 16);
static_assert(offsetof(PointJob, scalar) == 56 && offsetof(PointJob, table) == 120 &&
              offsetof(PointJob, result) == 136 && sizeof(PointJob) == 152);
static_assert(offsetof(AffineJob, threads) == 52 && offsetof(AffineJob, x) == 72 &&
              offsetof(AffineJob, infinity) == 104 && sizeof(AffineJob) == 120);

constexpr std::size_t kOrder = offsetof(CurveNumbers, order),
                      kRadixSquared = offsetof(CurveNumbers, radix_squared), kB = offsetof(CurveNumbers, b),
                      kRows = offsetof(CurveNumbers, rows);
static_assert(offsetof(PointJob, curve) == 0 && offsetof(AffineJob, curve) == 0 &&
              offsetof(Rows, words) == 0);

}  // namespace

std::span<const std::size_t> PointJob::device_pointers() {
  static constexpr std::array kPointers{kOrder,
                                        kRadixSquared,
                                        kB,
                                        kRows,
                                        offsetof(PointJob, scalar),
                                        offsetof(PointJob, base_scalar),
                                        offsetof(PointJob, x),
                                        offsetof(PointJob, y),
                                        offsetof(PointJob, table),
                                        offsetof(PointJob, result),
                                        offsetof(PointJob, valid)};
  return kPointers;
}

std::span<const std::size_t> AffineJob::device_pointers() {
  static constexpr std::array kPointers{kOrder,
                                        kRadixSquared,
                                        kB,
                                        kRows,
                                        offsetof(AffineJob, point),
                                        offsetof(AffineJob, scratch),
                                        offsetof(AffineJob, x),
                                        offsetof(AffineJob, y),
                                        offsetof(AffineJob, infinity),
                                        offsetof(AffineJob, entries)};
  return kPointers;
}

}  // namespace manymod::ecc::device

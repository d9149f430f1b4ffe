// SPDX-License-Identifier: Apache-2.0
// Where the arguments of kernels on curves have pointers to device memory.
#include <array>
#include <cstddef>

#include "ecc/device/jobs.hpp"
#include "ecc/device/sum_jobs.hpp"

namespace manymod::ecc::device {
namespace {

// jobs.clh declares the same structs for kernels.
static_assert(sizeof(CurveNumbers) == 48 && offsetof(CurveNumbers, order_bits) == 44 && sizeof(Rows) == 16);
static_assert(offsetof(PointJob, scalar) == 56 && offsetof(PointJob, table) == 120 &&
              offsetof(PointJob, result) == 136 && sizeof(PointJob) == 152);
static_assert(offsetof(AffineJob, threads) == 52 && offsetof(AffineJob, x) == 72 &&
              offsetof(AffineJob, infinity) == 104 && sizeof(AffineJob) == 120);
static_assert(sizeof(Groups) == 16 && offsetof(DigitsJob, width) == 28 && offsetof(DigitsJob, good) == 40 &&
              sizeof(DigitsJob) == 72);
static_assert(offsetof(PiecesJob, groups) == 8 && offsetof(PiecesJob, pieces) == 48 &&
              sizeof(PiecesJob) == 80);
static_assert(offsetof(BitsJob, buckets) == 16 && offsetof(BitsJob, groups) == 40 && sizeof(BitsJob) == 56);
static_assert(offsetof(SumJob, made) == 56 && offsetof(SumJob, x) == 88 && offsetof(SumJob, negates) == 152 &&
              offsetof(SumJob, result) == 176 && sizeof(SumJob) == 184);

constexpr std::size_t kOrder = offsetof(CurveNumbers, order),
                      kRadixSquared = offsetof(CurveNumbers, radix_squared), kB = offsetof(CurveNumbers, b),
                      kRows = offsetof(CurveNumbers, rows);
static_assert(offsetof(PointJob, curve) == 0 && offsetof(AffineJob, curve) == 0 &&
              offsetof(SumJob, curve) == 0 && offsetof(Rows, words) == 0);

constexpr std::size_t kFirstOfGroup = offsetof(Groups, first), kSizeOfGroup = offsetof(Groups, size);

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

std::span<const std::size_t> DigitsJob::device_pointers() {
  static constexpr std::array kPointers{offsetof(DigitsJob, scalar), offsetof(DigitsJob, good),
                                        offsetof(DigitsJob, size), offsetof(DigitsJob, next),
                                        offsetof(DigitsJob, references)};
  return kPointers;
}

std::span<const std::size_t> PiecesJob::device_pointers() {
  static constexpr std::array kPointers{offsetof(PiecesJob, groups) + kFirstOfGroup,
                                        offsetof(PiecesJob, groups) + kSizeOfGroup,
                                        offsetof(PiecesJob, places),
                                        offsetof(PiecesJob, next),
                                        offsetof(PiecesJob, made),
                                        offsetof(PiecesJob, pieces) + kFirstOfGroup,
                                        offsetof(PiecesJob, pieces) + kSizeOfGroup,
                                        offsetof(PiecesJob, elements) + kFirstOfGroup,
                                        offsetof(PiecesJob, elements) + kSizeOfGroup};
  return kPointers;
}

std::span<const std::size_t> BitsJob::device_pointers() {
  static constexpr std::array kPointers{
      offsetof(BitsJob, buckets) + kFirstOfGroup, offsetof(BitsJob, buckets) + kSizeOfGroup,
      offsetof(BitsJob, references), offsetof(BitsJob, groups) + kFirstOfGroup,
      offsetof(BitsJob, groups) + kSizeOfGroup};
  return kPointers;
}

std::span<const std::size_t> SumJob::device_pointers() {
  static constexpr std::array kPointers{kOrder,
                                        kRadixSquared,
                                        kB,
                                        kRows,
                                        offsetof(SumJob, made),
                                        offsetof(SumJob, elements) + kFirstOfGroup,
                                        offsetof(SumJob, elements) + kSizeOfGroup,
                                        offsetof(SumJob, references),
                                        offsetof(SumJob, x),
                                        offsetof(SumJob, x) + sizeof(Rows),
                                        offsetof(SumJob, y),
                                        offsetof(SumJob, y) + sizeof(Rows),
                                        offsetof(SumJob, points),
                                        offsetof(SumJob, result)};
  return kPointers;
}

}  // namespace manymod::ecc::device

// SPDX-License-Identifier: Apache-2.0
// Where the arguments of kernels have pointers to device memory.
#include <array>
#include <cstddef>

#include "gpu/kernels/garner_job.hpp"
#include "gpu/kernels/residue_job.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "gpu/program/program.hpp"

namespace manymod::gpu {
namespace {

// opencl/kernels/job.clh declares the same structs for kernels.
static_assert(sizeof(void*) == 8 && sizeof(DeviceOperand) == 16 && sizeof(Step) == 40);
static_assert(offsetof(ProgramJob, operands) == 48 && offsetof(ProgramJob, comb_threads) == 1112 &&
              offsetof(ProgramJob, constants) == 1128 && sizeof(ProgramJob) == 1160);
static_assert(sizeof(ResidueJob) == 80 && sizeof(GarnerDifferenceJob) == 64 && sizeof(GarnerSumJob) == 72);
static_assert(sizeof(RowsJob) == 80);

constexpr std::size_t kWords = offsetof(DeviceOperand, words);

constexpr auto program_pointers() {
  std::array<std::size_t, 11 + kMaxOperands> all{
      offsetof(ProgramJob, steps),          offsetof(ProgramJob, modulus) + kWords,
      offsetof(ProgramJob, start) + kWords, offsetof(ProgramJob, result),
      offsetof(ProgramJob, claimed),        offsetof(ProgramJob, table),
      offsetof(ProgramJob, comb),           offsetof(ProgramJob, constants),
      offsetof(ProgramJob, refused),        offsetof(ProgramJob, pieces),
      offsetof(ProgramJob, progress)};
  for (std::size_t i = 0; i < kMaxOperands; ++i) {
    all[11 + i] = offsetof(ProgramJob, operands) + i * sizeof(DeviceOperand) + kWords;
  }
  return all;
}

}  // namespace

std::span<const std::size_t> ProgramJob::device_pointers() {
  static constexpr auto kPointers = program_pointers();
  return kPointers;
}

std::span<const std::size_t> ResidueJob::device_pointers() {
  static constexpr std::size_t kPointers[] = {offsetof(ResidueJob, modulus) + kWords,
                                              offsetof(ResidueJob, value) + kWords,
                                              offsetof(ResidueJob, negative), offsetof(ResidueJob, result)};
  return kPointers;
}

std::span<const std::size_t> GarnerDifferenceJob::device_pointers() {
  static constexpr std::size_t kPointers[] = {
      offsetof(GarnerDifferenceJob, a) + kWords, offsetof(GarnerDifferenceJob, b) + kWords,
      offsetof(GarnerDifferenceJob, p) + kWords, offsetof(GarnerDifferenceJob, result)};
  return kPointers;
}

std::span<const std::size_t> GarnerSumJob::device_pointers() {
  static constexpr std::size_t kPointers[] = {
      offsetof(GarnerSumJob, b) + kWords, offsetof(GarnerSumJob, q) + kWords,
      offsetof(GarnerSumJob, h) + kWords, offsetof(GarnerSumJob, result)};
  return kPointers;
}

std::span<const std::size_t> RowsJob::device_pointers() {
  static constexpr std::size_t kPointers[] = {offsetof(RowsJob, from) + offsetof(RowsPlace, limbs),
                                              offsetof(RowsJob, from) + offsetof(RowsPlace, items),
                                              offsetof(RowsJob, to) + offsetof(RowsPlace, limbs),
                                              offsetof(RowsJob, to) + offsetof(RowsPlace, items),
                                              offsetof(RowsJob, left_out)};
  return kPointers;
}

}  // namespace manymod::gpu

// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/job_pointers.hpp"

#include <array>

#include "gpu/kernels/garner_job.hpp"
#include "gpu/kernels/residue_job.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "gpu/program/program.hpp"

namespace manymod::opencl {
namespace {

using gpu::DeviceOperand;
using gpu::GarnerDifferenceJob;
using gpu::GarnerSumJob;
using gpu::ProgramJob;
using gpu::ResidueJob;
using gpu::RowsJob;
using gpu::RowsPlace;

// job.clh declares the same structs for kernels.
static_assert(sizeof(void*) == 8 && sizeof(DeviceOperand) == 16 && sizeof(gpu::Step) == 40);
static_assert(offsetof(ProgramJob, operands) == 48 && offsetof(ProgramJob, comb_threads) == 1112 &&
              offsetof(ProgramJob, constants) == 1128 && sizeof(ProgramJob) == 1144);
static_assert(sizeof(ResidueJob) == 80 && sizeof(GarnerDifferenceJob) == 64 && sizeof(GarnerSumJob) == 72);
static_assert(sizeof(RowsJob) == 80);

constexpr std::size_t kWords = offsetof(DeviceOperand, words);

constexpr auto program_pointers() {
  std::array<std::size_t, 9 + gpu::kMaxOperands> all{
      offsetof(ProgramJob, steps),          offsetof(ProgramJob, modulus) + kWords,
      offsetof(ProgramJob, start) + kWords, offsetof(ProgramJob, result),
      offsetof(ProgramJob, claimed),        offsetof(ProgramJob, table),
      offsetof(ProgramJob, comb),           offsetof(ProgramJob, constants),
      offsetof(ProgramJob, refused)};
  for (std::size_t i = 0; i < gpu::kMaxOperands; ++i) {
    all[9 + i] = offsetof(ProgramJob, operands) + i * sizeof(DeviceOperand) + kWords;
  }
  return all;
}

constexpr auto kProgram = program_pointers();
constexpr std::size_t kResidue[] = {offsetof(ResidueJob, modulus) + kWords,
                                    offsetof(ResidueJob, value) + kWords, offsetof(ResidueJob, negative),
                                    offsetof(ResidueJob, result)};
constexpr std::size_t kDifference[] = {
    offsetof(GarnerDifferenceJob, a) + kWords, offsetof(GarnerDifferenceJob, b) + kWords,
    offsetof(GarnerDifferenceJob, p) + kWords, offsetof(GarnerDifferenceJob, result)};
constexpr std::size_t kSum[] = {offsetof(GarnerSumJob, b) + kWords, offsetof(GarnerSumJob, q) + kWords,
                                offsetof(GarnerSumJob, h) + kWords, offsetof(GarnerSumJob, result)};
constexpr std::size_t kRows[] = {
    offsetof(RowsJob, from) + offsetof(RowsPlace, limbs),
    offsetof(RowsJob, from) + offsetof(RowsPlace, items), offsetof(RowsJob, to) + offsetof(RowsPlace, limbs),
    offsetof(RowsJob, to) + offsetof(RowsPlace, items), offsetof(RowsJob, left_out)};

}  // namespace

std::span<const std::size_t> pointers_of(std::string_view kernel) {
  if (kernel == "mm_residue") return kResidue;
  if (kernel == "mm_garner_difference") return kDifference;
  if (kernel == "mm_garner_sum") return kSum;
  if (kernel == "mm_copy_rows") return kRows;
  return kProgram;
}

}  // namespace manymod::opencl

// SPDX-License-Identifier: Apache-2.0
// Prints, for check_device_secrets.py, the offsets of public pointers in the kernels' arguments.
#include <cstddef>
#include <cstdio>
#include <initializer_list>

#include "ecc/device/jobs.hpp"
#include "ecc/device/row_jobs.hpp"
#include "gpu/kernels/rows.cuda.hpp"
#include "gpu/program/program.hpp"

int main() {
  using namespace manymod::gpu;
  namespace curves = manymod::ecc::device;
  std::printf("{");
  // A kernel of a technique is named after its shape, or after the width of its moduli.
  for (const char* const kernels : {"*_[0-9]*x[0-9]*", "rns_[0-9]*", "cox_rower_*"}) {
    std::printf("\"%s\": {\"public\": [%zu, %zu, %zu, %zu], \"true\": [%zu]},\n", kernels,
                offsetof(ProgramJob, steps), offsetof(ProgramJob, claimed), offsetof(ProgramJob, pieces),
                offsetof(ProgramJob, progress), offsetof(ProgramJob, scan));
  }
  // Constants of a curve and tables of multiples of its generator, points that are multiplied and verdicts
  // about them, and nonces' verdicts.
  const auto print_curve = [](const char* kernels, std::size_t curve,
                              std::initializer_list<std::size_t> others) {
    std::printf("\"%s\": {\"public\": [%zu, %zu, %zu, %zu", kernels,
                curve + offsetof(curves::CurveNumbers, order),
                curve + offsetof(curves::CurveNumbers, radix_squared),
                curve + offsetof(curves::CurveNumbers, b), curve + offsetof(curves::CurveNumbers, rows));
    for (const std::size_t offset : others) std::printf(", %zu", offset);
    std::printf("]},\n");
  };
  for (const char* const kernels : {"ecc_*_base", "ecc_*_multiply"}) {
    print_curve(kernels, offsetof(curves::PointJob, curve), {offsetof(curves::PointJob, table)});
  }
  print_curve("ecc_*_affine", offsetof(curves::AffineJob, curve), {});
  print_curve("ecc_*_nonce", offsetof(curves::NonceJob, curve), {});
  print_curve("ecc_*_hedged", offsetof(curves::NonceJob, curve), {});
  print_curve("ecc_*_sign", offsetof(curves::SignJob, curve), {});
  print_curve("ecc_*_combine", offsetof(curves::CombineJob, curve), {});
  print_curve("ecc_*_hash", offsetof(curves::HashJob, curve),
              {offsetof(curves::HashJob, message_sizes.words)});
  std::printf("\"ecc_*_digest\": {\"public\": [%zu]},\n", offsetof(curves::DigestJob, last_sizes.words));
  std::printf("\"ecc_rows_gather\": {\"public\": [%zu]},\n", offsetof(curves::GatherJob, index));
  print_curve("ecc_*_expand", offsetof(curves::ExpandJob, curve), {});
  std::printf("\"mm_copy_rows\": {\"public\": [%zu, %zu, %zu]}}\n", offsetof(RowsJob, from.items),
              offsetof(RowsJob, to.items), offsetof(RowsJob, left_out));
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Prints, for check_device_secrets.py, the offsets of public pointers in the kernels' arguments.
#include <cstddef>
#include <cstdio>
#include <initializer_list>

#include "gpu/kernels/rows.cuda.hpp"
#include "gpu/program/program.hpp"

int main() {
  using namespace manymod::gpu;
  std::printf("{");
  // A kernel of a technique is named after its shape, or after the width of its moduli.
  for (const char* const kernels : {"*_[0-9]*x[0-9]*", "rns_[0-9]*"}) {
    std::printf("\"%s\": {\"public\": [%zu, %zu], \"true\": [%zu]},\n", kernels, offsetof(ProgramJob, steps),
                offsetof(ProgramJob, claimed), offsetof(ProgramJob, scan));
  }
  std::printf("\"mm_copy_rows\": {\"public\": [%zu, %zu, %zu]}}\n", offsetof(RowsJob, from.items),
              offsetof(RowsJob, to.items), offsetof(RowsJob, left_out));
  return 0;
}

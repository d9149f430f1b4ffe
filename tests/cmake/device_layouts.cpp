// SPDX-License-Identifier: Apache-2.0
// Prints where check_device_secrets.py finds what is public in the kernels' arguments.
#include <cstddef>
#include <cstdio>

#include "modmul/device/program.hpp"
#include "modmul/device/rows.hpp"

int main() {
  using namespace manymod::device;
  // A kernel of a technique is named after its shape.
  std::printf("{\"*_[0-9]*x[0-9]*\": {\"public\": [%zu, %zu], \"true\": [%zu]},\n",
              offsetof(ProgramJob, steps), offsetof(ProgramJob, claimed), offsetof(ProgramJob, scan));
  std::printf(" \"mm_copy_rows\": {\"public\": [%zu, %zu]}}\n", offsetof(RowsJob, from.items),
              offsetof(RowsJob, to.items));
  return 0;
}

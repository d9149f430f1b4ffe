// SPDX-License-Identifier: Apache-2.0
// Tests on the OpenCL drivers of this machine, which are skipped where there is none.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "manymod/manymod.h"

namespace manymod::testing {

class OpenclTest : public ::testing::Test {
 protected:
  static bool has_device() {
    for (std::size_t i = 0; i < mm_device_count(); ++i) {
      mm_device_info info{};
      info.struct_size = sizeof info;
      const bool known = mm_device_get(i, &info) == MM_OK;
      if (known && info.backend == MM_BACKEND_OPENCL && info.obstacle[0] == '\0') return true;
    }
    return false;
  }

  void SetUp() override {
    if (!has_device()) GTEST_SKIP() << "no OpenCL device";
  }
};

}  // namespace manymod::testing

// SPDX-License-Identifier: Apache-2.0
#include "support/opencl_fixture.hpp"

#include <cstdlib>

#include "gpu/opencl/driver.hpp"
#include "manymod/manymod.h"

namespace manymod::testing {
namespace {

constexpr const char* kHiding = "MANYMOD_HIDE_OPENCL";

[[maybe_unused]] const int kHidden = setenv(kHiding, "1", 1);

}  // namespace

void OpenclTest::SetUp() {
  unsetenv(kHiding);
  opencl::Driver::use({});
  mm_opencl_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(mm_opencl_get_info(&info), MM_OK);
  if (info.obstacle[0] != '\0') GTEST_SKIP() << info.obstacle;
}

void OpenclTest::TearDown() {
  setenv(kHiding, "1", 1);
  opencl::Driver::use({});
}

}  // namespace manymod::testing

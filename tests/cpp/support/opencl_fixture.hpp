// SPDX-License-Identifier: Apache-2.0
// Tests on the OpenCL drivers of this machine, which are skipped where there is none. They are hidden from
// all other tests, since a driver compiles each kernel that is used, and since drivers do not survive a fork.
#pragma once

#include <gtest/gtest.h>

namespace manymod::testing {

class OpenclTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
};

}  // namespace manymod::testing

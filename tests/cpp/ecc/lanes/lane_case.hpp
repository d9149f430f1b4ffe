// SPDX-License-Identifier: Apache-2.0
// A curve in one kind of lanes, as the parameter of tests.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "ecc/lanes/engine.hpp"

namespace manymod::test {

struct LaneCase {
  std::size_t backend;  ///< of ecc::lanes::point_lane_backends()
  ecc::CurveId curve;
};

inline std::string name_of_case(const testing::TestParamInfo<LaneCase>& test) {
  std::string name = ecc::lanes::point_lane_backends()[test.param.backend].variant;
  name += "_" + ecc::named_curve(test.param.curve).name;
  std::erase_if(name, [](char c) { return c == '.' || c == '-'; });
  return name;
}

}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
#include "modmul/row32/multiplier.cuda.hpp"
#include "support/device_multiplier_tests.hpp"
#include "support/device_program_tests.hpp"

namespace manymod::test {
namespace {

template <unsigned kThreads, unsigned kPerThread>
using Shape = DeviceShape<row32::Multiplier, kThreads, kPerThread>;

using Shapes = testing::Types<Shape<1, 2>, Shape<1, 6>, Shape<1, 8>, Shape<1, 16>, Shape<1, 24>, Shape<2, 2>,
                              Shape<2, 24>, Shape<4, 2>, Shape<4, 8>, Shape<8, 4>, Shape<16, 2>, Shape<32, 2>,
                              Shape<32, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Row32, DeviceMultiplier, Shapes, DeviceShapeNames);

using SmallShapes = testing::Types<Shape<1, 2>, Shape<1, 4>, Shape<2, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Row32, DeviceMultiplierExhaustive, SmallShapes, DeviceShapeNames);

using ProgramShapes = testing::Types<Shape<1, 4>, Shape<1, 16>, Shape<2, 8>, Shape<8, 2>, Shape<16, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Row32, DeviceProgram, ProgramShapes, DeviceShapeNames);

}  // namespace
}  // namespace manymod::test

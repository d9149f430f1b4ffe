// SPDX-License-Identifier: Apache-2.0
#include "support/device_api_tests.hpp"

namespace manymod::test {
namespace {

template <unsigned kBits, unsigned kThreads>
using Shape = ApiShape<kBits, kThreads, device::Dpf52>;

using Shapes = testing::Types<Shape<160, 1>, Shape<512, 1>, Shape<96, 2>, Shape<256, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Dpf52, DeviceApi, Shapes, ApiShapeNames);

}  // namespace
}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
#include "support/device_field.hpp"

namespace manymod::test {
namespace {

template <unsigned kBits, unsigned kThreads>
using Backend = DeviceBackend<kBits, kThreads, field::Row32>;

using Backends =
    testing::Types<Backend<64, 1>, Backend<256, 1>, Backend<640, 1>, Backend<96, 2>, Backend<384, 4>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Row32, FieldContract, Backends, DeviceFieldNames);

}  // namespace
}  // namespace manymod::test

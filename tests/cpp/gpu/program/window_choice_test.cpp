// SPDX-License-Identifier: Apache-2.0
// Windows of powers on CUDA devices: the fastest ones, or those within 1 % of them, according to
// bench/results/device_powers_h200.json and device_kernels_h200.json.
#include "gpu/program/window_choice.hpp"
#include "modmul/dpf52/variants.cuda.hpp"
#include "modmul/rns/variants.cuda.hpp"
#include "modmul/row32/variants.cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>

#include "gpu/engine/technique.hpp"

namespace manymod::testing {
namespace {

struct Measured {
  std::span<const gpu::Technique> technique;
  unsigned threads;
  unsigned per_thread;
  unsigned bits;
  std::uint32_t window;
};

const gpu::Shape& shape_of(const Measured& measured) {
  for (const gpu::Shape& shape : measured.technique.front().shapes) {
    if (shape.threads == measured.threads && shape.per_thread == measured.per_thread) return shape;
  }
  ADD_FAILURE() << "no such shape";
  std::abort();
}

constexpr std::size_t kManyTables = 33792;

TEST(WindowChoice, ConstantTimeInLargeGroups) {
  const auto row32 = row32::cuda_techniques(), dpf52 = dpf52::cuda_techniques();
  for (const Measured& measured : {
           Measured{row32, 4, 8, 1024, 4},
           {row32, 4, 16, 2048, 5},
           {row32, 32, 2, 2048, 5},
           {row32, 4, 24, 3072, 5},
           {row32, 8, 12, 3072, 5},
           {row32, 8, 16, 4096, 5},
           {row32, 32, 4, 4096, 5},
           {row32, 16, 16, 8192, 6},
           {dpf52, 4, 5, 1024, 4},
           {dpf52, 4, 10, 2048, 4},
           {dpf52, 8, 5, 2048, 4},
           {dpf52, 4, 15, 3072, 4},
           {dpf52, 4, 20, 4096, 5},
           {dpf52, 8, 10, 4096, 5},
           {dpf52, 32, 5, 8192, 5},
       }) {
    const gpu::Shape& shape = shape_of(measured);
    for (const std::size_t tables : {std::size_t{1}, kManyTables}) {
      EXPECT_EQ(gpu::window_bits(shape, measured.bits, true, tables), measured.window) << shape.kernel;
    }
  }
}

// Windows are narrower if the tables of all instances do not fit the second-level cache.
TEST(WindowChoice, ConstantTimeInSmallGroups) {
  const auto row32 = row32::cuda_techniques(), dpf52 = dpf52::cuda_techniques();
  for (const Measured& measured : {
           Measured{row32, 1, 32, 1024, 3},
           {row32, 2, 24, 1536, 3},
           {row32, 2, 32, 2048, 3},
           {dpf52, 1, 20, 1024, 3},
           {dpf52, 2, 15, 1536, 3},
       }) {
    const gpu::Shape& shape = shape_of(measured);
    EXPECT_EQ(gpu::window_bits(shape, measured.bits, true, kManyTables), measured.window) << shape.kernel;
    EXPECT_EQ(gpu::window_bits(shape, measured.bits, true, 1), 4u) << shape.kernel;
  }
}

// These kernels select the elements of many digits together, so that constant time costs almost nothing.
TEST(WindowChoice, ConstantTimeWithJointSelections) {
  for (const gpu::Shape& shape : rns::cuda_techniques().front().shapes) {
    EXPECT_EQ(gpu::window_bits(shape, 512, true, kManyTables), 5u) << shape.kernel;
    EXPECT_EQ(gpu::window_bits(shape, 8192, true, kManyTables), 5u) << shape.kernel;
    EXPECT_EQ(gpu::window_bits(shape, 8192, false, kManyTables), 6u) << shape.kernel;
    EXPECT_EQ(gpu::window_bits(shape, 20, true, kManyTables), 2u) << shape.kernel;
  }
}

TEST(WindowChoice, VariableTime) {
  const Measured measured{row32::cuda_techniques(), 4, 16, 2048, 0};
  const gpu::Shape& shape = shape_of(measured);
  EXPECT_EQ(gpu::window_bits(shape, 1024, false, kManyTables), 5u);
  EXPECT_EQ(gpu::window_bits(shape, 2048, false, kManyTables), 6u);
  EXPECT_EQ(gpu::window_bits(shape, 20, false, kManyTables), 2u);
}

}  // namespace
}  // namespace manymod::testing

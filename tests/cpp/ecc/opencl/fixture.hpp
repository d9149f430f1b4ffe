// SPDX-License-Identifier: Apache-2.0
// Tests of curves on a real OpenCL driver, such as PoCL, which are skipped where there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "ecc/opencl/variants.opencl.hpp"
#include "ecc/point_engine.hpp"
#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/requirements.hpp"
#include "support/opencl_faults.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::testing {

inline std::size_t opencl_launches = 0, failed_launches = 0;

/// clEnqueueNDRangeKernel, counted.
inline opencl::Status count_launches(opencl::QueueHandle queue, opencl::KernelHandle kernel,
                                     std::uint32_t dimensions, const std::size_t* offset,
                                     const std::size_t* global, const std::size_t* local, std::uint32_t count,
                                     const opencl::EventHandle* events, opencl::EventHandle* event) {
  const opencl::Status status = own<decltype(&count_launches)>("clEnqueueNDRangeKernel")(
      queue, kernel, dimensions, offset, global, local, count, events, event);
  ++(status == opencl::kSuccess ? opencl_launches : failed_launches);
  return status;
}

/// With secrets on the device.
class OpenclCurves : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    setenv("MANYMOD_OPENCL_SECRET", "1", 1);
    opencl_launches = failed_launches = 0;
    if (!IsSkipped()) replace("", nullptr);
  }
  void TearDown() override {
    // The host computes what a device does not, and would hide it.
    EXPECT_EQ(failed_launches, 0U);
    unsetenv("MANYMOD_OPENCL_SECRET");
    opencl::forget_disqualified();
    OpenclTest::TearDown();
  }

  static std::unique_ptr<const ecc::PointEngine> engine_of(const ecc::Curve& curve) {
    constexpr unsigned kFirst = 0;
    return ecc::opencl::variant().make(curve, {&kFirst, 1});
  }
  /// In the place of that function of the driver, while launches are counted.
  static void replace(const char* name, void* function) {
    opencl::DriverSources sources;
    sources.replaced_functions = {{name, function}, {"clEnqueueNDRangeKernel", address(count_launches)}};
    opencl::Driver::use(sources);
  }
};

}  // namespace manymod::testing

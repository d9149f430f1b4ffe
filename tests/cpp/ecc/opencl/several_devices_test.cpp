// SPDX-License-Identifier: Apache-2.0
// Curves on several OpenCL devices, for which each device of the machine is listed twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "ecc/curve_checks.hpp"
#include "ecc/opencl/fixture.hpp"
#include "ecc/opencl/short_curves.hpp"
#include "ecc/opencl/sum_operands.hpp"

namespace manymod::test {
namespace {

using ecc::ItemRange;
using manymod::testing::address;
using manymod::testing::own;

/// clGetDeviceIDs that lists each device twice.
opencl::Status list_twice(opencl::PlatformHandle platform, opencl::Bits type, std::uint32_t most,
                          opencl::DeviceHandle* devices, std::uint32_t* count) {
  const auto list = own<decltype(&list_twice)>("clGetDeviceIDs");
  std::uint32_t all = 0;
  opencl::Status status = list(platform, type, 0, nullptr, &all);
  if (status == opencl::kSuccess && devices != nullptr && most >= 2 * all) {
    status = list(platform, type, all, devices, nullptr);
    std::copy_n(devices, all, devices + all);
  }
  if (count != nullptr) *count = 2 * all;
  return status;
}

/// Each device has a context of its own.
template <class Object>
opencl::ContextHandle context_of(Object object, const char* query, opencl::Info info) {
  opencl::ContextHandle context = nullptr;
  own<opencl::Status (*)(Object, opencl::Info, std::size_t, void*, std::size_t*)>(query)(
      object, info, sizeof(opencl::ContextHandle), static_cast<void*>(&context), nullptr);
  return context;
}
constexpr opencl::Info kProgramContext = 0x1161, kQueueContext = 0x1090;

std::map<opencl::ContextHandle, std::size_t> launches_in;
opencl::ContextHandle without_sums = nullptr;

/// clEnqueueNDRangeKernel, counted for each device.
opencl::Status count_launches_of_each(opencl::QueueHandle queue, opencl::KernelHandle kernel,
                                      std::uint32_t dimensions, const std::size_t* offset,
                                      const std::size_t* global, const std::size_t* local,
                                      std::uint32_t count, const opencl::EventHandle* events,
                                      opencl::EventHandle* event) {
  ++launches_in[context_of(queue, "clGetCommandQueueInfo", kQueueContext)];
  return manymod::testing::count_launches(queue, kernel, dimensions, offset, global, local, count, events,
                                          event);
}

/// clBuildProgram that fails for sums on the first device that needs them.
opencl::Status fail_to_build_first_sums(opencl::ProgramHandle program, std::uint32_t count,
                                        const opencl::DeviceHandle* devices, const char* options,
                                        void* notify, void* data) {
  if (std::strstr(options, "-DMM_PART_terms") != nullptr) {
    auto* const context = context_of(program, "clGetProgramInfo", kProgramContext);
    if (without_sums == nullptr) without_sums = context;
    if (without_sums == context) return -11;  // CL_BUILD_PROGRAM_FAILURE
  }
  return own<decltype(&fail_to_build_first_sums)>("clBuildProgram")(program, count, devices, options, notify,
                                                                    data);
}

class SeveralOpenclDevices : public manymod::testing::OpenclCurves {
 protected:
  static constexpr std::size_t kCount = 300;

  void SetUp() override {
    OpenclCurves::SetUp();
    if (IsSkipped()) return;
    opencl::DriverSources sources;
    sources.replaced_functions = {{"clGetDeviceIDs", address(list_twice)},
                                  {"clBuildProgram", address(fail_to_build_first_sums)},
                                  {"clEnqueueNDRangeKernel", address(count_launches_of_each)}};
    opencl::Driver::use(sources);
    launches_in.clear();
    without_sums = nullptr;
  }
  static std::unique_ptr<const ecc::PointEngine> engine_of(const ecc::Curve& curve) {
    constexpr std::array kBoth{0U, 1U};
    return ecc::opencl::variant().make(curve, kBoth);
  }
};

/// The other device computes the sums, and both all else.
TEST_F(SeveralOpenclDevices, OneWhoseSumsFailComputesAllElse) {
  const ecc::Curve curve = ecc::make_curve(CurveNumbers(kAny).view());
  const SumOperands operands(curve, kCount);
  const ItemRange all{0, kCount};
  const auto engine = engine_of(curve);
  ASSERT_EQ(engine->gpus(), 2U);
  EXPECT_EQ(operands.total(*engine, all), operands.total(operands.host(), all));
  ASSERT_NE(without_sums, nullptr);
  launches_in.clear();
  EXPECT_EQ(operands.total(*engine, all), operands.total(operands.host(), all));
  EXPECT_EQ(operands.sums(*engine, all), operands.sums(operands.host(), all));
  EXPECT_EQ(launches_in.size(), 1U);
  EXPECT_FALSE(launches_in.contains(without_sums));
  std::vector<std::uint8_t> valid(kCount);
  engine->check(valid.data(), operands.p(), all);
  EXPECT_EQ(valid, std::vector<std::uint8_t>(kCount, 1));
  // Of idle devices that are alike the first is taken.
  EXPECT_TRUE(launches_in.contains(without_sums));
}

}  // namespace
}  // namespace manymod::test

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

/// clGetDeviceInfo of devices that have one compute unit, whose chunks are the shortest.
opencl::Status describe_one_unit(opencl::DeviceHandle device, opencl::Info info, std::size_t bytes,
                                 void* value, std::size_t* needed) {
  const opencl::Status status =
      own<decltype(&describe_one_unit)>("clGetDeviceInfo")(device, info, bytes, value, needed);
  if (info == opencl::kDeviceComputeUnits && value != nullptr) *static_cast<std::uint32_t*>(value) = 1;
  return status;
}

std::map<opencl::ContextHandle, std::size_t> launches_in;
opencl::ContextHandle without_sums = nullptr;

constexpr std::size_t kNever = ~std::size_t{0};
/// Launches before the first one that fails, and how many fail.
std::size_t good_launches = kNever, bad_launches = 0;

/// clEnqueueNDRangeKernel, counted for each device, that fails as it is told.
opencl::Status count_launches_of_each(opencl::QueueHandle queue, opencl::KernelHandle kernel,
                                      std::uint32_t dimensions, const std::size_t* offset,
                                      const std::size_t* global, const std::size_t* local,
                                      std::uint32_t count, const opencl::EventHandle* events,
                                      opencl::EventHandle* event) {
  if (good_launches == 0 && bad_launches > 0) {
    --bad_launches;
    return -54;  // CL_INVALID_WORK_GROUP_SIZE: not a lack of memory, after which the device is tried again
  }
  --good_launches;
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
  static constexpr std::size_t kCount = 300, kDevices = 2;

  void SetUp() override {
    OpenclCurves::SetUp();
    launches_in.clear();
    without_sums = nullptr;
    fail_after(kNever, 0);
  }
  static void use(const char* name, void* function) {
    opencl::DriverSources sources;
    sources.replaced_functions = {{"clGetDeviceIDs", address(list_twice)},
                                  {"clGetDeviceInfo", address(describe_one_unit)},
                                  {"clEnqueueNDRangeKernel", address(count_launches_of_each)},
                                  {name, function}};
    opencl::Driver::use(sources);
  }
  static void fail_after(std::size_t good, std::size_t bad) {
    good_launches = good;
    bad_launches = bad;
  }
  static std::unique_ptr<const ecc::PointEngine> engine_of(const ecc::Curve& curve) {
    constexpr std::array kBoth{0U, 1U};
    return ecc::opencl::variant().make(curve, kBoth);
  }
};

/// The other device computes the sums, and both all else.
TEST_F(SeveralOpenclDevices, OneWhoseSumsFailComputesAllElse) {
  use("clBuildProgram", address(fail_to_build_first_sums));
  const ecc::Curve curve = ecc::make_curve(CurveNumbers(kAny).view());
  const SumOperands operands(curve, kCount);
  const ItemRange all{0, kCount};
  const auto engine = engine_of(curve);
  ASSERT_EQ(engine->gpus(), kDevices);
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
  EXPECT_TRUE(engine->computes(ecc::PointOperation::sum));
  opencl::disqualify(1, "ecc_any112_sums", "a test says so");
  EXPECT_FALSE(engine->computes(ecc::PointOperation::sum));
}

/// A device fails in the fourth chunk of a sum, when the first one is done: the other one computes the second
/// to the fourth, or if it fails, too, the processor all terms.
TEST_F(SeveralOpenclDevices, FailBetweenChunksOfASum) {
  use("", nullptr);
  constexpr std::size_t kChunks = 4, kTerms = kChunks * 2048;
  const ecc::Curve curve = ecc::make_curve(CurveNumbers(kShortEdwards).view());
  const SumOperands operands(curve, kTerms);
  const ItemRange all{0, kTerms};
  const ecc::device::AnsweredPoints expected = operands.total(operands.host(), all);
  const auto engine = engine_of(curve);
  // With the known answers of the first device, and then of the other one.
  EXPECT_EQ(operands.total(*engine, all), expected);
  fail_after(0, 1);
  EXPECT_EQ(operands.total(*engine, all), expected);
  EXPECT_EQ(launches_in.size(), kDevices);
  launches_in.clear();
  EXPECT_EQ(operands.total(*engine, all), expected);
  ASSERT_EQ(launches_in.size(), 1U);
  const auto [first, launches] = *launches_in.begin();
  ASSERT_EQ(launches % kChunks, 0U);
  const std::size_t of_three = launches / kChunks * (kChunks - 1);
  launches_in.clear();
  fail_after(of_three, 1);
  EXPECT_EQ(operands.total(*engine, all), expected);
  EXPECT_EQ(launches_in[first], of_three);
  launches_in.erase(first);
  ASSERT_EQ(launches_in.size(), 1U);
  EXPECT_EQ(launches_in.begin()->second, of_three);
  fail_after(of_three, kNever);
  EXPECT_EQ(operands.total(*engine, all), expected);
  EXPECT_EQ(bad_launches, kNever - kDevices);
}

}  // namespace
}  // namespace manymod::test

// SPDX-License-Identifier: Apache-2.0
// Which devices dpf52 is used on: it needs doubles with fma that is rounded to nearest. On a driver that only
// says that it has them, the known answers of its kernels are wrong. Where there is no driver, the tests that
// need one are skipped.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/opencl/driver.hpp"
#include "gpu/opencl/requirements.hpp"
#include "manymod/manymod.hpp"
#include "support/opencl_faults.hpp"
#include "support/opencl_fixture.hpp"

namespace manymod::testing {
namespace {

using opencl::DeviceKind;
using opencl::Doubles;
using opencl::OpenclTraits;

constexpr const char* kVariant = "dpf52.opencl.t1";

TEST(OpenclRequirements, OfATechniqueOnDoubles) {
  const auto needs = opencl::requirements("toy", DeviceKind::gpu, true);
  EXPECT_TRUE(needs->wants_fast_doubles());
  EXPECT_EQ(
      needs->obstacle("opencl:0", OpenclTraits(0, false, Doubles::none)),
      "needs double precision with fma that is rounded to nearest, which device 'opencl:0' does not have");
  for (const Doubles doubles : {Doubles::exact, Doubles::fast}) {
    EXPECT_EQ(needs->obstacle("opencl:0", OpenclTraits(0, false, doubles)), "");
    EXPECT_EQ(needs->suits(OpenclTraits(0, false, doubles)), doubles == Doubles::fast);
    EXPECT_FALSE(needs->suits(OpenclTraits(0, true, doubles)));
  }
}

TEST(OpenclRequirements, OfATechniqueOnIntegers) {
  const auto needs = opencl::requirements("toy", DeviceKind::gpu);
  EXPECT_FALSE(needs->wants_fast_doubles());
  EXPECT_EQ(needs->obstacle("opencl:0", OpenclTraits(0, false, Doubles::none)), "");
  EXPECT_TRUE(needs->suits(OpenclTraits(0, false, Doubles::none)));
}

class OpenclDoubles : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    setenv("MANYMOD_OPENCL_CACHE", "off", 1);
  }
  void TearDown() override {
    unsetenv("MANYMOD_OPENCL_CACHE");
    opencl::forget_disqualified();
    OpenclTest::TearDown();
  }

  // Why 3^5 modulo 2^127 + 2^64 - 59 is not computed; empty if it is, and is 243.
  static std::string obstacle() {
    try {
      Plan plan(Op::powmod, 128, ModulusKind::each, Timing::public_, {"opencl", kVariant, 0});
      Batch x(1, 1), y(1, 1), n(1, 2);
      x[0][0] = 3, y[0][0] = 5, n[0][1] = std::uint64_t{1} << 63, n[0][0] = 0 - std::uint64_t{59};
      const Batch r = plan.run({x, y, n});
      return r[0][0] == 243 && r[0][1] == 0 ? "" : "wrong";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

opencl::Status lack_fma(opencl::DeviceHandle device, opencl::Info info, std::size_t bytes, void* value,
                        std::size_t* needed) {
  const opencl::Status status =
      own<decltype(&lack_fma)>("clGetDeviceInfo")(device, info, bytes, value, needed);
  if (info == opencl::kDeviceDoubleConfig && value != nullptr) {
    *static_cast<opencl::Bits*>(value) &= ~opencl::kHasFma;
  }
  return status;
}

TEST_F(OpenclDoubles, AreRequired) {
  opencl::DriverSources sources;
  sources.replaced_functions = {{"clGetDeviceInfo", address(lack_fma)}};
  opencl::Driver::use(sources);
  for (const opencl::DeviceFacts& facts : opencl::Driver::current().devices()) {
    EXPECT_EQ(facts.doubles, Doubles::none);
  }
  EXPECT_NE(obstacle().find("needs double precision with fma"), std::string::npos) << obstacle();
}

// Kernels whose fma(a, b, c) is `value`.
std::vector<opencl::KernelSource> kernels_with_fma(const std::string& value, std::string& text) {
  std::vector<opencl::KernelSource> kernels;
  for (opencl::KernelSource kernel : opencl::kernel_sources()) {
    if (kernel.name == "modmul/dpf52/kernels") {
      text =
          "#pragma OPENCL FP_CONTRACT OFF\nstatic double replaced(double a, double b, double c) { return " +
          value + "; }\n#undef fma\n#define fma replaced\n" + std::string(kernel.text);
      kernel.text = text;
    }
    kernels.push_back(kernel);
  }
  return kernels;
}

TEST_F(OpenclDoubles, ThatAreRoundedWronglyAreFound) {
  struct Case {
    const char *what, *value;
  };
  for (const auto& [what, value] : {Case{"rounded twice", "a * b + c"},
                                    Case{"wrong in the last bit", "as_double(as_ulong(fma(a, b, c)) | 1)"}}) {
    std::string text;
    const std::vector<opencl::KernelSource> kernels = kernels_with_fma(value, text);
    opencl::DriverSources sources;
    sources.kernels = kernels;
    opencl::Driver::use(sources);
    EXPECT_NE(obstacle().find("computes wrong results"), std::string::npos) << what << ": " << obstacle();
    opencl::forget_disqualified();
    opencl::Driver::use({});
  }
  EXPECT_EQ(obstacle(), "");
}

}  // namespace
}  // namespace manymod::testing

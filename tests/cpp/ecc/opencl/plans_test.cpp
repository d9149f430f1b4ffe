// SPDX-License-Identifier: Apache-2.0
// Schemes on curves through plans on OpenCL devices: results, secrets, and failures of drivers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ecc/opencl/fixture.hpp"
#include "ecc/test_calls.hpp"

namespace manymod::testing {
namespace {

constexpr const char* kVariant = "opencl.reduced_radix";

/// Calls of the C ABI on P-256.
class OpenclPlans : public OpenclCurves {
 protected:
  static constexpr std::size_t kItems = 5;
  std::vector<Bytes> secrets_, messages_;

  void SetUp() override {
    OpenclCurves::SetUp();
    for (std::size_t i = 0; i < kItems; ++i) {
      secrets_.push_back(small_secret(32, i));
      messages_.emplace_back(i, std::uint8_t{1});
    }
  }
  static EccPlan plan_on(const char* device) { return EccPlan(EccCurve("P-256"), {device, "", 1}); }

  [[nodiscard]] std::vector<Bytes> run(EccPlan& plan, mm_ecc_op op, const std::vector<Bytes>& points = {},
                                       const std::vector<Bytes>& signatures = {}) const {
    EccOperands operands;
    EccOptions options;
    options.signature_format = MM_ECC_RECOVERABLE;
    if (op != MM_ECC_RECOVER) operands.secrets = secrets_;
    if (op == MM_ECC_EXCHANGE || op == MM_ECC_PUBLIC_KEY) {
      options.signature_format = MM_ECC_RAW;
    } else {
      operands.messages = messages_;
    }
    operands.points = points;
    operands.signatures = signatures;
    return plan.run(op, kItems, operands, options);
  }
  /// What a new plan is told.
  static std::string refusal() {
    try {
      plan_on("opencl");
    } catch (const wrapper::Error& error) {
      EXPECT_EQ(error.status(), MM_ERR_DEVICE);
      return error.what();
    }
    return {};
  }
};

TEST_F(OpenclPlans, UseTheDeviceWhereItIsNamed) {
  EXPECT_EQ(plan_on("opencl").variant(), kVariant);
  EXPECT_EQ(EccPlan(EccCurve("P-256"), {"", kVariant, 1}).variant(), kVariant);
  EXPECT_NE(plan_on("auto").variant(), kVariant);
  EXPECT_THROW(plan_on("opencl:99"), wrapper::Error);
  for (const char* const name : {"Ed25519", "X25519", "Ed448", "X448"}) {
    EXPECT_EQ(EccPlan(EccCurve(name), {"opencl", "", 1}).variant(), kVariant);
  }
}

TEST_F(OpenclPlans, ComputeTheSchemes) {
  EccPlan gpu = plan_on("opencl:0"), cpu = plan_on("cpu");
  EXPECT_EQ(gpu.variant(), kVariant);
  const std::vector<Bytes> keys = run(cpu, MM_ECC_PUBLIC_KEY), signatures = run(cpu, MM_ECC_SIGN);
  const auto computes = [&](const std::vector<Bytes>& expected, mm_ecc_op op,
                            const std::vector<Bytes>& points = {}, const std::vector<Bytes>& given = {}) {
    const std::size_t before = opencl_launches;
    EXPECT_EQ(run(gpu, op, points, given), expected) << op;
    EXPECT_GT(opencl_launches, before) << op;
  };
  computes(keys, MM_ECC_PUBLIC_KEY);
  computes(signatures, MM_ECC_SIGN);
  computes(keys, MM_ECC_RECOVER, {}, signatures);
  computes(run(cpu, MM_ECC_EXCHANGE, keys), MM_ECC_EXCHANGE, keys);
}

TEST_F(OpenclPlans, SecretsStayOnTheProcessorUnlessTheDriverIsTrusted) {
  unsetenv("MANYMOD_OPENCL_SECRET");
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(run(gpu, MM_ECC_PUBLIC_KEY), run(cpu, MM_ECC_PUBLIC_KEY));
  EXPECT_EQ(opencl_launches, 0U);
}

TEST_F(OpenclPlans, FailOverWhereKernelsDoNotCompile) {
  replace("clBuildProgram", address(fail_to_build));
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(run(gpu, MM_ECC_PUBLIC_KEY), run(cpu, MM_ECC_PUBLIC_KEY));
  EXPECT_NE(refusal().find("cannot compile ecc_three256_base"), std::string::npos) << refusal();
}

/// clBuildProgram that fails for one length of primes.
opencl::Status fail_to_build_384_bits(opencl::ProgramHandle program, std::uint32_t count,
                                      const opencl::DeviceHandle* devices, const char* options, void* notify,
                                      void* data) {
  if (std::strstr(options, "-DMM_FIELD_BITS=384") != nullptr) return -11;  // CL_BUILD_PROGRAM_FAILURE
  return own<decltype(&fail_to_build_384_bits)>("clBuildProgram")(program, count, devices, options, notify,
                                                                  data);
}

/// Curves of other lengths stay on the device, in plans from before and after.
TEST_F(OpenclPlans, LengthsFailByThemselves) {
  replace("clBuildProgram", address(fail_to_build_384_bits));
  const auto keys_of = [](EccPlan& plan) {
    return plan.public_keys(std::vector<Bytes>{small_secret(48, 1)});
  };
  const EccCurve long_curve("P-384");
  EccPlan before = plan_on("opencl"), of_384(long_curve, {"opencl", "", 1}),
          of_384_on_cpu = cpu_plan(long_curve), cpu = plan_on("cpu");
  EXPECT_EQ(keys_of(of_384), keys_of(of_384_on_cpu));
  EXPECT_THROW(EccPlan(long_curve, {"opencl", "", 1}), wrapper::Error);
  EccPlan after = plan_on("opencl");
  const std::vector<Bytes> expected = run(cpu, MM_ECC_PUBLIC_KEY);
  for (EccPlan* const plan : {&before, &after}) {
    opencl_launches = 0;
    EXPECT_EQ(run(*plan, MM_ECC_PUBLIC_KEY), expected);
    EXPECT_GT(opencl_launches, 0U);
  }
}

TEST_F(OpenclPlans, FailOverWhereKernelsAreWrong) {
  replace("clEnqueueReadBuffer", address(read_wrongly));
  EccPlan gpu = plan_on("opencl"), cpu = plan_on("cpu");
  EXPECT_EQ(run(gpu, MM_ECC_PUBLIC_KEY), run(cpu, MM_ECC_PUBLIC_KEY));
  EXPECT_NE(refusal().find("ecc_three256_base computes wrong results"), std::string::npos) << refusal();
  // Kernels for other curves may be right.
  EXPECT_EQ(EccPlan(EccCurve("P-384"), {"opencl", "", 1}).variant(), kVariant);
}

}  // namespace
}  // namespace manymod::testing

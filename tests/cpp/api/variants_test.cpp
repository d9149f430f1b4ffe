// SPDX-License-Identifier: Apache-2.0
// Forced variants by argument and environment variable, hidden CPU features, and the descriptions of variants
// and devices.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string>

#include "plan_helpers.hpp"

namespace manymod::testing {
namespace {

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, was_set_ = true;
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
  ~Environment() {
    if (was_set_) {
      setenv(name_, before_.c_str(), 1);
    } else {
      unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

mm_status create(const mm_plan_options& options, PlanPointer& plan) {
  mm_plan* created = nullptr;
  const mm_status status = mm_plan_create(&options, &created);
  plan.reset(created);
  return status;
}

/// What the tests below force variants for.
bool offers_powers(const mm_variant_info& variant) { return offers(variant, MM_OP_POWMOD, MM_TIMING_PUBLIC); }

std::vector<mm_variant_info> variants_of_powers() {
  std::vector<mm_variant_info> variants = usable_variants();
  std::erase_if(variants, [](const mm_variant_info& variant) { return !offers_powers(variant); });
  return variants;
}

TEST(Variants, ArgumentForcesAVariant) {
  for (const mm_variant_info& variant : variants_of_powers()) {
    mm_plan_options options = plan_options(MM_OP_POWMOD);
    options.variant = variant.name;
    PlanPointer plan;
    ASSERT_EQ(create(options, plan), MM_OK) << mm_last_error();
    EXPECT_STREQ(mm_plan_variant(plan.get()), variant.name);
  }
}

TEST(Variants, EnvironmentForcesAVariantWhereTheArgumentDoesNot) {
  for (const mm_variant_info& variant : variants_of_powers()) {
    const Environment forced("MANYMOD_VARIANT", variant.name);
    PlanPointer plan;
    ASSERT_EQ(create(plan_options(MM_OP_POWMOD), plan), MM_OK) << mm_last_error();
    EXPECT_STREQ(mm_plan_variant(plan.get()), variant.name);
    for (const mm_variant_info& other : variants_of_powers()) {
      mm_plan_options options = plan_options(MM_OP_POWMOD);
      options.variant = other.name;
      ASSERT_EQ(create(options, plan), MM_OK) << mm_last_error();
      EXPECT_STREQ(mm_plan_variant(plan.get()), other.name);
    }
  }
}

TEST(Variants, EmptyEnvironmentForcesNothing) {
  const Environment unset("MANYMOD_VARIANT", nullptr);
  PlanPointer chosen;
  ASSERT_EQ(create(plan_options(MM_OP_POWMOD), chosen), MM_OK);
  const Environment empty("MANYMOD_VARIANT", "");
  PlanPointer plan;
  ASSERT_EQ(create(plan_options(MM_OP_POWMOD), plan), MM_OK);
  EXPECT_STREQ(mm_plan_variant(plan.get()), mm_plan_variant(chosen.get()));
}

TEST(Variants, UnknownNamesListWhatIsUsable) {
  const auto expect_listed = [](const mm_plan_options& options, const char* source) {
    PlanPointer plan;
    EXPECT_EQ(create(options, plan), MM_ERR_UNKNOWN_VARIANT);
    const std::string message = mm_last_error();
    EXPECT_NE(message.find("'nonesuch'"), std::string::npos) << message;
    EXPECT_NE(message.find(source), std::string::npos) << message;
    for (const mm_variant_info& variant : variants_of_powers()) {
      EXPECT_NE(message.find(variant.name), std::string::npos) << message;
    }
    EXPECT_NE(message.find(std::to_string(mm_variant_count())), std::string::npos) << message;
  };
  mm_plan_options options = plan_options(MM_OP_POWMOD);
  options.variant = "nonesuch";
  expect_listed(options, "argument");
  options.variant = nullptr;
  const Environment forced("MANYMOD_VARIANT", "nonesuch");
  expect_listed(options, "MANYMOD_VARIANT");
}

TEST(Variants, SecretIsRefusedWhereNotOffered) {
  std::size_t refused = 0;
  for (const mm_variant_info& variant : usable_variants()) {
    for (int op = 0; op < MM_OP_FIXED_BASE_POWMOD; ++op) {
      if (offers(variant, static_cast<mm_op>(op), MM_TIMING_SECRET)) continue;
      mm_plan_options options = plan_options(static_cast<mm_op>(op), MM_TIMING_SECRET);
      options.variant = variant.name;
      PlanPointer plan;
      EXPECT_EQ(create(options, plan), MM_ERR_UNUSABLE_VARIANT);
      EXPECT_NE(std::string(mm_last_error()).find("constant time"), std::string::npos) << mm_last_error();
      ++refused;
    }
  }
  EXPECT_GT(refused, 0u);
}

TEST(Variants, CudaIsNotFound) {
  for (std::size_t i = 0; i < mm_device_count(); ++i) {
    mm_device_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(mm_device_get(i, &info), MM_OK);
    if (info.backend == MM_BACKEND_CUDA) GTEST_SKIP() << "this machine has a CUDA device";
    EXPECT_EQ(info.device_index, 0u);
  }
  mm_plan_options options = plan_options(MM_OP_POWMOD);
  for (const char* device : {"cuda", "cuda:0"}) {
    options.device = device;
    PlanPointer plan;
    EXPECT_EQ(create(options, plan), MM_ERR_UNKNOWN_DEVICE);
    EXPECT_EQ(std::string(mm_last_error()).rfind("no CUDA device found", 0), 0u) << mm_last_error();
  }
  options.device = "auto";
  options.variant = "row32.cuda.t1";
  PlanPointer plan;
  EXPECT_EQ(create(options, plan), MM_ERR_UNUSABLE_VARIANT);
  const std::string message = mm_last_error();
  EXPECT_NE(message.find("no CUDA device found; usable for powmod"), std::string::npos) << message;
  EXPECT_NE(message.find("scalar64"), std::string::npos) << "variants of the CPU are named";
}

TEST(Variants, DescriptionsAreComplete) {
  ASSERT_GT(mm_variant_count(), 0u);
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(mm_variant_get(i, &info), MM_OK);
    EXPECT_EQ(std::string(info.name).rfind(info.technique, 0), 0u) << info.name;
    EXPECT_NE(info.public_ops, 0u) << info.name;
    EXPECT_LE(info.min_bits, info.max_bits) << info.name;
    EXPECT_LE(info.max_bits, std::size_t{MM_MAX_MODULUS_BITS}) << info.name;
    EXPECT_LE(info.traits, std::uint64_t{MM_VARIANT_COMPARISON_ONLY | MM_VARIANT_WANTS_FAST_DOUBLES});
    if (info.backend == MM_BACKEND_CPU) {
      EXPECT_EQ(info.traits, 0u) << info.name;
    }
    EXPECT_STRNE(info.summary, "") << info.name;
    EXPECT_EQ(info.usable != 0, std::string(info.reason).empty()) << info.name;
  }
  mm_device_info cpu{};
  cpu.struct_size = sizeof cpu;
  ASSERT_EQ(mm_device_get(0, &cpu), MM_OK);
  EXPECT_STREQ(cpu.name, "cpu");
  EXPECT_STRNE(cpu.model, "");
  EXPECT_GE(cpu.units, 1u);
}

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  return readlink("/proc/self/exe", path.data(), path.size() - 1) > 0 ? path.data() : "";
}

// Features are probed once per process, so hidden features are tested in a child process that runs this test
// again.
TEST(Variants, HiddenCpuFeaturesAreMissing) {
  const char* hidden = std::getenv("MANYMOD_HIDE_CPU");
  if (hidden == nullptr) {
    const std::string path = own_path();
    ASSERT_FALSE(path.empty());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      setenv("MANYMOD_HIDE_CPU", "all,avx51", 1);
      unsetenv("MANYMOD_VARIANT");
      unsetenv("GTEST_TOTAL_SHARDS");
      unsetenv("GTEST_SHARD_INDEX");
      const char* filter = "--gtest_filter=Variants.HiddenCpuFeaturesAreMissing";
      execl(path.c_str(), path.c_str(), filter, "--gtest_brief=1", static_cast<char*>(nullptr));
      _exit(127);
    }
    int outcome = -1;
    ASSERT_EQ(waitpid(child, &outcome, 0), child);
    EXPECT_TRUE(WIFEXITED(outcome) && WEXITSTATUS(outcome) == 0);
    return;
  }
  mm_device_info cpu{};
  cpu.struct_size = sizeof cpu;
  ASSERT_EQ(mm_device_get(0, &cpu), MM_OK);
  EXPECT_STREQ(cpu.features, "unknown-in-MANYMOD_HIDE_CPU:avx51");
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info{};
    info.struct_size = sizeof info;
    ASSERT_EQ(mm_variant_get(i, &info), MM_OK);
    if (*info.needs == '\0' || info.backend != MM_BACKEND_CPU || !offers_powers(info)) continue;
    EXPECT_EQ(info.usable, 0) << info.name;
    mm_plan_options options = plan_options(MM_OP_POWMOD);
    options.variant = info.name;
    PlanPointer plan;
    EXPECT_EQ(create(options, plan), MM_ERR_UNUSABLE_VARIANT);
    const std::string message = mm_last_error();
    EXPECT_NE(message.find("this CPU lacks"), std::string::npos) << message;
    EXPECT_NE(message.find("usable for powmod"), std::string::npos) << message;
  }
  PlanPointer plan;
  EXPECT_EQ(create(plan_options(MM_OP_POWMOD), plan), MM_OK) << "something must run on every CPU";
}

TEST(Statuses, NamesAndMessages) {
  EXPECT_STREQ(mm_status_name(MM_OK), "MM_OK");
  EXPECT_STREQ(mm_status_name(MM_ITEM_NOT_INVERTIBLE), "MM_ITEM_NOT_INVERTIBLE");
  EXPECT_STREQ(mm_status_name(MM_ERR_INTERNAL), "MM_ERR_INTERNAL");
  EXPECT_STREQ(mm_status_name(static_cast<mm_status>(63)), "MM_?");
  int known = 0;
  for (int status = 0; status < 128; ++status) {
    const bool named = std::string(mm_status_name(static_cast<mm_status>(status))) != "MM_?";
    if (named) ++known;
    EXPECT_EQ(named, std::string(mm_status_message(static_cast<mm_status>(status))) != "unknown status");
  }
  EXPECT_EQ(known, 42);
  EXPECT_EQ(mm_version(), std::to_string(MM_VERSION_MAJOR) + "." + std::to_string(MM_VERSION_MINOR) + "." +
                              std::to_string(MM_VERSION_PATCH));
}

}  // namespace
}  // namespace manymod::testing

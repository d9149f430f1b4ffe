// SPDX-License-Identifier: Apache-2.0
// The choice among variants, on made-up variants and machines.
#include "dispatch/selection.hpp"

#include <gtest/gtest.h>

#include "dispatch/status_error.hpp"

namespace manymod::testing {
namespace {

Variant variant(const char* name, Backend backend, CpuFeatures needs, int priority) {
  Variant v;
  v.name = name;
  v.technique = "toy";
  v.backend = backend;
  v.public_operations = kAllOperations;
  v.cpu_features = needs;
  v.priority = priority;
  return v;
}

class SelectionTest : public ::testing::Test {
 protected:
  SelectionTest() {
    variants_.push_back(variant("toy.plain", Backend::cpu, 0, 0));
    variants_.push_back(variant("toy.fast", Backend::cpu, CpuFeature::adx | CpuFeature::avx2, 10));
    variants_.push_back(variant("toy.cuda", Backend::cuda, 0, 100));
    variants_[0].secret_operations = operation_bit(Operation::powmod);
    variants_[1].max_bits = 4096;
    variants_[2].min_compute_capability = 90;
    Device cpu;
    cpu.name = "cpu";
    cpu.cpu_features = CpuFeature::adx | CpuFeature::avx2;
    devices_.push_back(cpu);
  }

  void add_gpu(const char* name, unsigned capability) {
    Device gpu;
    gpu.name = name;
    gpu.backend = Backend::cuda;
    gpu.compute_capability = capability;
    devices_.push_back(gpu);
  }

  [[nodiscard]] std::string choice() const {
    const Selection selection = select_variant(request_, {variants_, devices_, tuning_});
    EXPECT_EQ(hardware_obstacle(*selection.variant, *selection.device), "");
    return selection.variant->name + "@" + selection.device->name;
  }

  // Status and message of a request that fails.
  [[nodiscard]] std::pair<mm_status, std::string> failure() const {
    try {
      return {MM_OK, choice()};
    } catch (const StatusError& error) {
      return {error.status(), error.what()};
    }
  }

  void expect_failure(mm_status status, std::initializer_list<const char*> words) const {
    const auto [found, message] = failure();
    EXPECT_EQ(found, status) << message;
    for (const char* word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
  }

  std::vector<Variant> variants_;
  std::vector<Device> devices_;
  std::vector<TuningRow> tuning_;
  VariantRequest request_{Operation::powmod, TimingClass::public_, 2048, "auto", {}, "argument"};
};

TEST_F(SelectionTest, PriorityDecidesAmongTheUsable) {
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.modulus_bits = 8192;
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.modulus_bits = 2048;
  devices_[0].cpu_features = static_cast<CpuFeatures>(CpuFeature::avx2);
  EXPECT_EQ(choice(), "toy.plain@cpu");
}

TEST_F(SelectionTest, TuningBeatsPriorityWhereItSpeaks) {
  tuning_.push_back({Operation::powmod, TimingClass::public_, 1, 1024, "toy.plain", "measured"});
  tuning_.push_back({Operation::powmod, TimingClass::public_, 1, 16384, "toy.cuda", "measured"});
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.modulus_bits = 1024;
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.op = Operation::mulmod;
  EXPECT_EQ(choice(), "toy.fast@cpu");
}

TEST_F(SelectionTest, SecretIsNeverGivenToAPublicVariant) {
  request_.timing = TimingClass::secret;
  EXPECT_EQ(choice(), "toy.plain@cpu");
  tuning_.push_back({Operation::powmod, TimingClass::secret, 1, 16384, "toy.fast", "wrong row"});
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.forced = "toy.fast";
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"'toy.fast'", "timing class secret", "toy.plain"});
  request_.forced.reset();
  request_.op = Operation::mulmod;
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"no variant", "mulmod", "secret"});
}

TEST_F(SelectionTest, ForcedVariants) {
  request_.forced = "toy.plain";
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.forced = "toy.fas";
  expect_failure(MM_ERR_UNKNOWN_VARIANT, {"'toy.fas'", "toy.plain, toy.fast, toy.cuda"});
  request_.forced = "";
  expect_failure(MM_ERR_UNKNOWN_VARIANT, {"toy.plain, toy.fast, toy.cuda"});
  request_.forced = "toy.fast";
  request_.modulus_bits = 4097;
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"1 to 4096 bits", "toy.plain"});
  request_.modulus_bits = 2048;
  devices_[0].cpu_features = 0;
  devices_[0].hidden_features = static_cast<CpuFeatures>(CpuFeature::adx);
  expect_failure(MM_ERR_UNUSABLE_VARIANT,
                 {"adx, avx2", "this CPU lacks", "MANYMOD_HIDE_CPU: adx", "toy.plain"});
}

TEST_F(SelectionTest, Devices) {
  request_.device = "cuda";
  expect_failure(MM_ERR_UNKNOWN_DEVICE, {"no CUDA device found"});
  request_.device = "cpu";
  request_.forced = "toy.cuda";
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"CUDA device", "'cpu'"});
  request_.forced.reset();

  add_gpu("cuda:0", 80);
  add_gpu("cuda:1", 90);
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.device = "auto";
  EXPECT_EQ(choice(), "toy.cuda@cuda:1");
  request_.device = "cuda";
  EXPECT_EQ(choice(), "toy.cuda@cuda:1");
  request_.device = "cuda:0";
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"no variant", "'cuda:0'"});
  request_.forced = "toy.cuda";
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"compute capability 9.0", "8.0"});
  request_.forced.reset();
  request_.device = "cuda:2";
  expect_failure(MM_ERR_UNKNOWN_DEVICE, {"'cuda:2'", "cpu, cuda:0, cuda:1"});
  request_.device = "tpu";
  expect_failure(MM_ERR_UNKNOWN_DEVICE, {"'tpu'"});
}

TEST_F(SelectionTest, ObstaclesForPeople) {
  EXPECT_EQ(hardware_obstacle(variants_[2], devices_), "no CUDA device found");
  EXPECT_EQ(hardware_obstacle(variants_[1], devices_), "");
  devices_[0].cpu_features = 0;
  EXPECT_EQ(hardware_obstacle(variants_[1], devices_), "needs adx, avx2, which this CPU lacks");
  EXPECT_EQ(hardware_needs(variants_[1]), "adx avx2");
  EXPECT_EQ(hardware_needs(variants_[2]), "compute capability 9.0");
  EXPECT_EQ(hardware_needs(variants_[0]), "");
}

TEST(Tuning, RowsNameVariantsThatOfferTheOperation) {
  std::size_t known = 0;
  for (const TuningRow& row : tuning_table()) {
    EXPECT_LE(row.min_bits, row.max_bits);
    EXPECT_FALSE(row.evidence.empty());
    for (const Variant& v : registry()) {
      if (v.name != row.variant) continue;  // variants of other processors are not in this build
      ++known;
      const OperationSet set = row.timing == TimingClass::secret ? v.secret_operations : v.public_operations;
      EXPECT_NE(set & operation_bit(row.op), 0u) << row.variant;
    }
  }
#if MANYMOD_X86_64
  EXPECT_EQ(known, tuning_table().size());
#endif
}

TEST(Registry, NamesAreUnique) {
  for (const Variant& a : registry()) {
    EXPECT_NE(a.make_engine, nullptr);
    for (const Variant& b : registry()) EXPECT_TRUE(&a == &b || a.name != b.name) << a.name;
  }
}

}  // namespace
}  // namespace manymod::testing

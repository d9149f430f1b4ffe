// SPDX-License-Identifier: Apache-2.0
// Selection among invented variants on invented machines.
#include "dispatch/selection.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <tuple>

#include "core/status_error.hpp"
#include "dispatch/obstacles.hpp"
#include "engine/cpu_requirements.hpp"
#include "gpu/cuda/requirements.hpp"

namespace manymod::testing {
namespace {

std::shared_ptr<const DeviceTraits> cpu_traits(CpuFeatures features, CpuFeatures hidden = 0) {
  return std::make_shared<const CpuTraits>(features, hidden);
}

// The build's code is compiled for the GPU's own capability.
std::shared_ptr<const DeviceTraits> gpu_traits(unsigned capability, bool full_rate_doubles = false) {
  return std::make_shared<const cuda::CudaTraits>(capability, capability, full_rate_doubles);
}

Variant variant(const char* name, Backend backend, CpuFeatures needs, int priority) {
  Variant v;
  v.name = name;
  v.technique = "toy";
  v.backend = backend;
  v.public_operations = kAllOperations;
  v.requirements = backend == Backend::cpu ? cpu_requirements(needs)
                                           : cuda::cuda_requirements({.min_compute_capability = 0});
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
    variants_[2].requirements = cuda::cuda_requirements({.min_compute_capability = 90});
    Device cpu;
    cpu.name = "cpu";
    cpu.traits = cpu_traits(CpuFeature::adx | CpuFeature::avx2);
    devices_.push_back(cpu);
  }

  void add_gpu(const char* name, unsigned capability, unsigned multiprocessors = 132,
               bool full_rate_doubles = false) {
    Device gpu;
    gpu.name = name;
    gpu.backend = Backend::cuda;
    gpu.units = multiprocessors;
    gpu.traits = gpu_traits(capability, full_rate_doubles);
    devices_.push_back(gpu);
  }

  [[nodiscard]] std::string choice() const {
    const Selection selection = select_variants(request_, {variants_, devices_, tuning_});
    const Choice& first = selection.choices.front();
    return first.variant->name + "@" + device_names(first);
  }

  static std::string device_names(const Choice& choice) {
    std::string names;
    for (const Device* device : choice.devices) {
      EXPECT_EQ(hardware_obstacle(*choice.variant, *device), "");
      names += (names.empty() ? "" : "+") + device->name;
    }
    return names;
  }

  // "name:min_items" of each choice; "name:*" for one that only serves what the others do not accept.
  [[nodiscard]] std::string choices() const {
    std::string text;
    for (const Choice& choice : select_variants(request_, {variants_, devices_, tuning_}).choices) {
      if (!text.empty()) text += ' ';
      text += choice.variant->name + ":" +
              (choice.min_items == kFallbackOnly ? "*" : std::to_string(choice.min_items));
    }
    return text;
  }

  // Vectors of 8 and of 4 lanes that take odd moduli only.
  void add_lanes() {
    for (const auto& [name, lanes, priority] : {std::tuple{"toy.v8", 8u, 40}, std::tuple{"toy.v4", 4u, 30}}) {
      variants_.push_back(variant(name, Backend::cpu, 0, priority));
      variants_.back().instances = lanes;
      variants_.back().accepts_every_item = false;
    }
  }

  void tune(std::size_t min_items, const char* name) {
    tuning_.push_back({Operation::powmod, TimingClass::public_, 1, 16384, min_items, name, "measured"});
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
  VariantRequest request_{
      .op = Operation::powmod, .timing = TimingClass::public_, .modulus_bits = 2048, .forced = {}};
};

TEST_F(SelectionTest, PriorityDecidesAmongTheUsable) {
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.modulus_bits = 8192;
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.modulus_bits = 2048;
  devices_[0].traits = cpu_traits(static_cast<CpuFeatures>(CpuFeature::avx2));
  EXPECT_EQ(choice(), "toy.plain@cpu");
}

TEST_F(SelectionTest, TuningRowsPrecedePriorities) {
  tuning_.push_back({Operation::powmod, TimingClass::public_, 1, 1024, 1, "toy.plain", "measured"});
  tuning_.push_back({Operation::powmod, TimingClass::public_, 1, 16384, 1, "toy.cuda", "measured"});
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.modulus_bits = 1024;
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.op = Operation::mulmod;
  EXPECT_EQ(choice(), "toy.fast@cpu");
}

TEST_F(SelectionTest, ConstantTimeIsNeverServedByAVariableTimeVariant) {
  request_.timing = TimingClass::secret;
  EXPECT_EQ(choice(), "toy.plain@cpu");
  tuning_.push_back({Operation::powmod, TimingClass::secret, 1, 16384, 1, "toy.fast", "wrong row"});
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.forced = "toy.fast";
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"'toy.fast'", "constant time", "toy.plain"});
  request_.forced.reset();
  request_.op = Operation::mulmod;
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"no variant", "mulmod", "constant time"});
}

TEST_F(SelectionTest, RowsFormAListByNumberOfItems) {
  add_lanes();
  tune(2, "toy.v8");
  tune(3, "toy.v4");  // never first: toy.v8 takes 2 and more
  tune(1, "toy.fast");
  tune(1, "toy.plain");
  EXPECT_EQ(choices(), "toy.v8:2 toy.fast:1");
  variants_.erase(variants_.begin() + 3);  // a machine without toy.v8
  EXPECT_EQ(choices(), "toy.v4:3 toy.fast:1");
}

TEST_F(SelectionTest, TheListEndsWithOneForSingleItems) {
  add_lanes();
  tune(5, "toy.v8");
  EXPECT_EQ(choices(), "toy.v8:5 toy.fast:1");
  devices_[0].traits = cpu_traits(0);
  EXPECT_EQ(choices(), "toy.v8:5 toy.plain:1");
  tune(1, "toy.v4");
  EXPECT_EQ(choices(), "toy.v8:5 toy.v4:1 toy.plain:*");
}

TEST_F(SelectionTest, TheFallbackIsThatOfTheTuningTableIfItNamesOne) {
  add_lanes();
  tune(1, "toy.v8");
  tune(1, "toy.plain");
  EXPECT_EQ(choices(), "toy.v8:1 toy.plain:*");
}

TEST_F(SelectionTest, UnmeasuredVectorsAreForBatchesThatFillHalfOfThem) {
  add_lanes();
  EXPECT_EQ(choices(), "toy.v8:4 toy.v4:2 toy.fast:1");
}

TEST_F(SelectionTest, VectorsTakeSingleItemsIfNothingElseRuns) {
  add_lanes();
  variants_.erase(variants_.begin(), variants_.begin() + 3);
  EXPECT_EQ(choices(), "toy.v8:4 toy.v4:1");
}

TEST_F(SelectionTest, AForcedVectorHasAFallback) {
  add_lanes();
  tune(1, "toy.plain");
  request_.forced = "toy.v8";
  EXPECT_EQ(choices(), "toy.v8:1 toy.plain:*");
  request_.forced = "toy.fast";
  EXPECT_EQ(choices(), "toy.fast:1");
}

TEST_F(SelectionTest, VariantsThatNeedASharedModulusAreNotNamedForOthers) {
  add_lanes();
  for (Variant& v : variants_) {
    if (!v.accepts_every_item) v.shared_modulus_operations = operation_bit(Operation::mulmod);
  }
  const auto named = [this](std::size_t items) {
    return select_variants(request_, {variants_, devices_, tuning_}).for_items(items).name;
  };
  request_.op = Operation::mulmod;
  for (const std::size_t items : {1u, 2u, 3u, 4u, 100u}) EXPECT_EQ(named(items), "toy.fast") << items;
  request_.shared_modulus = true;
  EXPECT_EQ(named(100), "toy.v8");
  EXPECT_EQ(named(4), "toy.v8");
  EXPECT_EQ(named(3), "toy.v4");
  EXPECT_EQ(named(1), "toy.fast");
  // A single item has no modulus that others share, forced or not.
  request_.forced = "toy.v4";
  EXPECT_EQ(named(2), "toy.v4");
  EXPECT_EQ(named(1), "toy.fast");
  request_.shared_modulus = false;
  EXPECT_EQ(named(100), "toy.fast");
  request_.op = Operation::powmod;
  EXPECT_EQ(named(100), "toy.v4");
  EXPECT_EQ(named(1), "toy.v4");
}

TEST_F(SelectionTest, PerItemModuliUseTheChoiceForTheirNumber) {
  add_lanes();
  for (Variant& v : variants_) {
    if (!v.accepts_every_item) v.shared_modulus_operations = operation_bit(Operation::powmod);
  }
  tune(100, "toy.fast");
  tune(2, "toy.v8");
  tune(1, "toy.plain");
  const Selection selection = select_variants(request_, {variants_, devices_, tuning_});
  EXPECT_EQ(selection.for_items(100).name, "toy.fast");
  EXPECT_EQ(selection.for_items(99).name, "toy.plain");
  EXPECT_EQ(selection.for_items(1).name, "toy.plain");
}

TEST_F(SelectionTest, AVariantForPerItemModuliIsChosenByNumber) {
  add_lanes();
  variants_[3].shared_modulus_operations = operation_bit(Operation::mulmod);
  request_.op = Operation::powmod;
  tune(8, "toy.v4");
  tune(2, "toy.fast");
  tune(1, "toy.plain");
  const Selection selection = select_variants(request_, {variants_, devices_, tuning_});
  EXPECT_EQ(selection.for_items(100).name, "toy.v4");
  EXPECT_EQ(selection.for_items(7).name, "toy.fast");
  EXPECT_EQ(selection.for_items(1).name, "toy.plain");
  EXPECT_EQ(selection.for_items(0).name, "toy.plain");
}

TEST_F(SelectionTest, ChoicesAreOnTheCpuAndAllGpus) {
  add_lanes();
  add_gpu("cuda:0", 90);
  add_gpu("cuda:1", 90);
  variants_[2].accepts_every_item = false;
  tune(100, "toy.cuda");
  tune(2, "toy.v8");
  EXPECT_EQ(choice(), "toy.cuda@cuda:0+cuda:1");
  EXPECT_EQ(choices(), "toy.cuda:100 toy.v8:2 toy.fast:1");
  request_.device = "cuda";
  EXPECT_EQ(choice(), "toy.cuda@cuda:0+cuda:1");
  request_.forced = "toy.cuda";
  EXPECT_EQ(choice(), "toy.cuda@cuda:0+cuda:1");
  request_.forced.reset();
  request_.device = "cuda:1";
  EXPECT_EQ(choice(), "toy.cuda@cuda:1");
  EXPECT_EQ(choices(), "toy.cuda:1 toy.fast:*");  // a requested GPU gets all items that it accepts
}

TEST_F(SelectionTest, UnmeasuredProductsStayOnTheCpuUnlessAGpuIsRequested) {
  add_gpu("cuda:0", 90);
  request_.op = Operation::mulmod;
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.device = "cuda";
  EXPECT_EQ(choice(), "toy.cuda@cuda:0");
  request_.device = "auto";
  request_.op = Operation::powmod;
  EXPECT_EQ(choice(), "toy.cuda@cuda:0");
}

TEST_F(SelectionTest, LargerGpusComeFirst) {
  add_gpu("cuda:0", 90, 80);
  add_gpu("cuda:1", 80, 200);  // cannot run it
  add_gpu("cuda:2", 90, 132);
  add_gpu("cuda:3", 90, 132, true);
  add_gpu("cuda:4", 90, 132);
  devices_.back().obstacle = "compute mode";
  EXPECT_EQ(choice(), "toy.cuda@cuda:3+cuda:2+cuda:0");
}

// The largest GPU is never idle: a variant that does not suit it is not chosen, even if it suits others.
TEST_F(SelectionTest, HeterogeneousGpus) {
  variants_.push_back(variant("toy.doubles", Backend::cuda, 0, 200));
  variants_.back().requirements =
      cuda::cuda_requirements({.min_compute_capability = 0, .wants_fast_doubles = true});
  tune(1, "toy.doubles");
  tune(1, "toy.cuda");
  add_gpu("cuda:0", 90, 60);
  add_gpu("cuda:1", 90, 132, true);
  EXPECT_EQ(choice(), "toy.doubles@cuda:1");
  devices_[1].units = 170;
  EXPECT_EQ(choice(), "toy.cuda@cuda:0+cuda:1");
  tuning_.clear();
  EXPECT_EQ(choice(), "toy.cuda@cuda:0+cuda:1");
  request_.device = "cuda:1";
  EXPECT_EQ(choice(), "toy.doubles@cuda:1");
  request_.device = "cuda";
  request_.forced = "toy.doubles";
  EXPECT_EQ(choice(), "toy.doubles@cuda:1");
  devices_[2].traits = gpu_traits(90);
  EXPECT_EQ(choice(), "toy.doubles@cuda:0+cuda:1");
}

TEST_F(SelectionTest, AVariantThatRunsIsUsedIfNoneSuitsTheGpu) {
  variants_[2].requirements =
      cuda::cuda_requirements({.min_compute_capability = 90, .wants_fast_doubles = true});
  add_gpu("cuda:0", 90);
  EXPECT_EQ(choice(), "toy.fast@cpu");
  request_.device = "cuda";
  EXPECT_EQ(choice(), "toy.cuda@cuda:0");
}

TEST_F(SelectionTest, ForcedVariants) {
  request_.forced = "toy.plain";
  EXPECT_EQ(choice(), "toy.plain@cpu");
  request_.forced = "toy.fas";
  expect_failure(MM_ERR_UNKNOWN_VARIANT, {"'toy.fas'", "toy.plain, toy.fast; ", "all 3"});
  request_.forced = "";
  expect_failure(MM_ERR_UNKNOWN_VARIANT, {"toy.plain, toy.fast; "});
  request_.forced = "toy.fast";
  request_.modulus_bits = 4097;
  expect_failure(MM_ERR_UNUSABLE_VARIANT, {"1 to 4096 bits", "toy.plain"});
  request_.modulus_bits = 2048;
  devices_[0].traits = cpu_traits(0, static_cast<CpuFeatures>(CpuFeature::adx));
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

TEST_F(SelectionTest, MessagesOfObstacles) {
  EXPECT_EQ(hardware_obstacle(variants_[2], devices_), "no CUDA device found");
  EXPECT_EQ(hardware_obstacle(variants_[1], devices_), "");
  devices_[0].traits = cpu_traits(0);
  EXPECT_EQ(hardware_obstacle(variants_[1], devices_), "needs adx, avx2, which this CPU lacks");
  EXPECT_EQ(hardware_needs(variants_[1]), "adx avx2");
  EXPECT_EQ(hardware_needs(variants_[2]), "compute capability 9.0");
  EXPECT_EQ(hardware_needs(variants_[0]), "");
}

TEST_F(SelectionTest, KernelsThatTheBuildLeavesOut) {
  static constexpr std::string_view kLeftOut[] = {"toy"};
  add_gpu("cuda:0", 90);
  devices_[1].traits = std::make_shared<const cuda::CudaTraits>(90, 90, true, kLeftOut);
  EXPECT_EQ(hardware_obstacle(variants_[2], devices_), "");
  variants_[2].requirements = cuda::cuda_requirements({.technique = "toy"});
  EXPECT_EQ(hardware_obstacle(variants_[2], devices_),
            "needs the kernels of toy, which this build leaves out (MANYMOD_COMPARISON_KERNELS)");
}

// Selection relies on a variant for every operation that accepts even moduli and negative exponents on any
// processor.
TEST(Registry, EveryOperationHasAGeneralVariant) {
  for (std::size_t number = 0; number < kOperationCount; ++number) {
    const auto op = static_cast<Operation>(number);
    for (const TimingClass timing : {TimingClass::public_, TimingClass::secret}) {
      bool offered = false;
      bool general = false;
      for (const Variant& v : registry()) {
        if (!offers(v, op, timing)) continue;
        offered = true;
        general |= v.accepts_every_item && hardware_needs(v).empty() && v.max_bits == kMaxModulusBits;
      }
      EXPECT_EQ(offered, general) << operation_name(op);
    }
  }
}

// accepts_every_item agrees with Engine::accepts.
TEST(Registry, AcceptanceIsAsDeclared) {
  const Limb modulus = 12;
  const Limb exponent = 3;
  const std::uint8_t negative = 1;
  Job job;
  job.op = Operation::powmod;
  job.modulus = {&modulus, 1, 1, 1, nullptr};
  job.y = {&exponent, 1, 1, 1, &negative};
  for (const Variant& v : registry()) {
    if (!hardware_obstacle(v, devices()).empty() || !offers(v, job.op, job.timing)) continue;
    EXPECT_EQ(v.make_engine(0)->accepts(job, 0), v.accepts_every_item) << v.name;
  }
}

TEST(Registry, NeedOfASharedModulusIsAsDeclared) {
  const Limb moduli[] = {13, 15};
  const Limb values[] = {3, 5};
  for (const Variant& v : registry()) {
    if (!hardware_obstacle(v, devices()).empty()) continue;
    EXPECT_EQ(v.shared_modulus_operations & ~(v.public_operations | v.secret_operations), 0u) << v.name;
    const auto engine = v.make_engine(0);
    for (const Operation op : {Operation::mulmod, Operation::sqrmod, Operation::powmod}) {
      if (!offers(v, op, TimingClass::public_)) continue;
      const bool needed = contains(v.shared_modulus_operations, op);
      for (const std::size_t items : {1u, 2u}) {
        for (const std::size_t count : {1u, 2u}) {
          if (count > items) continue;
          Job job;
          job.op = op;
          job.x = job.y = {values, items, 1, 1, nullptr};
          job.modulus = {moduli, count, 1, 1, nullptr};
          job.result.count = items;
          const bool shared = items == 2 && count == 1;
          EXPECT_EQ(engine->accepts(job, 0), shared || !needed)
              << v.name << ", " << operation_name(op) << ", " << items << " items, " << count << " moduli";
        }
      }
    }
  }
}

TEST(Registry, NamesAreUnique) {
  for (const Variant& a : registry()) {
    EXPECT_TRUE(a.make_engine);
    for (const Variant& b : registry()) EXPECT_TRUE(&a == &b || a.name != b.name) << a.name;
  }
}

}  // namespace
}  // namespace manymod::testing

// SPDX-License-Identifier: Apache-2.0
// Invalid calls: each must be rejected with the right status before anything is written.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "abi/struct_size.hpp"
#include "plan_helpers.hpp"
#include "small_integers.hpp"

namespace manymod::testing {
namespace {

// An enum with a number outside its range, which a C caller can create; in C++ such a cast is undefined.
template <class Enum>
__attribute__((no_sanitize("enum"))) Enum enum_of(int number) {
  Enum value;
  std::memcpy(&value, &number, sizeof value);
  return value;
}

mm_status create_status(const mm_plan_options& options) {
  int elsewhere = 0;
  auto* plan = reinterpret_cast<mm_plan*>(&elsewhere);
  const mm_status status = mm_plan_create(&options, &plan);
  EXPECT_EQ(status == MM_OK, plan != nullptr);
  if (status != MM_OK) {
    EXPECT_STRNE(mm_last_error(), "");
  }
  mm_plan_destroy(plan);
  return status;
}

TEST(PlanMisuse, NullPointers) {
  const mm_plan_options options = plan_options(MM_OP_MULMOD);
  mm_plan* plan = nullptr;
  EXPECT_EQ(mm_plan_create(nullptr, &plan), MM_ERR_NULL);
  EXPECT_EQ(mm_plan_create(&options, nullptr), MM_ERR_NULL);
  const mm_call call = make_call({}, {}, {}, {});
  EXPECT_EQ(mm_plan_run(nullptr, &call), MM_ERR_NULL);
  EXPECT_EQ(mm_plan_run(make_plan(options).get(), nullptr), MM_ERR_NULL);
  EXPECT_STREQ(mm_last_error(), "call is NULL");
  EXPECT_STREQ(mm_plan_variant(nullptr), "");
  mm_plan_destroy(nullptr);
  mm_fixed_base_destroy(nullptr);
}

TEST(PlanMisuse, StructSize) {
  mm_plan_options options = plan_options(MM_OP_MULMOD);
  options.struct_size = 0;
  EXPECT_EQ(create_status(options), MM_ERR_ARGUMENT);
  options.struct_size = sizeof options - 1;
  EXPECT_EQ(create_status(options), MM_ERR_ARGUMENT);
}

TEST(PlanMisuse, EnumValues) {
  for (const int number : {-1, int{MM_OP_COUNT}, 15, 1 << 20}) {
    mm_plan_options options = plan_options(MM_OP_MULMOD);
    options.op = enum_of<mm_op>(number);
    EXPECT_EQ(create_status(options), MM_ERR_ARGUMENT) << number;
  }
  for (const int number : {-1, 2, 1 << 20}) {
    mm_plan_options options = plan_options(MM_OP_POWMOD);
    options.timing = enum_of<mm_timing>(number);
    EXPECT_EQ(create_status(options), MM_ERR_ARGUMENT) << number;
    options = plan_options(MM_OP_POWMOD);
    options.modulus_kind = enum_of<mm_modulus_kind>(number);
    EXPECT_EQ(create_status(options), MM_ERR_ARGUMENT) << number;
  }
  EXPECT_STREQ(mm_status_name(enum_of<mm_status>(1 << 20)), "MM_?");
  EXPECT_STREQ(mm_status_name(enum_of<mm_status>(-1)), "MM_?");
}

TEST(PlanMisuse, ModulusBits) {
  for (const std::size_t bits :
       {std::size_t{0}, std::size_t{MM_MAX_MODULUS_BITS} + 1, std::numeric_limits<std::size_t>::max()}) {
    EXPECT_EQ(create_status(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, bits)), MM_ERR_ARGUMENT) << bits;
  }
  EXPECT_EQ(create_status(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 1)), MM_OK);
  EXPECT_EQ(create_status(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, MM_MAX_MODULUS_BITS)), MM_OK);
}

TEST(PlanMisuse, Threads) {
  mm_plan_options options = plan_options(MM_OP_MULMOD);
  options.threads = 1024;
  EXPECT_EQ(create_status(options), MM_OK);
  for (const unsigned threads : {1025u, 5000u, std::numeric_limits<unsigned>::max()}) {
    options.threads = threads;
    EXPECT_EQ(create_status(options), MM_ERR_ARGUMENT);
    EXPECT_EQ(mm_last_error(), "threads is " + std::to_string(threads) + ", expected 0 to 1024");
  }
}

// The arrays are not read, so that they need not be as large as they claim.
TEST(PlanMisuse, ExponentsOfFourGigabits) {
  constexpr std::size_t kMost = (std::size_t{1} << 26) - 1;
  std::uint64_t x = 3, y = 5, n = 7, r = 0;
  mm_call call = make_call({&x, 1, 1, 1, nullptr}, {&y, 1, kMost + 1, kMost + 1, nullptr},
                           {&n, 1, 1, 1, nullptr}, {&r, 1, 1, 1, nullptr});
  call.count = 1;
  EXPECT_EQ(mm_plan_run(make_plan(plan_options(MM_OP_POWMOD)).get(), &call), MM_ERR_ARGUMENT);
  EXPECT_STREQ(mm_last_error(), "y.width is 67108864, exponents have at most 67108863 limbs");
  EXPECT_EQ(r, 0u);
}

TEST(PlanMisuse, FixedBaseHasNoPlan) {
  EXPECT_EQ(create_status(plan_options(MM_OP_FIXED_BASE_POWMOD)), MM_ERR_ARGUMENT);
}

TEST(PlanMisuse, Devices) {
  mm_plan_options options = plan_options(MM_OP_MULMOD);
  for (const char* device : {"", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:99999999999999999999"}) {
    options.device = device;
    EXPECT_EQ(create_status(options), MM_ERR_UNKNOWN_DEVICE) << device;
  }
  for (const char* device : {"auto", "cpu"}) {
    options.device = device;
    EXPECT_EQ(create_status(options), MM_OK) << device;
  }
}

// A valid call, of which each test invalidates one member.
class CallMisuse : public ::testing::Test {
 protected:
  CallMisuse() : plan_(make_plan(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 128))) {
    call_ = make_call(x_.view(), y_.view(), n_.view(), result_.result(), statuses_.data());
  }

  // The status of the invalid call, which must not write anything.
  mm_status run() {
    const std::vector<std::uint64_t> before = result_.limbs();
    const std::vector<std::uint8_t> statuses_before = statuses_;
    const mm_status status = mm_plan_run(plan_.get(), &call_);
    if (status != MM_OK) {
      EXPECT_EQ(result_.limbs(), before);
      EXPECT_EQ(statuses_, statuses_before);
      EXPECT_STRNE(mm_last_error(), "");
    }
    return status;
  }

  Integers x_{{3, -4, 5}, 2};
  Integers y_{{6, 7, -8}, 2};
  Integers n_{{10, 11, -12}, 2};
  Integers result_{{90, 91, 92}, 2};
  std::vector<std::uint8_t> statuses_{7, 7, 7};
  PlanPointer plan_;
  mm_call call_{};
};

TEST_F(CallMisuse, TheUnspoiledCallIsFine) {
  EXPECT_EQ(run(), MM_OK) << mm_last_error();
  EXPECT_EQ(result_.value(0), 8);
  EXPECT_EQ(result_.value(1), 5);
  EXPECT_EQ(result_.value(2), -4);
}

TEST_F(CallMisuse, StructSize) {
  call_.struct_size = offsetof(mm_call, on_device) - 8;
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
  call_.struct_size = offsetof(mm_call, on_device);  // the size of the first version of mm_call
  EXPECT_EQ(run(), MM_OK);
}

TEST_F(CallMisuse, NullArrays) {
  const mm_call good = call_;
  for (const auto pointer : {&mm_call::x, &mm_call::y, &mm_call::modulus}) {
    call_ = good;
    (call_.*pointer).limbs = nullptr;
    EXPECT_EQ(run(), MM_ERR_NULL);
  }
  call_ = good;
  call_.result.limbs = nullptr;
  EXPECT_EQ(run(), MM_ERR_NULL);
  call_ = good;
  call_.result.negative = nullptr;  // the modulus has signs
  EXPECT_EQ(run(), MM_ERR_NULL);
}

TEST_F(CallMisuse, UnsignedModulusNeedsNoSignsInTheResult) {
  call_.modulus.negative = nullptr;
  call_.result.negative = nullptr;
  call_.item_status = nullptr;
  EXPECT_EQ(run(), MM_OK) << mm_last_error();
}

TEST_F(CallMisuse, Counts) {
  const mm_call good = call_;
  for (const std::size_t count : {std::size_t{0}, std::size_t{2}, std::size_t{4}, SIZE_MAX}) {
    for (const auto pointer : {&mm_call::x, &mm_call::y, &mm_call::modulus}) {
      call_ = good;
      (call_.*pointer).count = count;
      EXPECT_EQ(run(), MM_ERR_ARGUMENT) << count;
    }
    call_ = good;
    call_.result.count = count;
    EXPECT_EQ(run(), MM_ERR_ARGUMENT) << count;
  }
  call_ = good;
  call_.terms = 1;
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
}

TEST_F(CallMisuse, WidthsAndStrides) {
  const mm_call good = call_;
  for (const auto pointer : {&mm_call::x, &mm_call::y, &mm_call::modulus}) {
    for (const auto& [width, stride] : {std::pair<std::size_t, std::size_t>{0, 2},
                                        {2, 1},
                                        {SIZE_MAX, SIZE_MAX},
                                        {2, SIZE_MAX},
                                        {2, SIZE_MAX / 8},
                                        {SIZE_MAX / 8, 0}}) {
      call_ = good;
      (call_.*pointer).width = width;
      (call_.*pointer).stride = stride;
      EXPECT_EQ(run(), MM_ERR_ARGUMENT) << width << " " << stride;
    }
  }
  call_ = good;
  call_.result.width = 1;  // narrower than the modulus
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
  call_ = good;
  call_.result.stride = 1;
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
}

TEST_F(CallMisuse, HugeCounts) {
  call_.count = SIZE_MAX / 2;
  call_.result.count = call_.count;
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
  call_.x.count = call_.y.count = call_.modulus.count = 1;
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
}

TEST_F(CallMisuse, Misaligned) {
  call_.x.limbs = reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const char*>(call_.x.limbs) + 4);
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
}

TEST_F(CallMisuse, NoItemsDoNothing) {
  call_ = mm_call{};
  call_.struct_size = sizeof call_;
  EXPECT_EQ(run(), MM_OK);
}

TEST_F(CallMisuse, SharedPlanTakesOneModulus) {
  plan_ = make_plan(plan_options(MM_OP_MULMOD, MM_TIMING_PUBLIC, 128, MM_MODULUS_SHARED));
  EXPECT_EQ(run(), MM_ERR_ARGUMENT);
  call_.modulus.count = 1;
  EXPECT_EQ(run(), MM_OK) << mm_last_error();
}

TEST_F(CallMisuse, PartialOverlapIsRefused) {
  std::vector<std::uint64_t> memory(32, 5);
  const mm_call good = call_;
  for (const auto pointer : {&mm_call::x, &mm_call::y, &mm_call::modulus}) {
    for (const std::size_t offset :
         {1u, 2u, 5u}) {  // off by a limb, off by an item, overlap of the last limb only
      call_ = good;
      (call_.*pointer).limbs = memory.data();
      call_.result.limbs = memory.data() + offset;
      EXPECT_EQ(run(), MM_ERR_OVERLAP) << offset;
      (call_.*pointer).limbs = memory.data() + offset;
      call_.result.limbs = memory.data();
      EXPECT_EQ(run(), MM_ERR_OVERLAP) << offset;
    }
    call_ = good;
    (call_.*pointer).limbs = memory.data();
    call_.result.limbs = memory.data() + 6;  // adjacent
    EXPECT_EQ(run(), MM_OK) << mm_last_error();
  }
  EXPECT_EQ(memory[31], 5u);
}

TEST_F(CallMisuse, OverlapWithABroadcastOperandIsRefused) {
  call_.y.count = 1;
  call_.y.limbs = call_.result.limbs;
  call_.y.negative = nullptr;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
}

TEST_F(CallMisuse, SameArrayWithAnotherShapeIsRefused) {
  std::vector<std::uint64_t> memory(32, 5);
  call_.x.limbs = memory.data();
  call_.result.limbs = memory.data();
  call_.result.stride = 3;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
  call_.x.stride = 3;
  call_.result.width = 3;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
}

TEST_F(CallMisuse, SignsAndStatusesMayNotOverlap) {
  const mm_call good = call_;
  call_.item_status = call_.result.negative;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
  call_ = good;
  call_.item_status = const_cast<std::uint8_t*>(call_.x.negative) + 1;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
  call_ = good;
  call_.item_status = reinterpret_cast<std::uint8_t*>(call_.result.limbs) + 20;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
  call_ = good;
  call_.result.negative = const_cast<std::uint8_t*>(call_.y.negative) + 1;
  EXPECT_EQ(run(), MM_ERR_OVERLAP);
}

TEST_F(CallMisuse, ColumnsOfOneTableDoNotOverlap) {
  std::vector<std::uint64_t> table(24, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    table[8 * i] = 5;
    table[8 * i + 2] = 6;
    table[8 * i + 4] = 7;
  }
  call_.x = {table.data(), 3, 2, 8, nullptr};
  call_.y = {table.data() + 2, 3, 2, 8, nullptr};
  call_.modulus = {table.data() + 4, 3, 2, 8, nullptr};
  call_.result = {table.data() + 6, 3, 2, 8, nullptr};
  ASSERT_EQ(mm_plan_run(plan_.get(), &call_), MM_OK) << mm_last_error();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::vector<std::uint64_t>(table.begin() + 8 * static_cast<std::ptrdiff_t>(i),
                                         table.begin() + 8 * static_cast<std::ptrdiff_t>(i) + 8),
              (std::vector<std::uint64_t>{5, 0, 6, 0, 7, 0, 2, 0}));
  }
  call_.result.limbs = table.data() + 5;  // the last limb of the modulus
  EXPECT_EQ(mm_plan_run(plan_.get(), &call_), MM_ERR_OVERLAP);
}

TEST(MultiPowmodMisuse, CountsAndAliasing) {
  const PlanPointer plan = make_plan(plan_options(MM_OP_MULTI_POWMOD));
  Integers x({2, 3, 4, 5});
  const Integers y({1, 2, 3, 4});
  const Integers n({101, 103});
  Integers result({0, 0});
  mm_call call = make_call(x.view(), y.view(), n.view(), result.result());
  call.terms = 2;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_OK) << mm_last_error();
  EXPECT_EQ(result.value(0), 18);
  call.terms = 3;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ARGUMENT);
  call.terms = SIZE_MAX / 2;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ARGUMENT);
  call.terms = 2;
  call.x.count = 1;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_ARGUMENT);
  call = make_call(result.view(), y.view(), n.view(), result.result());
  call.terms = 1;
  call.y.count = 2;
  EXPECT_EQ(mm_plan_run(plan.get(), &call), MM_ERR_OVERLAP);
}

// A struct of a newer header: the members of this version followed by unknown ones.
template <class Info>
struct NewerInfo {
  Info info;
  std::uint64_t added;
};

// A struct of a newer header: members that this library does not know must be 0, or a wish would be lost
// silently.
TEST(StructSizes, UnknownMembersMustBeZero) {
  struct {
    mm_plan_options options;
    std::uint64_t unknown[2];
  } newer{};
  newer.options.struct_size = sizeof newer;
  newer.options.modulus_bits = 64;
  mm_plan* plan = nullptr;
  EXPECT_EQ(mm_plan_create(&newer.options, &plan), MM_OK) << mm_last_error();
  mm_plan_destroy(plan);
  newer.unknown[1] = std::uint64_t{1} << 63;
  EXPECT_EQ(mm_plan_create(&newer.options, &plan), MM_ERR_ARGUMENT);
  EXPECT_NE(std::string(mm_last_error()).find("is not 0"), std::string::npos) << mm_last_error();
  // Of no header: nothing behind the struct is read.
  newer.options.struct_size = SIZE_MAX;
  EXPECT_EQ(mm_plan_create(&newer.options, &plan), MM_ERR_ARGUMENT);
  EXPECT_EQ(plan, nullptr);
}

template <class Info>
void check_struct_sizes(mm_status (*get)(std::size_t, Info*)) {
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), kMinimumSize<Info> - 1}) {
    Info info{};
    info.struct_size = size;
    info.name = "untouched";
    EXPECT_EQ(get(0, &info), MM_ERR_ARGUMENT) << size;
    EXPECT_STREQ(info.name, "untouched");
  }
  Info oldest{};
  oldest.struct_size = kMinimumSize<Info>;
  EXPECT_EQ(get(0, &oldest), MM_OK) << mm_last_error();
  NewerInfo<Info> newer{};
  newer.added = 77;
  newer.info.struct_size = sizeof newer;
  EXPECT_EQ(get(0, &newer.info), MM_OK) << mm_last_error();
  EXPECT_STRNE(newer.info.name, nullptr);
  EXPECT_EQ(newer.info.struct_size, sizeof newer);
  EXPECT_EQ(newer.added, 77u);
}

TEST(InfoMisuse, StructSize) {
  check_struct_sizes<mm_variant_info>(mm_variant_get);
  check_struct_sizes<mm_device_info>(mm_device_get);
}

TEST(InfoMisuse, Cuda) {
  mm_cuda_info info{};
  EXPECT_EQ(mm_cuda_get_info(nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_cuda_get_info(&info), MM_ERR_ARGUMENT);
  info.struct_size = sizeof info;
  ASSERT_EQ(mm_cuda_get_info(&info), MM_OK);
  EXPECT_EQ(info.obstacle[0] == '\0', mm_device_count() > 1) << info.obstacle;
  if (info.built == 0) {
    EXPECT_STREQ(info.driver, "");
  }
}

TEST(InfoMisuse, IndicesAndNulls) {
  mm_variant_info variant{};
  variant.struct_size = sizeof variant;
  mm_device_info device{};
  device.struct_size = sizeof device;
  EXPECT_EQ(mm_variant_get(mm_variant_count(), &variant), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_device_get(mm_device_count(), &device), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_variant_get(0, nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_device_get(0, nullptr), MM_ERR_NULL);
}

}  // namespace
}  // namespace manymod::testing

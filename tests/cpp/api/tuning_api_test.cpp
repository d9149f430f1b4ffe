// SPDX-License-Identifier: Apache-2.0
// The tuning table, and the selection of variants by the number of items, through the C ABI.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "manymod/manymod.hpp"
#include "plan_helpers.hpp"

namespace manymod::testing {
namespace {

class TuningApi : public ::testing::Test {
 protected:
  TuningApi()
      : path_(std::filesystem::temp_directory_path() / ("manymod_tuning_test_" + std::to_string(getpid()))) {
    EXPECT_EQ(mm_tuning_load(nullptr), MM_OK);
  }
  ~TuningApi() override {
    EXPECT_EQ(mm_tuning_load(nullptr), MM_OK);
    std::filesystem::remove(path_);
  }

  mm_status load(const std::string& rows) {
    std::ofstream(path_) << "manymod-tuning\t1\tTest CPU\ttoday\n" << rows;
    return mm_tuning_load(path_.c_str());
  }

  static mm_tuning_info table() {
    mm_tuning_info info{};
    info.struct_size = sizeof info;
    EXPECT_EQ(mm_tuning_get_info(&info), MM_OK);
    return info;
  }

  static PlanPointer plan(const char* variant = nullptr) {
    mm_plan_options options = plan_options(MM_OP_POWMOD, MM_TIMING_PUBLIC, 1024);
    options.variant = variant;
    return make_plan(options);
  }

  std::filesystem::path path_;
};

TEST_F(TuningApi, ShippedRows) {
  const mm_tuning_info info = table();
  EXPECT_STREQ(info.source, "");
  EXPECT_STRNE(info.processor, "");
  EXPECT_STREQ(info.notes, "");
  ASSERT_GT(info.rows, 0u);
  for (std::size_t i = 0; i < info.rows; ++i) {
    mm_tuning_row row{};
    row.struct_size = sizeof row;
    ASSERT_EQ(mm_tuning_get(i, &row), MM_OK);
    EXPECT_LE(row.min_bits, row.max_bits);
    EXPECT_STRNE(row.variant, "");
    EXPECT_STRNE(row.evidence, "");
  }
  mm_tuning_row row{};
  row.struct_size = sizeof row;
  EXPECT_EQ(mm_tuning_get(info.rows, &row), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_tuning_get(0, nullptr), MM_ERR_NULL);
  row.struct_size = 8;
  EXPECT_EQ(mm_tuning_get(0, &row), MM_ERR_ARGUMENT);
  EXPECT_EQ(mm_tuning_get_info(nullptr), MM_ERR_NULL);
}

TEST_F(TuningApi, AFileDecidesByNumberOfItems) {
  ASSERT_EQ(load("powmod\tpublic\t1\t16384\t4\tscalar64.generic\tmeasured so\n"
                 "powmod\tpublic\t1\t16384\t1\tnonesuch\tx\n"),
            MM_OK)
      << mm_last_error();
  const mm_tuning_info info = table();
  EXPECT_EQ(info.source, path_.string());
  EXPECT_STREQ(info.processor, "Test CPU");
  EXPECT_STREQ(info.date, "today");
  EXPECT_NE(std::string(info.notes).find("'nonesuch'"), std::string::npos);
  const PlanPointer made = plan();
  EXPECT_STREQ(mm_plan_variant(made.get()), "scalar64.generic");
  EXPECT_STREQ(mm_plan_variant_for(made.get(), 4), "scalar64.generic");
  EXPECT_STREQ(mm_plan_variant_for(nullptr, 4), "");
  const manymod::Plan wrapped(manymod::Op::powmod, 1024);
  EXPECT_EQ(wrapped.variant_for(1000), "scalar64.generic");
}

TEST_F(TuningApi, ListsOfChoices) {
  const char* const other = "scalar64.adx";
  bool usable = false;
  for (const mm_variant_info& variant : usable_variants()) usable |= std::string(variant.name) == other;
  if (!usable) GTEST_SKIP() << other << " cannot run here";
  ASSERT_EQ(load("powmod\tpublic\t1\t16384\t3\tscalar64.adx\tx\n"
                 "powmod\tpublic\t1\t16384\t1\tscalar64.generic\tx\n"),
            MM_OK);
  const PlanPointer made = plan();
  EXPECT_STREQ(mm_plan_variant(made.get()), other);
  EXPECT_STREQ(mm_plan_variant_for(made.get(), SIZE_MAX), other);
  EXPECT_STREQ(mm_plan_variant_for(made.get(), 3), other);
  EXPECT_STREQ(mm_plan_variant_for(made.get(), 2), "scalar64.generic");
  EXPECT_STREQ(mm_plan_variant_for(made.get(), 1), "scalar64.generic");
  EXPECT_STREQ(mm_plan_variant_for(made.get(), 0), "scalar64.generic");
  const PlanPointer forced = plan(other);
  EXPECT_STREQ(mm_plan_variant_for(forced.get(), 1), other);
}

TEST_F(TuningApi, PlansKeepTheirChoice) {
  ASSERT_EQ(load("powmod\tpublic\t1\t16384\t1\tscalar64.generic\tx\n"), MM_OK);
  const PlanPointer before = plan();
  const mm_tuning_info info = table();
  ASSERT_EQ(mm_tuning_load(nullptr), MM_OK);
  EXPECT_STREQ(mm_plan_variant(before.get()), "scalar64.generic");
  EXPECT_STREQ(info.processor, "Test CPU") << "strings outlive their table";
  EXPECT_STREQ(table().source, "");
}

TEST_F(TuningApi, BadFilesChangeNothing) {
  ASSERT_EQ(load("powmod\tpublic\t1\t16384\t1\tscalar64.generic\tx\n"), MM_OK);
  EXPECT_EQ(load("powmod\tpublic\tmany\n"), MM_ERR_TUNING);
  EXPECT_NE(std::string(mm_last_error()).find("line 2"), std::string::npos) << mm_last_error();
  EXPECT_EQ(mm_tuning_load("/nonexistent/manymod.tuning"), MM_ERR_TUNING);
  EXPECT_NE(std::string(mm_last_error()).find("/nonexistent/manymod.tuning"), std::string::npos);
  EXPECT_EQ(mm_tuning_load("/dev/zero"), MM_ERR_TUNING);
  EXPECT_EQ(mm_tuning_load("/"), MM_ERR_TUNING);
  EXPECT_EQ(mm_tuning_load(""), MM_ERR_TUNING);
  std::ofstream(path_) << std::string((1 << 20) + 1, '#');
  EXPECT_EQ(mm_tuning_load(path_.c_str()), MM_ERR_TUNING);
  EXPECT_NE(std::string(mm_last_error()).find("longer"), std::string::npos) << mm_last_error();
  EXPECT_STREQ(table().processor, "Test CPU");
}

// A forced variant that does not accept every item leaves those to another one; the results do not depend on
// it.
TEST_F(TuningApi, ForcedVariantsComputeEveryItem) {
  const std::vector<std::uint64_t> x{2, 2, 2, 3, 2, 3, 7, 2, 3, 5, 2};
  const std::vector<std::uint64_t> y{10, 5, 1, 1, 3, 4, 2, 1, 2, 3, 0};
  const std::vector<std::uint64_t> n{1000, 999, 7, 10, 101, 64, 9, 15, 8, 21, 35};
  const std::vector<std::uint64_t> expected{24, 32, 4, 7, 8, 17, 4, 2, 1, 20, 1};
  const std::vector<std::uint8_t> negative{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  for (const mm_variant_info& variant : usable_variants()) {
    mm_plan_options options = plan_options(MM_OP_POWMOD, MM_TIMING_PUBLIC, 64);
    if (!serves(variant, options)) continue;
    options.variant = variant.name;
    const PlanPointer made = make_plan(options);
    std::vector<std::uint64_t> result(x.size());
    std::vector<std::uint8_t> signs(x.size());
    const mm_call call =
        make_call({x.data(), x.size(), 1, 1, nullptr}, {y.data(), y.size(), 1, 1, negative.data()},
                  {n.data(), n.size(), 1, 1, nullptr}, {result.data(), result.size(), 1, 1, signs.data()});
    ASSERT_EQ(mm_plan_run(made.get(), &call), MM_OK) << mm_last_error();
    EXPECT_EQ(result, expected) << variant.name;
    EXPECT_STREQ(mm_plan_variant(made.get()), variant.name);
  }
}

}  // namespace
}  // namespace manymod::testing

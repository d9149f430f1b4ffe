// SPDX-License-Identifier: Apache-2.0
// Arrays that end where an inaccessible page begins, as mapped files and shared memory may: no variant of the
// CPU reads or writes behind them, not even by an instruction whose mask excludes those words. The process
// dies of a failure.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "api/plan_helpers.hpp"

namespace manymod::testing {
namespace {

/// Limbs whose end is the beginning of an inaccessible page.
class LimbsAtPageEnd {
 public:
  explicit LimbsAtPageEnd(const std::vector<std::uint64_t>& limbs) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = limbs.size() * sizeof(std::uint64_t);
    const std::size_t accessible = (bytes + page - 1) / page * page;
    size_ = accessible + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    std::byte* const end = static_cast<std::byte*>(memory_) + accessible;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::bad_alloc();
    limbs_ = reinterpret_cast<std::uint64_t*>(end - bytes);
    std::copy(limbs.begin(), limbs.end(), limbs_);
  }
  LimbsAtPageEnd(const LimbsAtPageEnd&) = delete;
  LimbsAtPageEnd& operator=(const LimbsAtPageEnd&) = delete;
  ~LimbsAtPageEnd() { munmap(memory_, size_); }

  [[nodiscard]] std::uint64_t* data() const { return limbs_; }

 private:
  std::size_t size_ = 0;
  void* memory_ = nullptr;
  std::uint64_t* limbs_ = nullptr;
};

std::vector<std::uint64_t> random_limbs(std::mt19937_64& generate, std::size_t count) {
  std::vector<std::uint64_t> limbs(count);
  for (std::uint64_t& limb : limbs) limb = generate();
  return limbs;
}

struct Operands {
  std::vector<std::uint64_t> x, y, z, modulus;
};

/// Numbers of `width` limbs with odd moduli, and exponents of one limb.
Operands random_operands(mm_op op, std::size_t count, std::size_t moduli, std::size_t width) {
  std::mt19937_64 generate(1000 * width + count);
  Operands operands{random_limbs(generate, count * width),
                    random_limbs(generate, count * (op == MM_OP_POWMOD ? 1 : width)),
                    random_limbs(generate, count * width), random_limbs(generate, moduli * width)};
  for (std::size_t i = 0; i < moduli; ++i) {
    operands.modulus[i * width] |= 1;
    operands.modulus[(i + 1) * width - 1] |= std::uint64_t{1} << 63;
  }
  return operands;
}

/// The results of a call on these arrays, whose lengths those of `shape` are.
void compute(mm_plan* plan, const Operands& shape, std::size_t count, std::size_t width,
             const std::uint64_t* x, const std::uint64_t* y, const std::uint64_t* z,
             const std::uint64_t* modulus, std::uint64_t* result) {
  mm_call call = make_call({x, count, width, 0, nullptr}, {y, count, shape.y.size() / count, 0, nullptr},
                           {modulus, shape.modulus.size() / width, width, 0, nullptr},
                           {result, count, width, 0, nullptr});
  call.z = {z, count, width, 0, nullptr};
  EXPECT_EQ(mm_plan_run(plan, &call), MM_OK) << mm_last_error();
}

void expect_no_access_behind(mm_plan* plan, mm_op op, std::size_t count, std::size_t moduli,
                             std::size_t width) {
  const Operands given = random_operands(op, count, moduli, width);
  std::vector<std::uint64_t> expected(count * width);
  {
    // Arrays with other words behind them.
    Operands longer = given;
    for (auto* limbs : {&longer.x, &longer.y, &longer.z, &longer.modulus})
      limbs->resize(limbs->size() + 8, 7);
    std::vector<std::uint64_t> result(count * width + 8, 7);
    compute(plan, given, count, width, longer.x.data(), longer.y.data(), longer.z.data(),
            longer.modulus.data(), result.data());
    EXPECT_EQ(std::count(result.end() - 8, result.end(), 7), 8);
    std::copy_n(result.begin(), expected.size(), expected.begin());
  }
  const LimbsAtPageEnd x(given.x);
  const LimbsAtPageEnd y(given.y);
  const LimbsAtPageEnd z(given.z);
  const LimbsAtPageEnd modulus(given.modulus);
  const LimbsAtPageEnd result(std::vector<std::uint64_t>(count * width, 7));
  compute(plan, given, count, width, x.data(), y.data(), z.data(), modulus.data(), result.data());
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), result.data()));
}

class PageEnd : public ::testing::TestWithParam<mm_op> {};

TEST_P(PageEnd, NothingIsAccessedBehindArrays) {
  constexpr std::size_t kWidths[] = {1, 2, 3, 4, 5, 7, 9, 10, 11, 13, 17, 33, 66};
  constexpr std::size_t kCounts[] = {1, 5, 8, 19};
  for (const mm_variant_info& variant : usable_variants()) {
    if (variant.backend != MM_BACKEND_CPU) continue;
    for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
      for (const std::size_t width : kWidths) {
        mm_plan_options options = plan_options(GetParam(), timing, 64 * width);
        options.device = "cpu";
        options.variant = variant.name;
        options.threads = 1;
        if (!serves(variant, options)) continue;
        const PlanPointer plan = make_plan(options);
        for (const std::size_t count : kCounts) {
          SCOPED_TRACE(std::string(variant.name) + ", " + std::to_string(count) + " of " +
                       std::to_string(width) + " limbs");
          for (const std::size_t moduli : {std::size_t{1}, count}) {
            expect_no_access_behind(plan.get(), GetParam(), count, moduli, width);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, PageEnd,
                         ::testing::Values(MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD, MM_OP_MULMOD,
                                           MM_OP_SQRMOD, MM_OP_POWMOD, MM_OP_FMAMOD));

}  // namespace
}  // namespace manymod::testing

// SPDX-License-Identifier: Apache-2.0
// Another thread changes the moduli of a call, also to others that need other code: their results are
// undefined, but the call ends, and writes nothing beyond its results.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "plan_helpers.hpp"

namespace manymod::testing {
namespace {

constexpr std::size_t kCount = 48, kTerms = 2;
constexpr std::uint64_t kGuard = 0x5a5a5a5a5a5a5a5a;

bool has_terms(mm_op op) {
  return op == MM_OP_MULTI_POWMOD || op == MM_OP_SUMMOD || op == MM_OP_PRODMOD || op == MM_OP_DOTMOD;
}

/// Operands of a call, and the thread that changes its moduli as long as the object lives.
class ChangingModuli {
 public:
  explicit ChangingModuli(std::size_t width)
      : width_(width), x_(some()), y_(some()), modulus_(some()), result_(kCount * width + 1, kGuard) {
    for (std::size_t i = 0; i < kCount; ++i) modulus_[i * width] |= 1;
    thread_ = std::thread([this] { change(); });
  }
  ~ChangingModuli() {
    done_ = true;
    thread_.join();
    EXPECT_EQ(result_.back(), kGuard);
  }
  ChangingModuli(const ChangingModuli&) = delete;
  ChangingModuli& operator=(const ChangingModuli&) = delete;

  mm_status run(mm_plan* plan, mm_op op) {
    const std::size_t terms = has_terms(op) ? kTerms : 0, operands = kCount * (has_terms(op) ? kTerms : 1);
    mm_call call = make_call(view(x_, operands), view(y_, operands), view(modulus_, kCount),
                             {result_.data(), kCount, width_, width_, nullptr}, statuses_.data());
    call.terms = terms;
    if (op == MM_OP_FMAMOD) call.z = view(x_, kCount);
    if (op == MM_OP_NEGMOD || op == MM_OP_SQRMOD || op == MM_OP_INVMOD || op == MM_OP_SUMMOD ||
        op == MM_OP_PRODMOD) {
      call.y = {};
    }
    return mm_plan_run(plan, &call);
  }

 private:
  std::size_t width_;
  std::mt19937_64 random_{11};
  std::vector<std::uint64_t> x_, y_, modulus_, result_;
  std::array<std::uint8_t, kCount> statuses_{};
  std::atomic<bool> done_ = false;
  std::thread thread_;

  std::vector<std::uint64_t> some() {
    std::vector<std::uint64_t> limbs(kCount * kTerms * width_);
    for (std::uint64_t& limb : limbs) limb = random_();
    return limbs;
  }
  [[nodiscard]] mm_view view(const std::vector<std::uint64_t>& limbs, std::size_t count) const {
    return {limbs.data(), count, width_, width_, nullptr};
  }
  void change() {
    while (!done_) {
      const std::uint64_t number = random_();
      const std::array<std::uint64_t, 4> limbs{0, 1, number << 1, number | 1};
      std::atomic_ref(modulus_[(number >> 8) % (kCount * width_)])
          .store(limbs[number % 4], std::memory_order_relaxed);
    }
  }
};

TEST(ChangingModuli, CallsEnd) {
  for (const mm_variant_info& variant : usable_variants()) {
    if (variant.backend != MM_BACKEND_CPU) continue;
    for (int op = 0; op < MM_OP_COUNT; ++op) {
      if (op == MM_OP_FIXED_BASE_POWMOD) continue;
      for (const mm_timing timing : {MM_TIMING_PUBLIC, MM_TIMING_SECRET}) {
        for (const std::size_t width : {1U, 2U, 4U}) {
          mm_plan_options options = plan_options(static_cast<mm_op>(op), timing, width * 64);
          options.variant = variant.name;
          options.threads = 1;
          if (!serves(variant, options)) continue;
          const PlanPointer plan = make_plan(options);
          ChangingModuli operands(width);
          for (int call = 0; call < 3; ++call) {
            const mm_status status = operands.run(plan.get(), options.op);
            EXPECT_TRUE(status == MM_OK || status == MM_ERR_ITEMS)
                << variant.name << " " << op << mm_last_error();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace manymod::testing

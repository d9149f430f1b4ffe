// SPDX-License-Identifier: Apache-2.0
// Every CUDA variant on a GPU against the CPU, through the public interface. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "api/plan_helpers.hpp"
#include "manymod/manymod.hpp"

namespace manymod::testing {
namespace {

// Numbers that expose errors in carries and borrows: zero words, words of all ones, and random words.
class Values {
 public:
  explicit Values(std::uint64_t seed) : random_(seed) {}

  Batch numbers(std::size_t count, std::size_t width) {
    Batch batch(count, width);
    for (std::size_t i = 0; i < count; ++i) fill(batch[i]);
    return batch;
  }

  Batch odd_moduli(std::size_t count, std::size_t width) {
    Batch batch = numbers(count, width);
    for (std::size_t i = 0; i < count; ++i) {
      if (random_() % 4 == 0) batch[i][width - 1] >>= random_() % 64;
      batch[i][0] |= width == 1 ? 3 : 1;
    }
    return batch;
  }

  Batch with_signs(Batch batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) batch.set_negative(i, random_() % 2 == 0);
    return batch;
  }

 private:
  std::mt19937_64 random_;

  void fill(std::span<std::uint64_t> limbs) {
    const std::uint64_t kind = random_() % 4;
    for (std::uint64_t& limb : limbs) {
      const std::uint64_t word = random_();
      limb = kind == 0 ? ~std::uint64_t{0} : kind == 1 && word % 2 == 0 ? 0 : word;
    }
  }
};

void expect_same(const Batch& computed, const Batch& expected, const std::string& what) {
  ASSERT_EQ(computed.size(), expected.size());
  for (std::size_t i = 0; i < computed.size(); ++i) {
    ASSERT_EQ(computed.negative(i), expected.negative(i)) << what << ", item " << i;
    for (std::size_t j = 0; j < computed.width(); ++j) {
      ASSERT_EQ(computed[i][j], expected[i][j])
          << what << ", item " << i << " of " << computed.size() << ", limb " << j;
    }
  }
}

class GpuEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    variants_ = cuda_variants();
    if (variants_.empty()) GTEST_SKIP() << "no GPU that a variant can run on";
  }

  // All variants but those of element-wise operations alone.
  [[nodiscard]] std::vector<mm_variant_info> powering() const {
    std::vector<mm_variant_info> found = variants_;
    std::erase_if(found,
                  [](const auto& variant) { return !offers(variant, MM_OP_POWMOD, MM_TIMING_PUBLIC); });
    return found;
  }

  // Widths up to the variant's, some of which fill no shape.
  static std::vector<std::size_t> widths(const mm_variant_info& variant) {
    std::vector<std::size_t> limbs;
    for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 8u, 9u, 12u, 16u, 24u, 32u, 48u, 64u, 128u}) {
      if (count * 64 <= variant.max_bits) limbs.push_back(count);
    }
    return limbs;
  }

  static Placement on(const mm_variant_info& variant) { return {"cuda", variant.name, 0}; }

  void compare(const mm_variant_info& variant, Op op, const Operands& operands, Timing timing,
               const std::string& what) {
    const std::size_t bits = operands.modulus.width() * 64;
    const ModulusKind kind = operands.modulus.size() == 1 ? ModulusKind::shared : ModulusKind::each;
    Plan gpu(op, bits, kind, timing, on(variant));
    Plan cpu(op, bits, kind, timing, {"cpu", "", 0});
    ASSERT_EQ(gpu.variant(), variant.name);
    expect_same(gpu.run(operands), cpu.run(operands),
                std::string(variant.name) + ", " + std::to_string(bits) + " bits, " + what);
  }

  std::vector<mm_variant_info> variants_;
};

TEST_F(GpuEngine, PowersInBothTimingClasses) {
  for (const mm_variant_info& variant : powering()) {
    for (const std::size_t width : widths(variant)) {
      Values values(width);
      const std::size_t count = width <= 16 ? 70 : 9;
      const Batch n = values.odd_moduli(count, width), x = values.numbers(count, width);
      const Batch y = values.numbers(count, width <= 16 ? 2 : 1);
      compare(variant, Op::powmod, {x, y, n}, Timing::public_, "public powers");
      compare(variant, Op::powmod, {x, y, n}, Timing::secret, "secret powers");
    }
  }
}

TEST_F(GpuEngine, SharedOperandsAndExponents) {
  for (const mm_variant_info& variant : powering()) {
    Values values(7);
    const std::size_t width = std::min<std::size_t>(4, variant.max_bits / 64);
    const Batch n = values.odd_moduli(200, width), one_n = values.odd_moduli(1, width);
    const Batch x = values.numbers(200, width), one_x = values.numbers(1, width);
    const Batch y = values.numbers(200, 1), one_y = values.numbers(1, width);
    compare(variant, Op::powmod, {x, y, one_n}, Timing::secret, "one modulus");
    compare(variant, Op::powmod, {x, one_y, n}, Timing::public_, "one exponent");
    compare(variant, Op::powmod, {x, one_y, one_n}, Timing::public_, "one exponent and modulus");
    compare(variant, Op::powmod, {one_x, y, n}, Timing::public_, "one base");
    compare(variant, Op::powmod, {one_x, y, one_n}, Timing::secret, "one base and modulus");
    compare(variant, Op::mulmod, {x, one_x, n}, Timing::public_, "one factor");
    compare(variant, Op::mulmod, {x, one_x, one_n}, Timing::public_, "one factor and modulus");
  }
}

TEST_F(GpuEngine, ShortExponents) {
  for (const mm_variant_info& variant : powering()) {
    Values values(11);
    const std::size_t width = std::min<std::size_t>(16, variant.max_bits / 64);
    const Batch n = values.odd_moduli(40, width), x = values.numbers(40, width);
    for (const std::uint64_t exponent : {0ull, 1ull, 2ull, 3ull, 65537ull, 0x123456789abcdefull}) {
      Batch y(1, 1);
      y[0][0] = exponent;
      compare(variant, Op::powmod, {x, y, n}, Timing::public_, "exponent " + std::to_string(exponent));
      compare(variant, Op::powmod, {x, y, n}, Timing::secret, "secret exponent " + std::to_string(exponent));
    }
  }
}

TEST_F(GpuEngine, WideAndNegativeOperands) {
  for (const mm_variant_info& variant : powering()) {
    for (const std::size_t width : {std::size_t{1}, std::min<std::size_t>(6, variant.max_bits / 64)}) {
      Values values(13 + width);
      const Batch n = values.with_signs(values.odd_moduli(60, width));
      const Batch x = values.with_signs(values.numbers(60, 2 * width + 1));
      const Batch narrow = values.with_signs(values.numbers(60, 1)), y = values.numbers(60, 1);
      compare(variant, Op::powmod, {x, y, n}, Timing::public_, "wide bases");
      compare(variant, Op::powmod, {x, y, n}, Timing::secret, "wide bases in constant time");
      compare(variant, Op::powmod, {narrow, y, n}, Timing::public_, "narrow bases");
      compare(variant, Op::mulmod, {x, narrow, n}, Timing::public_, "wide by narrow");
      compare(variant, Op::mulmod, {narrow, x, n}, Timing::public_, "narrow by wide");
      compare(variant, Op::sqrmod, {x, {}, n}, Timing::public_, "wide squares");
    }
  }
}

TEST_F(GpuEngine, ProductsOfEveryWidth) {
  for (const mm_variant_info& variant : variants_) {
    for (const std::size_t width : widths(variant)) {
      Values values(17 * width);
      const std::size_t count = 333;
      const Batch n = values.odd_moduli(count, width);
      const Batch x = values.numbers(count, width), y = values.numbers(count, width);
      compare(variant, Op::mulmod, {x, y, n}, Timing::public_, "products");
      compare(variant, Op::sqrmod, {x, {}, n}, Timing::public_, "squares");
    }
  }
}

// Even moduli and negative exponents go to the CPU and moduli of other widths to other shapes; bad items get
// their statuses.
TEST_F(GpuEngine, MixedBatches) {
  const mm_variant_info variant = powering().front();
  const std::size_t width = std::min<std::size_t>(8, variant.max_bits / 64);
  Values values(23);
  Batch n = values.numbers(500, width);
  for (std::size_t i = 0; i < n.size(); ++i) {
    for (std::size_t j = 1 + i % width; j < width; ++j) n[i][j] = 0;
    if (i % 50 == 0) std::fill(n[i].begin(), n[i].end(), 0);
  }
  const Batch x = values.with_signs(values.numbers(500, width));
  const Batch y = values.with_signs(values.numbers(500, 1));
  Plan gpu(Op::powmod, width * 64, ModulusKind::each, Timing::public_, on(variant));
  Plan cpu(Op::powmod, width * 64, ModulusKind::each, Timing::public_, {"cpu", "", 0});
  std::vector<mm_status> on_gpu, on_cpu;
  const Batch computed = gpu.run({x, y, n}, &on_gpu);
  expect_same(computed, cpu.run({x, y, n}, &on_cpu), "mixed");
  EXPECT_EQ(on_gpu, on_cpu);
  EXPECT_EQ(on_gpu[50], MM_ITEM_ZERO_MODULUS);
}

TEST_F(GpuEngine, ProductsOfPowers) {
  for (const mm_variant_info& variant : powering()) {
    Values values(31);
    const std::size_t width = std::min<std::size_t>(4, variant.max_bits / 64);
    for (const std::size_t terms : {1u, 2u, 7u}) {
      const std::size_t count = 50;
      const Batch n = values.odd_moduli(count, width), one_n = values.odd_moduli(1, width);
      const Batch x = values.with_signs(values.numbers(count * terms, width + 1));
      const Batch y = values.numbers(count * terms, 1), shared_x = values.numbers(terms, width);
      compare(variant, Op::multi_powmod, {x, y, n, count, terms}, Timing::public_, "products of powers");
      compare(variant, Op::multi_powmod, {x, y, one_n, count, terms}, Timing::public_, "with one modulus");
      compare(variant, Op::multi_powmod, {shared_x, y, n, count, terms}, Timing::public_,
              "of the same bases");
      compare(variant, Op::multi_powmod, {shared_x, y, one_n, count, terms}, Timing::public_, "of one group");
    }
  }
}

TEST_F(GpuEngine, FixedBases) {
  for (const mm_variant_info& variant : powering()) {
    for (const std::size_t width : {std::size_t{1}, std::min<std::size_t>(6, variant.max_bits / 64)}) {
      Values values(37 + width);
      const Batch n = values.odd_moduli(1, width), g = values.with_signs(values.numbers(1, width + 1));
      const Batch y = values.numbers(90, 3);
      for (const Timing timing : {Timing::public_, Timing::secret}) {
        FixedBase gpu(g, n, 192, timing, on(variant)), cpu(g, n, 192, timing, {"cpu", "", 0});
        ASSERT_EQ(gpu.variant(), variant.name);
        expect_same(gpu.powmod(y), cpu.powmod(y), std::string(variant.name) + ", fixed base");
      }
      FixedBase gpu(g, n, 100, Timing::public_, on(variant)), cpu(g, n, 100, Timing::public_, {"cpu", "", 0});
      expect_same(gpu.powmod(y), cpu.powmod(y), std::string(variant.name) + ", exponents beyond the comb");
    }
  }
}

TEST_F(GpuEngine, SeveralChunks) {
  for (const char* name : {"row32.cuda.t1", "dpf52.cuda.t1"}) {
    Values values(29);
    const std::size_t count = 700'000;
    const Batch n = values.odd_moduli(count, 2), x = values.numbers(count, 2), y = values.numbers(count, 2);
    Plan gpu(Op::mulmod, 128, ModulusKind::each, Timing::public_, {"cuda", name, 0});
    Plan cpu(Op::mulmod, 128, ModulusKind::each, Timing::public_, {"cpu", "", 0});
    expect_same(gpu.run({x, y, n}), cpu.run({x, y, n}), name);
  }
}

}  // namespace
}  // namespace manymod::testing

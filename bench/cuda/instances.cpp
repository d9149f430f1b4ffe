// SPDX-License-Identifier: Apache-2.0
#include "instances.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>

#include "manymod/manymod.h"

namespace manymod::bench {
namespace {

// A batch for the C ABI.
struct Numbers {
  std::size_t width;  // limbs
  std::vector<std::uint64_t> limbs;

  [[nodiscard]] std::size_t count() const { return limbs.size() / width; }
  [[nodiscard]] mm_view view() const { return {limbs.data(), count(), width, width, nullptr}; }
  void add(std::span<const std::uint32_t> words) {
    for (std::size_t j = 0; j < width; ++j) {
      limbs.push_back(words[2 * j] | static_cast<std::uint64_t>(words[2 * j + 1]) << 32);
    }
  }
};

// 2^bit
Numbers power_of_two(std::size_t bit) {
  Numbers r{bit / 64 + 1, {}};
  r.limbs.assign(r.width, 0);
  r.limbs.back() = std::uint64_t{1} << (bit % 64);
  return r;
}

Numbers small_number(std::uint64_t value) { return {1, {value}}; }

Numbers number(Words words) {
  words.resize((words.size() + 1) / 2 * 2);
  Numbers r{words.size() / 2, {}};
  r.add(words);
  return r;
}

void require_success(mm_status status) {
  if (status != MM_OK) throw std::runtime_error(std::string("the CPU library failed: ") + mm_last_error());
}

/// A plan on the processor, for an operation on as many items as `n` has.
class CpuPlan {
 public:
  CpuPlan(mm_op op, std::size_t modulus_limbs, unsigned threads = 0) {
    mm_plan_options options{};
    options.struct_size = sizeof options;
    options.op = op;
    options.timing = MM_TIMING_PUBLIC;
    options.modulus_kind = MM_MODULUS_EACH;
    options.modulus_bits = 64 * modulus_limbs;
    options.device = "cpu";
    options.threads = threads;
    require_success(mm_plan_create(&options, &plan_));
  }
  CpuPlan(const CpuPlan&) = delete;
  CpuPlan& operator=(const CpuPlan&) = delete;
  ~CpuPlan() { mm_plan_destroy(plan_); }

  /// `x` and `y` have an item for each of `n`, or one for all.
  [[nodiscard]] Numbers run(const Numbers& x, const Numbers& y, const Numbers& n) const {
    Numbers r{n.width, std::vector<std::uint64_t>(n.limbs.size())};
    mm_call call{};
    call.struct_size = sizeof call;
    call.count = n.count();
    call.x = x.view();
    call.y = y.view();
    call.modulus = n.view();
    call.result = {r.limbs.data(), r.count(), r.width, r.width, nullptr};
    require_success(mm_plan_run(plan_, &call));
    return r;
  }

 private:
  mm_plan* plan_ = nullptr;
};

Numbers multiply(const Numbers& x, const Numbers& y, const Numbers& n) {
  return CpuPlan(MM_OP_MULMOD, n.width).run(x, y, n);
}
Numbers power(const Numbers& x, const Numbers& y, const Numbers& n) {
  return CpuPlan(MM_OP_POWMOD, n.width).run(x, y, n);
}

Numbers gather(const Instances& instances, const Instances::Operand& operand,
               const std::vector<std::size_t>& items) {
  Numbers r{instances.width() / 2, {}};
  for (const std::size_t item : items) r.add(instances.row(operand, item));
  return r;
}

Numbers gather_results(std::span<const std::uint32_t> results, std::uint32_t width,
                       const std::vector<std::size_t>& items) {
  Numbers r{width / 2, {}};
  for (const std::size_t item : items) r.add(results.subspan(item * width, width));
  return r;
}

bool below(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

// Whether answers r, which have to be below n, have r `scale` = `expected` mod n; R is no unit of these
// equations, so that no inverse is needed.
Verdict judge_scaled(const Numbers& r, const Numbers& scale, const Numbers& expected, const Numbers& n,
                     const std::vector<std::size_t>& items) {
  const Numbers found = multiply(r, scale, n);
  Verdict verdict;
  verdict.checked = items.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto row = [&](const Numbers& of) { return std::span(of.limbs).subspan(i * n.width, n.width); };
    if (std::ranges::equal(row(found), row(expected)) && below(row(r), row(n))) continue;
    verdict.add_wrong("item " + std::to_string(items[i]) + " is not what the CPU computes");
  }
  return verdict;
}

void fill_random(std::vector<std::uint32_t>& words, std::mt19937_64& random) {
  for (std::size_t j = 0; j + 1 < words.size(); j += 2) {
    const std::uint64_t limb = random();
    words[j] = static_cast<std::uint32_t>(limb);
    words[j + 1] = static_cast<std::uint32_t>(limb >> 32);
  }
}

enum class TopBit : std::uint8_t { random, set, clear };

// Cut to `bits` bits, the top one as told.
void shape_top(std::span<std::uint32_t> row, unsigned bits, TopBit top) {
  for (unsigned bit = bits; bit < 32 * row.size(); bit = (bit / 32 + 1) * 32) {
    row[bit / 32] &= (std::uint32_t{1} << (bit % 32)) - 1;
  }
  const std::uint32_t mask = std::uint32_t{1} << ((bits - 1) % 32);
  std::uint32_t& word = row[(bits - 1) / 32];
  if (top == TopBit::set) word |= mask;
  if (top == TopBit::clear) word &= ~mask;
}

}  // namespace

Instances::Instances(const cuda::Stream& stream, unsigned bits, std::size_t count, Moduli moduli)
    : bits_(bits), width_((bits + 63) / 64 * 2), count_(count), moduli_(moduli) {
  std::mt19937_64 random(bits);
  const auto fill = [&](Operand& operand, TopBit top, bool odd) {
    const std::size_t rows = is_shared(operand) ? 1 : count;
    operand.words.resize(rows * width_);
    fill_random(operand.words, random);
    for (std::size_t i = 0; i < rows; ++i) {
      const std::span<std::uint32_t> row = std::span(operand.words).subspan(i * width_, width_);
      shape_top(row, bits, top);
      if (odd) row[0] |= 1;
    }
    const std::size_t bytes = operand.words.size() * sizeof(std::uint32_t);
    operand.on_device = gpu::DeviceBuffer(stream.device(), bytes);
    stream.copy_to_device(operand.on_device.data(), operand.words.data(), bytes);
  };
  fill(modulus_, TopBit::set, true);
  fill(base_, TopBit::random, false);
  fill(factor_, TopBit::clear, false);
  fill(exponent_, TopBit::set, false);
  stream.synchronize();
}

std::vector<std::size_t> Checker::sample(std::size_t count) const {
  std::vector<std::size_t> items;
  const std::size_t wanted = std::min(sampled_, count);
  for (std::size_t k = 0; k < wanted; ++k) items.push_back(wanted == 1 ? 0 : k * (count - 1) / (wanted - 1));
  return items;
}

void Checker::compute_powers(const std::vector<std::size_t>& items) {
  std::vector<std::size_t> missing;
  for (const std::size_t item : items) {
    if (!powers_.contains(item)) missing.push_back(item);
  }
  if (missing.empty()) return;
  const Numbers r = power(gather(instances_, instances_.base(), missing),
                          gather(instances_, instances_.exponent(), missing),
                          gather(instances_, instances_.modulus(), missing));
  for (std::size_t i = 0; i < missing.size(); ++i) {
    Words& row = powers_[missing[i]];
    for (std::size_t j = 0; j < r.width; ++j) {
      row.push_back(static_cast<std::uint32_t>(r.limbs[i * r.width + j]));
      row.push_back(static_cast<std::uint32_t>(r.limbs[i * r.width + j] >> 32));
    }
  }
}

bool Checker::is_power(std::span<const std::uint32_t> results, std::size_t item) {
  compute_powers({item});
  return std::ranges::equal(results.subspan(item * instances_.width(), instances_.width()), powers_[item]);
}

Verdict Checker::powers(Words results) {
  const std::vector<std::size_t> items = sample(results.size() / instances_.width());
  compute_powers(items);
  Verdict verdict;
  verdict.checked = items.size();
  for (const std::size_t item : items) {
    if (!is_power(results, item))
      verdict.add_wrong("item " + std::to_string(item) + " is not what the CPU computes");
  }
  if (verdict.wrong == 0) compare_with_others(results, verdict);
  if (verdict.wrong == 0 && results.size() > others_.size()) others_ = std::move(results);
  return verdict;
}

// Where two kernels differ, the CPU library decides.
void Checker::compare_with_others(std::span<const std::uint32_t> results, Verdict& verdict) {
  const std::uint32_t width = instances_.width();
  const std::size_t rows = std::min(results.size(), others_.size()) / width;
  verdict.compared = rows;
  for (std::size_t item = 0; item < rows; ++item) {
    if (std::ranges::equal(results.subspan(item * width, width),
                           std::span(others_).subspan(item * width, width))) {
      continue;
    }
    ++verdict.checked;
    const bool right = is_power(results, item);
    verdict.add_wrong("item " + std::to_string(item) + " differs from another kernel's, which is " +
                      (right ? "wrong" : "right"));
    if (right) others_.clear();
    return;
  }
}

// With an odd number of steps the power of R that is to be taken out is one of R^2.
Verdict Checker::products(std::span<const std::uint32_t> results, const Words& radix_squared,
                          std::uint32_t steps) const {
  const std::vector<std::size_t> items = sample(results.size() / instances_.width());
  const Numbers n = gather(instances_, instances_.modulus(), items);
  const Numbers scale = power(number(radix_squared), small_number((std::uint64_t{steps} + 1) / 2), n);
  const Numbers factors = power(gather(instances_, instances_.factor(), items), small_number(steps), n);
  const Numbers expected = multiply(gather(instances_, instances_.base(), items), factors, n);
  return judge_scaled(gather_results(results, instances_.width(), items), scale, expected, n, items);
}

Verdict Checker::squares(std::span<const std::uint32_t> results, const Words& radix_squared,
                         std::uint32_t steps) const {
  const std::vector<std::size_t> items = sample(results.size() / instances_.width());
  const Numbers n = gather(instances_, instances_.modulus(), items);
  const Numbers scale = power(number(radix_squared), power_of_two(steps - 1), n);
  const Numbers expected = power(gather(instances_, instances_.base(), items), power_of_two(steps), n);
  return judge_scaled(gather_results(results, instances_.width(), items), scale, expected, n, items);
}

Verdict Checker::sums(std::span<const std::uint32_t> results, std::uint32_t steps, bool subtract) const {
  const std::vector<std::size_t> items = sample(results.size() / instances_.width());
  std::vector<std::size_t> next = items;
  for (std::size_t& item : next) ++item;
  const Numbers n = gather(instances_, instances_.modulus(), items);
  const Numbers added = multiply(gather(instances_, instances_.factor(), next), small_number(steps), n);
  const Numbers expected = CpuPlan(subtract ? MM_OP_SUBMOD : MM_OP_ADDMOD, n.width)
                               .run(gather(instances_, instances_.factor(), items), added, n);
  const Numbers found = gather_results(results, instances_.width(), items);
  Verdict verdict;
  verdict.checked = items.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto row = [&](const Numbers& of) { return std::span(of.limbs).subspan(i * n.width, n.width); };
    if (std::ranges::equal(row(found), row(expected))) continue;
    verdict.add_wrong("item " + std::to_string(items[i]) + " is not what the CPU computes");
  }
  return verdict;
}

double cpu_nanoseconds(const Instances& instances, std::size_t count, mm_op op) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 9;
  std::vector<std::size_t> items(std::min(count, instances.count()));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = i;
  const Numbers x = gather(instances, instances.base(), items),
                y = gather(instances, instances.factor(), items),
                n = gather(instances, instances.modulus(), items);
  const CpuPlan plan(op, n.width, 1);
  std::vector<double> nanoseconds;
  for (int run = 0; run < kRuns; ++run) {
    const Clock::time_point start = Clock::now();
    static_cast<void>(plan.run(x, y, n));
    nanoseconds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  std::ranges::nth_element(nanoseconds, nanoseconds.begin() + kRuns / 2);
  return nanoseconds[kRuns / 2] / static_cast<double>(items.size());
}

}  // namespace manymod::bench

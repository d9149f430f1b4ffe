// SPDX-License-Identifier: Apache-2.0
// This library itself, through its C ABI: constant-time powers, and both halves of an RSA private operation
// by the Chinese remainder theorem (their recombination apart).
#include "manymod/manymod.h"

#include "manymod/calls.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "operands.hpp"

namespace peers {
namespace {

/// A batch of powers on one thread; all items lie one after the other.
class Powers {
 public:
  Powers(unsigned bits, std::size_t items, std::size_t base_words)
      : words_(bits / 64), items_(items), base_words_(base_words) {
    mm_plan_options options{};
    options.struct_size = sizeof options;
    options.op = MM_OP_POWMOD;
    options.timing = MM_TIMING_SECRET;
    options.modulus_kind = MM_MODULUS_EACH;
    options.modulus_bits = bits;
    options.device = "cpu";
    options.threads = 1;
    mm_plan* plan = nullptr;
    manymod::check(mm_plan_create(&options, &plan));
    plan_.reset(plan);
    result_.resize(items * words_);
  }

  void add(const Words& base, const Words& exponent, const Words& modulus) {
    base_.insert(base_.end(), base.begin(), base.end());
    exponent_.insert(exponent_.end(), exponent.begin(), exponent.end());
    modulus_.insert(modulus_.end(), modulus.begin(), modulus.end());
  }

  void run() {
    mm_call call{};
    call.struct_size = sizeof call;
    call.count = items_;
    call.x = {base_.data(), items_, base_words_, base_words_, nullptr};
    call.y = {exponent_.data(), items_, words_, words_, nullptr};
    call.modulus = {modulus_.data(), items_, words_, words_, nullptr};
    call.result = {result_.data(), items_, words_, words_, nullptr};
    manymod::check(mm_plan_run(plan_.get(), &call));
  }

  [[nodiscard]] std::string variant() const { return mm_plan_variant_for(plan_.get(), items_); }

  [[nodiscard]] std::vector<Words> answers() const {
    std::vector<Words> all;
    for (auto at = result_.begin(); at != result_.end();) {
      const auto end = at + static_cast<std::ptrdiff_t>(words_);
      all.emplace_back(at, end);
      at = end;
    }
    return all;
  }

 private:
  std::size_t words_, items_, base_words_;
  std::unique_ptr<mm_plan, Deleter<mm_plan_destroy>> plan_;
  Words base_, exponent_, modulus_, result_;
};

Case make_case(const std::shared_ptr<Powers>& powers, const std::string& name, unsigned bits,
               std::size_t items) {
  return {"manymod", name, bits, items, [powers] { powers->run(); }, [powers] { return powers->answers(); }};
}

}  // namespace

std::string manymod_version() { return mm_version(); }

std::vector<Case> manymod_cases(const Operands& operands) {
  std::vector<Case> cases;
  for (const std::size_t count : {1, 8, 64}) {
    if (operands.powers.size() < count) continue;
    auto powers = std::make_shared<Powers>(operands.bits, count, operands.bits / 64);
    std::for_each_n(operands.powers.begin(), count,
                    [&](const Power& item) { powers->add(item.base, item.exponent, item.modulus); });
    cases.push_back(make_case(powers, "powmod, batch " + std::to_string(count), operands.bits, count));
    cases.back().variant = powers->variant();
  }
  if (!operands.rsa.empty()) {
    constexpr std::size_t kHalvesItems = 8;
    const std::size_t count = std::min(kHalvesItems, operands.rsa.size());
    auto halves = std::make_shared<Powers>(operands.bits / 2, 2 * count, operands.bits / 64);
    std::for_each_n(operands.rsa.begin(), count, [&](const Rsa& item) {
      halves->add(item.input, item.dp, item.p);
      halves->add(item.input, item.dq, item.q);
    });
    cases.push_back(make_case(halves, "RSA halves, batch " + std::to_string(count), operands.bits, count));
    cases.back().variant = halves->variant();
    add_manymod_signatures(cases, operands);
  }
  return cases;
}

}  // namespace peers

// SPDX-License-Identifier: Apache-2.0
#include "case.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace manymod::bench {
namespace {

constexpr std::size_t kChecked = 16;
constexpr std::uint64_t kF4 = 65537;

}  // namespace

const char* Case::operation() const {
  switch (op) {
    case MM_OP_MULMOD:
      return "mulmod";
    case MM_OP_SQRMOD:
      return "sqrmod";
    default:
      return "powmod";
  }
}

const char* Case::exponents_name() const {
  switch (exponents) {
    case Exponents::each:
      return "each";
    case Exponents::shared:
      return "shared";
    case Exponents::f4:
      return "65537";
    default:
      return "";
  }
}

std::size_t Case::bytes_per_item() const {
  const bool second = op == MM_OP_MULMOD || exponents == Exponents::each;
  return bits / 8 * (second ? 4 : 3);
}

CaseRun::CaseRun(const Case& what, Operands& operands)
    : what_(what), operands_(operands), plan_(make_plan(what.device.c_str())) {}

CaseRun::Plan CaseRun::make_plan(const char* device) const {
  mm_plan_options options{};
  options.struct_size = sizeof options;
  options.op = what_.op;
  options.timing = what_.timing;
  options.modulus_kind = MM_MODULUS_EACH;
  options.modulus_bits = what_.bits;
  options.device = device;
  mm_plan* plan = nullptr;
  if (mm_plan_create(&options, &plan) != MM_OK) throw std::runtime_error(mm_last_error());
  return Plan(plan);
}

// The same for all: a host array in any case.
mm_view CaseRun::exponent_view(std::size_t items, bool on_device) const {
  const std::size_t width = operands_.width();
  switch (what_.exponents) {
    case Exponents::each:
      return {operands_.exponents(on_device), items, width, width, nullptr};
    case Exponents::shared:
      return {operands_.exponents(false), 1, width, width, nullptr};
    case Exponents::f4:
      return {&kF4, 1, 1, 1, nullptr};
    default:
      return {};
  }
}

mm_call CaseRun::call_of(std::size_t items) const {
  const std::size_t width = operands_.width();
  const bool there = what_.on_device;
  mm_call call{};
  call.struct_size = sizeof call;
  call.count = items;
  call.x = {operands_.bases(there), items, width, width, nullptr};
  call.modulus = {operands_.moduli(there), items, width, width, nullptr};
  call.result = {operands_.results(there), items, width, width, nullptr};
  // A second factor of odd numbers is as good as any other.
  if (what_.op == MM_OP_MULMOD) call.y = {operands_.exponents(there), items, width, width, nullptr};
  if (what_.op == MM_OP_POWMOD) call.y = exponent_view(items, there);
  if (there) {
    call.on_device = MM_ON_DEVICE_X | MM_ON_DEVICE_MODULUS | MM_ON_DEVICE_RESULT;
    if (what_.op == MM_OP_MULMOD || what_.exponents == Exponents::each) call.on_device |= MM_ON_DEVICE_Y;
  }
  return call;
}

double CaseRun::call(std::size_t items) {
  using Clock = std::chrono::steady_clock;
  mm_call call = call_of(items);
  fresh_.reset();
  const Clock::time_point start = Clock::now();
  if (what_.results == Results::fresh) {
    fresh_ = std::make_unique_for_overwrite<std::uint64_t[]>(items * operands_.width());
    call.result.limbs = fresh_.get();
  }
  const mm_status status = mm_plan_run(plan_.get(), &call);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (status != MM_OK) throw std::runtime_error(mm_last_error());
  return seconds;
}

std::vector<std::uint64_t> CaseRun::expected(mm_plan* plan, std::size_t item) const {
  const std::size_t width = operands_.width();
  const auto row = [&](const std::uint64_t* array) {
    return mm_view{array + item * width, 1, width, width, nullptr};
  };
  std::vector<std::uint64_t> found(width);
  mm_call call{};
  call.struct_size = sizeof call;
  call.count = 1;
  call.x = row(operands_.bases(false));
  call.modulus = row(operands_.moduli(false));
  call.result = {found.data(), 1, width, width, nullptr};
  if (what_.op == MM_OP_POWMOD) call.y = exponent_view(1, false);
  if (what_.op == MM_OP_MULMOD || what_.exponents == Exponents::each) {
    call.y = row(operands_.exponents(false));
  }
  if (mm_plan_run(plan, &call) != MM_OK) throw std::runtime_error(mm_last_error());
  return found;
}

std::vector<std::uint64_t> CaseRun::result(std::size_t item) const {
  if (!fresh_) return operands_.result(item, what_.on_device);
  const std::uint64_t* const row = fresh_.get() + item * operands_.width();
  return {row, row + operands_.width()};
}

CaseRun::Verdict CaseRun::check(std::size_t items) {
  Verdict verdict;
  verdict.checked = std::min(items, kChecked);
  std::vector<std::size_t> sample;
  for (std::size_t k = 0; k < verdict.checked; ++k) {
    sample.push_back(verdict.checked == 1 ? 0 : k * (items - 1) / (verdict.checked - 1));
  }
  for (const std::size_t item : sample) operands_.clear_result(item, what_.on_device);
  call(items);
  const Plan plan = make_plan("cpu");
  for (const std::size_t item : sample) {
    if (result(item) == expected(plan.get(), item) || !verdict.wrong.empty()) continue;
    verdict.wrong = "item " + std::to_string(item) + " is not what the CPU computes";
  }
  return verdict;
}

}  // namespace manymod::bench

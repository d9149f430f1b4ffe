// SPDX-License-Identifier: Apache-2.0
// The C interface for modular arithmetic: options, plans, fixed bases, calls and jobs. Every result is
// checked against libcrypto's numbers, and every status against what the interface documents.
#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "fuzz/call_builder.hpp"

namespace manymod::fuzz {
namespace {

struct FreeManymod {
  void operator()(mm_plan* plan) const { mm_plan_destroy(plan); }
  void operator()(mm_fixed_base* base) const { mm_fixed_base_destroy(base); }
};
using Plan = std::unique_ptr<mm_plan, FreeManymod>;
using FixedBase = std::unique_ptr<mm_fixed_base, FreeManymod>;

// Calls that force a variant would compile kernels of OpenCL for seconds each, and drivers of OpenCL do not
// survive failing allocations. tests/cpp/gpu/opencl is about them.
[[maybe_unused]] const int kWithoutOpencl = setenv("MANYMOD_HIDE_OPENCL", "1", 1);

bool has_secret_form(mm_op op) { return op != MM_OP_MULTI_POWMOD; }

// What a result depends on beside the call.
struct Settings {
  bool secret = false;
  std::size_t modulus_bits = MM_MAX_MODULUS_BITS;
  const Operand* fixed_base = nullptr;
  std::size_t exponent_limbs = SIZE_MAX;  // items with wider exponents of a fixed base are not computed
};

// The options that plans and fixed bases share. `outcome` is what they must lead to; with a forced variant
// the call may also fail because that variant cannot be used.
struct Engine {
  const char* device = nullptr;
  const char* variant = nullptr;
  unsigned threads = 0;
  mm_status outcome = MM_OK;
  std::string name;

  explicit Engine(Choices& choices) {
    constexpr std::array<const char*, 4> kWrongDevices{"", "gpu", "cuda:", "cpu "};
    if (choices.one_in(4)) device = choices.one_in(2) ? "cpu" : "auto";
    if (choices.one_in(4)) {
      mm_variant_info info{};
      info.struct_size = sizeof info;
      const mm_status status = mm_variant_get(choices.below(mm_variant_count()), &info);
      if (!ran_out_of_memory(status == MM_ERR_MEMORY)) require(status == MM_OK, "mm_variant_get");
      variant = info.name;
    }
    threads = static_cast<unsigned>(choices.below(4));
    if (!choices.one_in(16)) return;
    switch (choices.below(4)) {
      case 0:
        threads = 1025;
        outcome = MM_ERR_ARGUMENT;
        return;
      case 1:
        device = choices.among(std::span<const char* const>(kWrongDevices));
        outcome = MM_ERR_UNKNOWN_DEVICE;
        return;
      case 2: {
        const Bytes text = choices.bytes(20);
        name = "?" + std::string(text.begin(), text.end());
        variant = name.c_str();
        outcome = MM_ERR_UNKNOWN_VARIANT;
        return;
      }
      default:
        return;
    }
  }

  // Whether a creation may have ended so.
  bool explains(mm_status status) const {
    if (status == outcome) return true;
    return variant != nullptr && status == MM_ERR_UNUSABLE_VARIANT;
  }
};

Plan create_plan(Choices& choices, mm_op op, bool shared, Settings& settings) {
  const Engine engine(choices);
  mm_plan_options options{};
  options.struct_size = sizeof options;
  options.op = op;
  options.timing = settings.secret ? MM_TIMING_SECRET : MM_TIMING_PUBLIC;
  options.modulus_kind = shared ? MM_MODULUS_SHARED : MM_MODULUS_EACH;
  if (choices.one_in(4)) settings.modulus_bits = 1 + choices.below(600);
  options.modulus_bits = settings.modulus_bits;
  options.device = engine.device;
  options.variant = engine.variant;
  options.threads = engine.threads;
  mm_status expected = engine.outcome;
  if (choices.one_in(64)) {
    options.modulus_bits = choices.one_in(2) ? 0 : MM_MAX_MODULUS_BITS + 1;
    expected = MM_ERR_ARGUMENT;
  }
  mm_plan* created = nullptr;
  const mm_status status = mm_plan_create(&options, &created);
  Plan plan(created);
  require((status == MM_OK) == (created != nullptr), "a plan and a failure, or neither");
  if (ran_out_of_memory(status == MM_ERR_MEMORY)) return nullptr;
  if (settings.secret && !has_secret_form(op)) {
    require(status != MM_OK, "a constant-time plan for an operation without that form");
  } else if (expected == engine.outcome) {
    require(engine.explains(status),
            std::string("mm_plan_create returned ") + mm_status_name(status) + ": " + mm_last_error());
  } else {
    require(status != MM_OK, "a plan for a modulus size out of range");
  }
  return plan;
}

// The status that item i must have before it is computed; MM_OK: none.
mm_status initial_status(const Number& modulus, const Settings& settings) {
  if (BN_is_zero(modulus.get())) return MM_ITEM_ZERO_MODULUS;
  if (static_cast<std::size_t>(BN_num_bits(modulus.get())) > settings.modulus_bits)
    return MM_ITEM_MODULUS_TOO_WIDE;
  if (settings.secret && !BN_is_odd(modulus.get())) return MM_ITEM_EVEN_MODULUS;
  return MM_OK;
}

// As expected_residue, for an operation with terms.
Number expected_of_terms(const BuiltCall& built, std::size_t i, const Number& n) {
  const mm_op op = built.op();
  const bool adds = op == MM_OP_SUMMOD || op == MM_OP_DOTMOD;
  Number r = remainder(number_of_word(adds ? 0 : 1), n);
  const auto term = [&](const Operand& operand, std::size_t t) {
    return operand.value(operand.count() == built.terms() ? t : i * built.terms() + t);
  };
  for (std::size_t t = 0; t < built.terms(); ++t) {
    Number value = term(built.x(), t);
    if (op == MM_OP_MULTI_POWMOD) value = power(value, term(built.y(), t), n);
    if (op == MM_OP_DOTMOD) value = product(value, term(built.y(), t));
    if (!value) return nullptr;
    if (adds) did(BN_add(r.get(), r.get(), value.get()));
    r = adds ? remainder(r, n) : remainder(product(r, value), n);
  }
  return r;
}

// The result of item i as a number in [0, |n|); null if it is not invertible. In: n > 0.
Number expected_residue(const BuiltCall& built, std::size_t i, const Number& n, const Settings& settings) {
  const auto x = [&] { return built.x().value(i); };
  const auto y = [&] { return built.y().value(i); };
  Number sum(BN_new());
  switch (built.op()) {
    case MM_OP_ADDMOD:
      did(BN_add(sum.get(), x().get(), y().get()));
      return remainder(sum, n);
    case MM_OP_SUBMOD:
      did(BN_sub(sum.get(), x().get(), y().get()));
      return remainder(sum, n);
    case MM_OP_NEGMOD:
      did(BN_sub(sum.get(), sum.get(), x().get()));
      return remainder(sum, n);
    case MM_OP_MULMOD:
      return remainder(product(x(), y()), n);
    case MM_OP_SQRMOD:
      return remainder(product(x(), x()), n);
    case MM_OP_POWMOD:
      return power(x(), y(), n);
    case MM_OP_INVMOD:
      return inverse(remainder(x(), n), n);
    case MM_OP_FIXED_BASE_POWMOD:
      return power(settings.fixed_base->value(0), y(), n);
    case MM_OP_FMAMOD:
      did(BN_add(sum.get(), product(x(), y()).get(), built.z().value(i).get()));
      return remainder(sum, n);
    case MM_OP_MULTI_POWMOD:
    case MM_OP_SUMMOD:
    case MM_OP_PRODMOD:
    case MM_OP_DOTMOD:
      break;
  }
  return expected_of_terms(built, i, n);
}

void check_value(const BuiltCall& built, std::size_t i, const Number& expected) {
  const bool negative = built.negative_result(i);
  const Number found = number_of_limbs(built.result(i), negative);
  require(!negative || !BN_is_zero(found.get()), "negative zero");
  require(same(found, expected), "wrong result of item " + std::to_string(i));
}

// Check item i. Returns whether it is bad.
bool check_item(const BuiltCall& built, std::size_t i, const Settings& settings, bool may_be_stopped) {
  const Number modulus = built.modulus().value(i);
  const Number n(BN_dup(modulus.get()));
  BN_set_negative(n.get(), 0);
  mm_status expected = initial_status(modulus, settings);
  Number value = number_of_word(0);
  if (expected == MM_OK && settings.exponent_limbs != SIZE_MAX &&
      static_cast<std::size_t>(BN_num_bits(built.y().value(i).get())) > 64 * settings.exponent_limbs) {
    expected = MM_ITEM_EXPONENT_TOO_WIDE;
  }
  if (expected == MM_OK) {
    value = expected_residue(built, i, n, settings);
    if (!value) {
      expected = MM_ITEM_NOT_INVERTIBLE;
      value = number_of_word(0);
    } else if (BN_is_negative(modulus.get()) && !BN_is_zero(value.get())) {
      did(BN_sub(value.get(), value.get(), n.get()));
    }
  }
  if (may_be_stopped && built.has_statuses() && built.status(i) == MM_ITEM_NOT_COMPUTED) return true;
  if (built.has_statuses()) {
    require(built.status(i) == expected, "item " + std::to_string(i) + " has status " +
                                             mm_status_name(static_cast<mm_status>(built.status(i))) +
                                             ", expected " + mm_status_name(expected));
  }
  // Without statuses, nothing tells which items of a stopped call are finished.
  if (!may_be_stopped || built.has_statuses()) check_value(built, i, value);
  return expected != MM_OK;
}

void check_outcome(const BuiltCall& built, mm_status status, const Settings& settings, mm_status error) {
  if (ran_out_of_memory(status == MM_ERR_MEMORY)) return;
  const std::string said =
      std::string("the call returned ") + mm_status_name(status) + ": " + mm_last_error();
  if (error != MM_OK) {
    require(status == error, said + "; expected " + mm_status_name(error));
    const bool refused = status == MM_ERR_NULL || status == MM_ERR_ARGUMENT || status == MM_ERR_OVERLAP;
    require(!refused || built.kept_its_bounds(true), "a refused call wrote something");
    return;
  }
  const bool stopped = status == MM_ERR_CANCELLED && built.stops();
  require(status == MM_OK || status == MM_ERR_ITEMS || stopped, said);
  require(built.kept_its_bounds(false), "the call wrote between the items of its result");
  bool any_bad = false;
  for (std::size_t i = 0; i < built.count(); ++i) {
    const bool bad = check_item(built, i, settings, stopped);
    any_bad = any_bad || bad;
  }
  require(stopped || any_bad == (status == MM_ERR_ITEMS), said);
}

void run_plan(Choices& choices, mm_op op) {
  Settings settings;
  settings.secret = choices.one_in(has_secret_form(op) ? 3 : 64);
  const bool shared = choices.one_in(3);
  const Plan plan = create_plan(choices, op, shared, settings);
  if (!plan) return;
  // The plan keeps the last modulus, which must not show in the next call.
  for (std::size_t calls = 1 + choices.below(3); calls > 0; --calls) {
    BuiltCall built(choices, op, shared, nullptr);
    if (!choices.one_in(8)) {
      check_outcome(built, mm_plan_run(plan.get(), &built.call()), settings, built.error());
      continue;
    }
    mm_job* job = nullptr;
    const mm_status submitted = mm_plan_submit(plan.get(), &built.call(), nullptr, nullptr, &job);
    const mm_status status = submitted == MM_OK ? mm_job_wait(job) : submitted;
    check_outcome(built, status, settings, built.error());
    mm_job_destroy(job);
  }
}

Operand single(Choices& choices, std::size_t widest) {
  const std::size_t width = 1 + choices.below(widest);
  Operand operand(1, width, width);
  LimbSource source(choices.word());
  for (std::uint64_t& limb : operand.limbs()) limb = source.limb();
  if (choices.one_in(4)) {
    operand.give_signs();
    operand.signs()[0] = static_cast<std::uint8_t>(choices.below(2));
  }
  return operand;
}

// What mm_fixed_base_create must return for its numbers.
mm_status fixed_base_outcome(const Number& modulus, bool secret, std::size_t exponent_bits) {
  Settings settings;
  settings.secret = secret;
  if (initial_status(modulus, settings) != MM_OK) return MM_ERR_ARGUMENT;
  return exponent_bits >= 1 ? MM_OK : MM_ERR_ARGUMENT;
}

void run_fixed_base(Choices& choices) {
  Settings settings;
  settings.secret = choices.one_in(3);
  const Engine engine(choices);
  const Operand base = single(choices, 8);
  Operand modulus = single(choices, 6);
  if (!choices.one_in(4)) modulus.limbs()[0] |= 1;
  settings.fixed_base = &base;
  mm_fixed_base_options options{};
  options.struct_size = sizeof options;
  options.timing = settings.secret ? MM_TIMING_SECRET : MM_TIMING_PUBLIC;
  options.exponent_bits = choices.one_in(64) ? 0 : 1 + choices.below(200);
  options.device = engine.device;
  options.variant = engine.variant;
  options.threads = engine.threads;
  const mm_view base_view = base.view(false);
  const mm_view modulus_view = modulus.view(true);
  mm_fixed_base* created = nullptr;
  const mm_status status = mm_fixed_base_create(&options, &base_view, &modulus_view, &created);
  const FixedBase fixed_base(created);
  require((status == MM_OK) == (created != nullptr), "a fixed base and a failure, or neither");
  if (ran_out_of_memory(status == MM_ERR_MEMORY)) return;
  const mm_status expected = fixed_base_outcome(modulus.value(0), settings.secret, options.exponent_bits);
  if (expected == MM_OK) {
    require(engine.explains(status),
            std::string("mm_fixed_base_create returned ") + mm_status_name(status) + ": " + mm_last_error());
  } else {
    require(status != MM_OK, "a fixed base of a bad modulus or exponent size");
  }
  if (!fixed_base) return;
  if (settings.secret) settings.exponent_limbs = (options.exponent_bits + 63) / 64;
  BuiltCall built(choices, MM_OP_FIXED_BASE_POWMOD, true, &modulus);
  mm_status error = built.error();
  // Devices are looked for after the arguments were checked.
  if (error == MM_ERR_UNKNOWN_DEVICE && built.count() > 0 && built.y().width() > settings.exponent_limbs) {
    error = MM_ERR_ARGUMENT;
  }
  check_outcome(built, mm_fixed_base_powmod(fixed_base.get(), &built.call()), settings, error);
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace manymod::fuzz;
  Choices choices(data, size);
  const auto op = static_cast<mm_op>(choices.below(MM_OP_COUNT));
  if (op == MM_OP_FIXED_BASE_POWMOD) {
    run_fixed_base(choices);
  } else {
    run_plan(choices, op);
  }
  return 0;
}

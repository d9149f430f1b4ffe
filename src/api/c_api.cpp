// SPDX-License-Identifier: Apache-2.0
// The functions of manymod.h: they check pointers and struct sizes, own the objects and turn exceptions into
// statuses.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "abi/job.hpp"
#include "abi/last_error.hpp"
#include "abi/required.hpp"
#include "abi/struct_size.hpp"
#include "api/fixed_base.hpp"
#include "api/plan.hpp"
#include "core/published_once.hpp"
#include "dispatch/devices.hpp"
#include "dispatch/obstacles.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/tuning.hpp"
#include "exec/executor.hpp"
#include "manymod/manymod.h"

struct mm_plan {
  manymod::Plan plan;
};

struct mm_fixed_base {
  manymod::FixedBase fixed_base;
};

namespace {

using manymod::required;
using manymod::required_struct;
using manymod::StatusError;

// The strings that mm_variant_info points to. They live as long as the process.
struct VariantTexts {
  std::string needs;
  std::string reason;
  const VariantTexts* previous;  // keeps it reachable, so that it does not count as leaked
};

// The latest texts of one variant.
struct LatestTexts {
  mutable std::atomic<const VariantTexts*> texts{nullptr};
};

// The texts of the variant at that place of the registry. A reason may change while the process runs: a GPU's
// compiler turns out to be wrong, for instance.
const VariantTexts& variant_texts(std::size_t index) {
  // Atomics, not a mutex: a child that is forked while another thread holds a mutex can never lock it.
  static constinit manymod::PublishedForever<std::vector<LatestTexts>> latest_of;
  const manymod::Variant& variant = manymod::registry()[index];
  std::string reason =
      manymod::hardware_obstacle(variant, manymod::devices_for(manymod::device_option(variant.backend)));
  const std::vector<LatestTexts>& all = *latest_of.get(
      [] { return std::make_unique<const std::vector<LatestTexts>>(manymod::registry().size()); });
  std::atomic<const VariantTexts*>& latest = all[index].texts;
  const VariantTexts* texts = latest.load();
  while (texts == nullptr || texts->reason != reason) {
    auto next =
        std::make_unique<const VariantTexts>(VariantTexts{manymod::hardware_needs(variant), reason, texts});
    if (latest.compare_exchange_strong(texts, next.get())) texts = next.release();
  }
  return *texts;
}

mm_variant_info describe(const manymod::Variant& variant, const VariantTexts& texts) {
  const manymod::Requirements* const requirements = variant.requirements.get();
  const bool secret = requirements == nullptr || requirements->secret_obstacle().empty();
  mm_variant_info info{};
  info.name = variant.name.c_str();
  info.technique = variant.technique.c_str();
  info.backend = static_cast<mm_backend>(variant.backend);
  info.public_ops = variant.public_operations;
  info.secret_ops = secret ? variant.secret_operations : 0;
  info.min_bits = variant.min_bits;
  info.max_bits = variant.max_bits;
  info.instances = variant.instances;
  info.threads_per_instance = variant.threads_per_instance;
  info.needs = texts.needs.c_str();
  info.summary = variant.summary.c_str();
  info.reason = texts.reason.c_str();
  info.usable = texts.reason.empty() ? 1 : 0;
  info.shared_modulus_ops = variant.shared_modulus_operations;
  if (variant.comparison_only) info.traits |= MM_VARIANT_COMPARISON_ONLY;
  if (requirements != nullptr && requirements->wants_fast_doubles()) {
    info.traits |= MM_VARIANT_WANTS_FAST_DOUBLES;
  }
  return info;
}

mm_device_info describe(const manymod::Device& device) {
  mm_device_info info{};
  info.name = device.name.c_str();
  info.model = device.model.c_str();
  info.backend = static_cast<mm_backend>(device.backend);
  info.features = device.features.c_str();
  info.units = device.units;
  info.memory_bytes = device.memory_bytes;
  info.obstacle = device.obstacle.c_str();
  info.device_index = device.index;
  return info;
}

mm_cuda_info describe(const manymod::GpuSupport& support) {
  mm_cuda_info info{};
  info.built = support.built ? 1 : 0;
  info.driver = support.driver.c_str();
  info.obstacle = support.obstacle.c_str();
  return info;
}

mm_opencl_info describe_opencl(const manymod::GpuSupport& support) {
  mm_opencl_info info{};
  info.version = support.driver.c_str();
  info.obstacle = support.obstacle.c_str();
  return info;
}

mm_tuning_info describe(const manymod::TuningTable& table) {
  mm_tuning_info info{};
  info.source = table.source.c_str();
  info.processor = table.processor.c_str();
  info.date = table.date.c_str();
  info.notes = table.notes.c_str();
  info.rows = table.rows.size();
  return info;
}

mm_tuning_row describe(const manymod::TuningRow& row) {
  mm_tuning_row out{};
  out.op = static_cast<mm_op>(row.op);
  out.timing = static_cast<mm_timing>(row.timing);
  out.min_bits = row.min_bits;
  out.max_bits = row.max_bits;
  out.min_items = row.min_items;
  out.variant = row.variant.c_str();
  out.evidence = row.evidence.c_str();
  return out;
}

[[noreturn]] void throw_index(std::size_t index, std::size_t count, const char* what) {
  throw StatusError(MM_ERR_ARGUMENT, std::string(what) + " " + std::to_string(index) +
                                         " does not exist, there are " + std::to_string(count));
}

}  // namespace

extern "C" {

mm_status mm_plan_create(const mm_plan_options* options, mm_plan** plan) {
  if (plan != nullptr) *plan = nullptr;
  return manymod::guarded([&] {
    mm_plan*& created = required(plan, "plan");
    created = new mm_plan{manymod::Plan(required_struct(options, "options"))};
    return MM_OK;
  });
}

mm_status mm_plan_run(mm_plan* plan, const mm_call* call) {
  return manymod::guarded([&] { return required(plan, "plan").plan.run(required_struct(call, "call")); });
}

mm_status mm_plan_submit(mm_plan* plan, const mm_call* call, mm_done_fn done, void* user, mm_job** job) {
  if (job != nullptr) *job = nullptr;
  return manymod::guarded([&] {
    mm_job*& submitted = required(job, "job");
    manymod::Plan& target = required(plan, "plan").plan;
    manymod::submit_call(
        required_struct(call, "call"), [&target](const mm_call& c) { return target.run(c); }, {done, user},
        submitted);
    return MM_OK;
  });
}

const char* mm_plan_variant(const mm_plan* plan) {
  return plan == nullptr ? "" : plan->plan.variant_name().c_str();
}

const char* mm_plan_variant_for(const mm_plan* plan, size_t items) {
  return plan == nullptr ? "" : plan->plan.variant_name(items).c_str();
}

void mm_plan_destroy(mm_plan* plan) { delete plan; }

mm_status mm_fixed_base_create(const mm_fixed_base_options* options, const mm_view* base,
                               const mm_view* modulus, mm_fixed_base** fixed_base) {
  if (fixed_base != nullptr) *fixed_base = nullptr;
  return manymod::guarded([&] {
    mm_fixed_base*& created = required(fixed_base, "fixed_base");
    const mm_fixed_base_options checked = required_struct(options, "options");
    created =
        new mm_fixed_base{manymod::FixedBase(checked, required(base, "base"), required(modulus, "modulus"))};
    return MM_OK;
  });
}

mm_status mm_fixed_base_powmod(mm_fixed_base* fixed_base, const mm_call* call) {
  return manymod::guarded(
      [&] { return required(fixed_base, "fixed_base").fixed_base.powmod(required_struct(call, "call")); });
}

mm_status mm_fixed_base_submit(mm_fixed_base* fixed_base, const mm_call* call, mm_done_fn done, void* user,
                               mm_job** job) {
  if (job != nullptr) *job = nullptr;
  return manymod::guarded([&] {
    mm_job*& submitted = required(job, "job");
    const manymod::FixedBase& target = required(fixed_base, "fixed_base").fixed_base;
    manymod::submit_call(
        required_struct(call, "call"), [&target](const mm_call& c) { return target.powmod(c); }, {done, user},
        submitted);
    return MM_OK;
  });
}

const char* mm_fixed_base_variant(const mm_fixed_base* fixed_base) {
  return fixed_base == nullptr ? "" : fixed_base->fixed_base.variant_name().c_str();
}

const char* mm_fixed_base_variant_for(const mm_fixed_base* fixed_base, size_t exponents) {
  return fixed_base == nullptr ? "" : fixed_base->fixed_base.variant_name(exponents).c_str();
}

void mm_fixed_base_destroy(mm_fixed_base* fixed_base) { delete fixed_base; }

unsigned mm_get_threads(void) { return manymod::default_threads(); }

unsigned mm_set_threads(unsigned threads) { return manymod::set_default_threads(threads); }

size_t mm_variant_count(void) {
  std::size_t count = 0;
  manymod::guarded([&] {
    count = manymod::registry().size();
    return MM_OK;
  });
  return count;
}

mm_status mm_variant_get(size_t index, mm_variant_info* info) {
  return manymod::guarded([&] {
    const auto variants = manymod::registry();
    mm_variant_info& out = required(info, "info");
    if (index >= variants.size()) throw_index(index, variants.size(), "variant");
    manymod::struct_to_caller(describe(variants[index], variant_texts(index)), out, "info");
    return MM_OK;
  });
}

mm_status mm_tuning_load(const char* path) {
  return manymod::guarded([&] {
    manymod::load_tuning(path);
    return MM_OK;
  });
}

mm_status mm_tuning_get_info(mm_tuning_info* info) {
  return manymod::guarded([&] {
    mm_tuning_info& out = required(info, "info");
    manymod::struct_to_caller(describe(manymod::tuning_table()), out, "info");
    return MM_OK;
  });
}

mm_status mm_tuning_get(size_t index, mm_tuning_row* row) {
  return manymod::guarded([&] {
    mm_tuning_row& out = required(row, "row");
    const std::vector<manymod::TuningRow>& rows = manymod::tuning_table().rows;
    if (index >= rows.size()) throw_index(index, rows.size(), "tuning row");
    manymod::struct_to_caller(describe(rows[index]), out, "row");
    return MM_OK;
  });
}

size_t mm_device_count(void) {
  std::size_t count = 0;
  manymod::guarded([&] {
    count = manymod::devices().size();
    return MM_OK;
  });
  return count;
}

mm_status mm_device_get(size_t position, mm_device_info* info) {
  return manymod::guarded([&] {
    const auto devices = manymod::devices();
    mm_device_info& out = required(info, "info");
    if (position >= devices.size()) throw_index(position, devices.size(), "device");
    manymod::struct_to_caller(describe(devices[position]), out, "info");
    return MM_OK;
  });
}

mm_status mm_cuda_get_info(mm_cuda_info* info) {
  return manymod::guarded([&] {
    mm_cuda_info& out = required(info, "info");
    manymod::struct_to_caller(describe(manymod::gpu_support(manymod::Backend::cuda)), out, "info");
    return MM_OK;
  });
}

mm_status mm_opencl_get_info(mm_opencl_info* info) {
  return manymod::guarded([&] {
    mm_opencl_info& out = required(info, "info");
    manymod::struct_to_caller(describe_opencl(manymod::gpu_support(manymod::Backend::opencl)), out, "info");
    return MM_OK;
  });
}

#define MANYMOD_TEXT_OF(value) #value
#define MANYMOD_TEXT(value) MANYMOD_TEXT_OF(value)

const char* mm_version(void) {
  return MANYMOD_TEXT(MM_VERSION_MAJOR) "." MANYMOD_TEXT(MM_VERSION_MINOR) "." MANYMOD_TEXT(MM_VERSION_PATCH);
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// Run under valgrind: every operation of timing class secret, on every usable variant, with its secrets
// marked as undefined memory. valgrind reports each branch and each address that depends on them.
//
// Poisoned: bases, exponents, and the modulus but for its lowest and highest limb (its parity and bit length
// are public). That an inverse exists is public too: declassified.supp names the one function that looks at
// the statuses.
#include <valgrind/memcheck.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dispatch/engine.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"
#include "manymod/manymod.h"

namespace {

using Limbs = std::vector<std::uint64_t>;

constexpr std::size_t kItems = 3;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, mm_last_error());
  std::exit(1);
}

void poison(Limbs& limbs) { VALGRIND_MAKE_MEM_UNDEFINED(limbs.data(), limbs.size() * sizeof(limbs[0])); }

void poison_inner(Limbs& moduli, std::size_t width) {
  for (std::size_t item = 0; item * width < moduli.size(); ++item) {
    if (width > 2) VALGRIND_MAKE_MEM_UNDEFINED(&moduli[item * width + 1], (width - 2) * sizeof(moduli[0]));
  }
}

void declassify(void* data, std::size_t bytes) { VALGRIND_MAKE_MEM_DEFINED(data, bytes); }

Limbs random_limbs(std::mt19937_64& random, std::size_t count) {
  Limbs limbs(count);
  for (auto& limb : limbs) limb = random();
  return limbs;
}

mm_view view(const Limbs& limbs, std::size_t count) {
  return {limbs.data(), count, limbs.size() / count, limbs.size() / count, nullptr};
}

struct Batch {
  std::size_t width;
  Limbs x, y, n;
  std::uint8_t y_negative[kItems];
};

Batch make_batch(std::size_t width, bool shared, bool negative) {
  std::mt19937_64 random(width);
  Batch batch{width,
              random_limbs(random, kItems * width),
              random_limbs(random, kItems * width),
              random_limbs(random, (shared ? 1 : kItems) * width),
              {}};
  for (std::size_t item = 0; item * width < batch.n.size(); ++item) {
    batch.n[item * width] |= 1;
    batch.n[item * width + width - 1] |= std::uint64_t{1} << 63;
  }
  std::memset(batch.y_negative, negative ? 1 : 0, sizeof(batch.y_negative));
  return batch;
}

mm_call make_call(const Batch& batch, Limbs& result, std::uint8_t* status) {
  mm_call call{};
  call.struct_size = sizeof(call);
  call.count = kItems;
  call.x = view(batch.x, kItems);
  call.y = view(batch.y, kItems);
  call.y.negative = batch.y_negative;
  call.modulus = view(batch.n, batch.n.size() / batch.width);
  call.result = {result.data(), kItems, batch.width, batch.width, nullptr};
  call.item_status = status;
  return call;
}

Limbs run(mm_op op, const char* variant, const Batch& batch) {
  const bool shared = batch.n.size() == batch.width;
  mm_plan_options options{};
  options.struct_size = sizeof(options);
  options.op = op;
  options.timing = MM_TIMING_SECRET;
  options.modulus_kind = shared ? MM_MODULUS_SHARED : MM_MODULUS_EACH;
  options.modulus_bits = 64 * batch.width;
  options.variant = variant;
  options.threads = 1;
  mm_plan* plan = nullptr;
  require(mm_plan_create(&options, &plan) == MM_OK, "mm_plan_create");
  Limbs result(kItems * batch.width);
  std::uint8_t status[kItems];
  const mm_call call = make_call(batch, result, status);
  const mm_status outcome = mm_plan_run(plan, &call);
  require(outcome == MM_OK || outcome == MM_ERR_ITEMS, "mm_plan_run");
  mm_plan_destroy(plan);
  declassify(result.data(), result.size() * sizeof(result[0]));
  return result;
}

Limbs run_fixed_base(const char* variant, const Batch& batch) {
  mm_fixed_base_options options{};
  options.struct_size = sizeof(options);
  options.timing = MM_TIMING_SECRET;
  options.exponent_bits = 64 * batch.width;
  options.variant = variant;
  options.threads = 1;
  mm_fixed_base* fixed_base = nullptr;
  const mm_view base{batch.x.data(), 1, batch.width, batch.width, nullptr};
  const mm_view modulus = view(batch.n, 1);
  require(mm_fixed_base_create(&options, &base, &modulus, &fixed_base) == MM_OK, "mm_fixed_base_create");
  Limbs result(kItems * batch.width);
  const mm_call call = make_call(batch, result, nullptr);
  require(mm_fixed_base_powmod(fixed_base, &call) == MM_OK, "mm_fixed_base_powmod");
  mm_fixed_base_destroy(fixed_base);
  declassify(result.data(), result.size() * sizeof(result[0]));
  return result;
}

/// The engine without the API around it: valgrind's CPUID hides instructions (adcx, adox) that it does
/// execute.
Limbs run_engine(mm_op op, const manymod::Variant& variant, const Batch& batch) {
  const auto engine = variant.make_engine();
  const std::size_t width = batch.width;
  const std::span<const std::uint64_t> first_modulus(batch.n.data(), width);
  Limbs result(kItems * width);
  std::uint8_t status[kItems];
  std::fill_n(status, kItems, std::uint8_t{MM_ITEM_NOT_COMPUTED});
  manymod::Job job;
  job.op = static_cast<manymod::Operation>(op);
  job.timing = manymod::TimingClass::secret;
  job.x = {batch.x.data(), kItems, width, width, nullptr};
  job.y = {batch.y.data(), kItems, width, width, batch.y_negative};
  job.modulus = {batch.n.data(), batch.n.size() / width, width, width, nullptr};
  job.result = {result.data(), kItems, width, width, nullptr};
  job.status = reinterpret_cast<manymod::ItemStatus*>(status);
  std::unique_ptr<manymod::PreparedModulus> shared;
  std::unique_ptr<manymod::PreparedBase> base;
  if (op == MM_OP_FIXED_BASE_POWMOD) {
    base = engine->prepare_base({batch.x.data(), 1, width, width, nullptr}, first_modulus, 64 * width,
                                job.timing);
    job.fixed_base = base.get();
  } else if (batch.n.size() == width) {
    shared = engine->prepare(first_modulus, job.op, job.timing);
    job.shared = shared.get();
  }
  const std::size_t items[kItems] = {0, 1, 2};
  engine->run(job, items, width);
  declassify(status, sizeof(status));
  for (const std::uint8_t value : status) require(value != MM_ITEM_NOT_COMPUTED, "every item is computed");
  declassify(result.data(), result.size() * sizeof(result[0]));
  return result;
}

Limbs run_api(mm_op op, const manymod::Variant& variant, const Batch& batch) {
  return op == MM_OP_FIXED_BASE_POWMOD ? run_fixed_base(variant.name.c_str(), batch)
                                       : run(op, variant.name.c_str(), batch);
}

using Runner = Limbs (*)(mm_op, const manymod::Variant&, const Batch&);

/// Poisoned and plain runs agree, and valgrind stays silent.
int check(Runner runner, mm_op op, const manymod::Variant& variant, std::size_t width, bool shared,
          bool negative) {
  if ((variant.secret_operations & manymod::operation_bit(static_cast<manymod::Operation>(op))) == 0)
    return 0;
  Batch batch = make_batch(width, shared, negative);
  const Limbs expected = runner(op, variant, batch);
  poison(batch.x);
  poison(batch.y);
  poison_inner(batch.n, width);
  require(runner(op, variant, batch) == expected, "the poisoned run computes the same");
  return 1;
}

/// One size of each kind: single limb, unrolled, odd, the last unrolled one, and looped with two and three
/// tiles.
int check_all(Runner runner, const manymod::Variant& variant) {
  int checks = 0;
  for (const std::size_t width : {1, 3, 4, 8, 9, 17}) {
    for (const bool shared : {false, true}) {
      checks += check(runner, MM_OP_POWMOD, variant, width, shared, false);
      checks += check(runner, MM_OP_INVMOD, variant, width, shared, false);
    }
    checks += check(runner, MM_OP_POWMOD, variant, width, false, true);
    checks += check(runner, MM_OP_FIXED_BASE_POWMOD, variant, width, true, false);
  }
  return checks;
}

/// What valgrind executes whatever its CPUID says, provided that the host has it.
bool runs_under_valgrind(const manymod::Variant& variant) {
  using manymod::CpuFeature;
  const manymod::CpuFeatures executed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if (variant.backend != manymod::Backend::cpu || (variant.cpu_features & ~executed) != 0) return false;
  std::ifstream cpuinfo("/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(cpuinfo)), {});
  return variant.cpu_features == 0 ||
         (text.find(" adx") != std::string::npos && text.find(" avx2") != std::string::npos);
}

}  // namespace

int main() {
  require(RUNNING_ON_VALGRIND != 0, "this program must run under valgrind");
  int checks = 0;
  for (const manymod::Variant& variant : manymod::registry()) {
    if (manymod::hardware_obstacle(variant, manymod::catalogue().devices).empty())
      checks += check_all(run_api, variant);
    if (runs_under_valgrind(variant)) {
      checks += check_all(run_engine, variant);
    } else {
      std::printf("not checked here: %s\n", variant.name.c_str());
    }
  }
  require(checks > 0, "some variant offers class secret");
  std::printf("%d poisoned calls agree with the plain ones\n", checks);
  return 0;
}

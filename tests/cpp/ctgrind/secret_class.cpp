// SPDX-License-Identifier: Apache-2.0
// Runs under valgrind: every constant-time operation on every variant that can run there, with its secrets
// marked as undefined memory. valgrind reports each branch and each address that depends on them.
//
// Poisoned: bases, exponents, and the moduli except for their lowest and highest limbs, since parity and bit
// length are public. Whether an inverse exists is public too: declassified.supp names the one function that
// branches on the statuses.
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

#include "dispatch/obstacles.hpp"
#include "dispatch/registry.hpp"
#include "dispatch/selection.hpp"
#include "engine/cpu_requirements.hpp"
#include "engine/engine.hpp"
#include "manymod/manymod.h"

namespace {

using Limbs = std::vector<std::uint64_t>;

constexpr std::size_t kItems = 3;

/// Ends the program with a message if the condition does not hold.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s: %s\n", what, mm_last_error());
  std::exit(1);
}

/// Marks memory as undefined.
void poison(Limbs& limbs) { VALGRIND_MAKE_MEM_UNDEFINED(limbs.data(), limbs.size() * sizeof(limbs[0])); }

/// The same for each of several moduli of `width` limbs, except for its lowest and highest limb.
void poison_inner(Limbs& moduli, std::size_t width) {
  for (std::size_t item = 0; item * width < moduli.size(); ++item) {
    if (width > 2) VALGRIND_MAKE_MEM_UNDEFINED(&moduli[item * width + 1], (width - 2) * sizeof(moduli[0]));
  }
}

/// Marks memory as defined, as a caller may look at results.
void declassify(void* data, std::size_t bytes) { VALGRIND_MAKE_MEM_DEFINED(data, bytes); }

Limbs random_limbs(std::mt19937_64& random, std::size_t count) {
  Limbs limbs(count);
  for (auto& limb : limbs) limb = random();
  return limbs;
}

mm_view view(const Limbs& limbs, std::size_t count) {
  return {limbs.data(), count, limbs.size() / count, limbs.size() / count, nullptr};
}

/// The public properties of a batch.
struct Shape {
  std::size_t width;    ///< limbs of the moduli
  std::size_t x_width;  ///< limbs of the bases
  bool shared = false;  ///< one modulus for all items
  bool one_exponent = false;
  bool x_negative = false;
  bool y_negative = false;
  bool n_negative = false;
  bool y_wide = false;  ///< second operands are wider than the moduli

  /// Limbs of the exponents and second operands: enough for several windows; more would only repeat them.
  [[nodiscard]] std::size_t y_width() const { return y_wide ? width + 1 : std::min<std::size_t>(width, 3); }
};

/// A batch of kItems items.
struct Batch {
  Shape shape;
  Limbs x, y, n;
  std::uint8_t x_signs[kItems];
  std::uint8_t y_signs[kItems];
  std::uint8_t n_signs[kItems];

  [[nodiscard]] std::size_t exponents() const { return shape.one_exponent ? 1 : kItems; }
  [[nodiscard]] std::size_t moduli() const { return shape.shared ? 1 : kItems; }
};

Batch make_batch(const Shape& shape) {
  std::mt19937_64 random(shape.width);
  Batch batch{shape,
              random_limbs(random, kItems * shape.x_width),
              random_limbs(random, (shape.one_exponent ? 1 : kItems) * shape.y_width()),
              random_limbs(random, (shape.shared ? 1 : kItems) * shape.width),
              {},
              {},
              {}};
  for (std::size_t item = 0; item < batch.moduli(); ++item) {
    batch.n[item * shape.width] |= 1;
    batch.n[item * shape.width + shape.width - 1] |= std::uint64_t{1} << 63;
  }
  std::memset(batch.x_signs, shape.x_negative ? 1 : 0, kItems);
  std::memset(batch.y_signs, shape.y_negative ? 1 : 0, kItems);
  std::memset(batch.n_signs, shape.n_negative ? 1 : 0, kItems);
  return batch;
}

mm_view signed_view(const Limbs& limbs, std::size_t count, const std::uint8_t* signs) {
  mm_view result = view(limbs, count);
  result.negative = signs;
  return result;
}

/// The call on a batch through the C API.
mm_call make_call(const Batch& batch, Limbs& result, std::uint8_t* signs, std::uint8_t* status) {
  mm_call call{};
  call.struct_size = sizeof(call);
  call.count = kItems;
  call.x = signed_view(batch.x, kItems, batch.shape.x_negative ? batch.x_signs : nullptr);
  call.y = signed_view(batch.y, batch.exponents(), batch.y_signs);
  call.modulus = signed_view(batch.n, batch.moduli(), batch.n_signs);
  call.result = {result.data(), kItems, batch.shape.width, batch.shape.width, signs};
  call.item_status = status;
  return call;
}

/// The results of an operation through a plan.
Limbs run(mm_op op, const char* variant, const Batch& batch) {
  mm_plan_options options{};
  options.struct_size = sizeof(options);
  options.op = op;
  options.timing = MM_TIMING_SECRET;
  options.modulus_kind = batch.shape.shared ? MM_MODULUS_SHARED : MM_MODULUS_EACH;
  options.modulus_bits = 64 * batch.shape.width;
  options.variant = variant;
  options.threads = 1;
  mm_plan* plan = nullptr;
  require(mm_plan_create(&options, &plan) == MM_OK, "mm_plan_create");
  Limbs result(kItems * batch.shape.width);
  std::uint8_t status[kItems];
  std::uint8_t signs[kItems];
  mm_call call = make_call(batch, result, signs, status);
  if (op == MM_OP_FMAMOD) call.z = call.y;
  if (manymod::has_terms(static_cast<manymod::Operation>(op))) call.terms = 1;
  const mm_status outcome = mm_plan_run(plan, &call);
  require(outcome == MM_OK || outcome == MM_ERR_ITEMS, "mm_plan_run");
  mm_plan_destroy(plan);
  declassify(result.data(), result.size() * sizeof(result[0]));
  return result;
}

/// The results of fixed-base powers through the C API.
Limbs run_fixed_base(const char* variant, const Batch& batch) {
  mm_fixed_base_options options{};
  options.struct_size = sizeof(options);
  options.timing = MM_TIMING_SECRET;
  options.exponent_bits = 64 * batch.shape.y_width();
  options.variant = variant;
  options.threads = 1;
  mm_fixed_base* fixed_base = nullptr;
  const mm_view base{batch.x.data(), 1, batch.shape.x_width, batch.shape.x_width, batch.x_signs};
  const mm_view modulus = signed_view(batch.n, 1, batch.n_signs);
  require(mm_fixed_base_create(&options, &base, &modulus, &fixed_base) == MM_OK, "mm_fixed_base_create");
  Limbs result(kItems * batch.shape.width);
  std::uint8_t signs[kItems];
  const mm_call call = make_call(batch, result, signs, nullptr);
  const mm_status outcome = mm_fixed_base_powmod(fixed_base, &call);
  require(outcome == MM_OK || outcome == MM_ERR_ITEMS, "mm_fixed_base_powmod");
  mm_fixed_base_destroy(fixed_base);
  declassify(result.data(), result.size() * sizeof(result[0]));
  return result;
}

/// The results of an operation by the engine itself: under valgrind CPUID hides instructions (adcx, adox)
/// that valgrind does execute, so the API would not offer such a variant.
Limbs run_engine(mm_op op, const manymod::Variant& variant, const Batch& batch) {
  const auto engine = variant.make_engine(0);
  const std::size_t width = batch.shape.width;
  const std::span<const std::uint64_t> first_modulus(batch.n.data(), width);
  Limbs result(kItems * width);
  std::uint8_t status[kItems];
  std::fill_n(status, kItems, std::uint8_t{MM_ITEM_NOT_COMPUTED});
  manymod::Job job;
  job.op = static_cast<manymod::Operation>(op);
  job.timing = manymod::TimingClass::secret;
  std::uint8_t signs[kItems];
  const std::uint8_t* const x_signs = batch.shape.x_negative ? batch.x_signs : nullptr;
  job.x = {batch.x.data(), kItems, batch.shape.x_width, batch.shape.x_width, x_signs};
  job.y = {batch.y.data(), batch.exponents(), batch.shape.y_width(), batch.shape.y_width(), batch.y_signs};
  if (op == MM_OP_FMAMOD) job.z = job.y;
  if (manymod::has_terms(job.op)) job.terms = 1;
  job.modulus = {batch.n.data(), batch.moduli(), width, width, batch.n_signs};
  job.result = {result.data(), kItems, width, width, signs};
  job.status = reinterpret_cast<manymod::ItemStatus*>(status);
  std::unique_ptr<manymod::PreparedModulus> shared;
  std::unique_ptr<manymod::PreparedBase> base;
  if (op == MM_OP_FIXED_BASE_POWMOD) {
    base = engine->prepare_base({batch.x.data(), 1, batch.shape.x_width, batch.shape.x_width, batch.x_signs},
                                first_modulus, 64 * batch.shape.y_width(), job.timing, {});
    job.fixed_base = base.get();
  } else if (batch.shape.shared) {
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

/// The results of an operation through the API.
Limbs run_api(mm_op op, const manymod::Variant& variant, const Batch& batch) {
  return op == MM_OP_FIXED_BASE_POWMOD ? run_fixed_base(variant.name.c_str(), batch)
                                       : run(op, variant.name.c_str(), batch);
}

using Runner = Limbs (*)(mm_op, const manymod::Variant&, const Batch&);

/// A poisoned run and a plain run give the same results, and valgrind reports nothing. Returns the number of
/// checks, 0 or 1.
int check(Runner runner, mm_op op, const manymod::Variant& variant, const Shape& shape) {
  const auto operation = manymod::operation_bit(static_cast<manymod::Operation>(op));
  if ((variant.secret_operations & operation) == 0) return 0;
  if (op == MM_OP_FIXED_BASE_POWMOD && !shape.shared) return 0;
  Batch batch = make_batch(shape);
  const Limbs expected = runner(op, variant, batch);
  poison(batch.x);
  poison(batch.y);
  poison_inner(batch.n, shape.width);
  require(runner(op, variant, batch) == expected, "the poisoned run computes the same");
  return 1;
}

int check_operations(Runner runner, const manymod::Variant& variant, const Shape& shape) {
  int checks = 0;
  for (const mm_op op :
       {MM_OP_ADDMOD, MM_OP_SUBMOD, MM_OP_NEGMOD, MM_OP_MULMOD, MM_OP_SQRMOD, MM_OP_POWMOD, MM_OP_INVMOD,
        MM_OP_FIXED_BASE_POWMOD, MM_OP_FMAMOD, MM_OP_SUMMOD, MM_OP_PRODMOD, MM_OP_DOTMOD}) {
    checks += check(runner, op, variant, shape);
  }
  return checks;
}

/// One size of each kind (a single limb, an unrolled even and an odd one, the last unrolled one, two and
/// three tiles), then every public property of a batch at an unrolled and at a tiled size.
int check_all(Runner runner, const manymod::Variant& variant) {
  int checks = 0;
  for (const std::size_t width : {1U, 3U, 4U, 8U, 9U, 17U}) {
    for (const bool shared : {false, true}) {
      checks += check_operations(runner, variant, {.width = width, .x_width = width, .shared = shared});
    }
  }
  for (const std::size_t width : {2U, 9U}) {
    for (const bool shared : {false, true}) {
      const Shape plain{.width = width, .x_width = width, .shared = shared};
      Shape wide_base = plain;
      wide_base.x_width = 2 * width + 1;
      Shape one_exponent = plain;
      one_exponent.one_exponent = true;
      Shape negative_base = plain;
      negative_base.x_negative = true;
      Shape negative_exponent = plain;
      negative_exponent.y_negative = true;
      Shape negative_modulus = plain;
      negative_modulus.n_negative = true;
      Shape wide_second = plain;
      wide_second.y_wide = true;
      for (const Shape& shape :
           {wide_base, wide_second, one_exponent, negative_base, negative_exponent, negative_modulus}) {
        checks += check_operations(runner, variant, shape);
      }
    }
  }
  return checks;
}

/// True if valgrind executes the variant's instructions, whatever its CPUID reports, and the host has them.
bool runs_under_valgrind(const manymod::Variant& variant) {
  using manymod::CpuFeature;
  const manymod::CpuFeatures executed = CpuFeature::bmi2 | CpuFeature::adx | CpuFeature::avx2;
  if (variant.backend != manymod::Backend::cpu) return false;
  if (variant.requirements == nullptr) return true;
  if (!variant.requirements->obstacle("cpu", manymod::CpuTraits(executed)).empty()) return false;
  std::ifstream cpuinfo("/proc/cpuinfo");
  const std::string text((std::istreambuf_iterator<char>(cpuinfo)), {});
  return text.find(" adx") != std::string::npos && text.find(" avx2") != std::string::npos;
}

}  // namespace

int main() {
  require(RUNNING_ON_VALGRIND != 0, "this program must run under valgrind");
  int checks = 0;
  for (const manymod::Variant& variant : manymod::registry()) {
    if (manymod::hardware_obstacle(variant, manymod::catalogue("cpu").devices).empty()) {
      checks += check_all(run_api, variant);
    } else if (runs_under_valgrind(variant)) {
      checks += check_all(run_engine, variant);
    } else {
      std::printf("not checked here: %s\n", variant.name.c_str());
    }
  }
  require(checks > 0, "some variant offers constant-time operations");
  std::printf("%d poisoned calls agree with the plain ones\n", checks);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Compiled with MemorySanitizer, together with the vector techniques: the constant-time operations of the
// lane engine, on every kernel table that the processor can run, and the fields of special primes, with their
// secrets marked as uninitialised memory. The sanitizer stops at the first branch, divisor or address that
// depends on them.
//
// Poisoned: bases, exponents, and the moduli except for their lowest and highest limbs, since parity and bit
// length are public. Results must come out poisoned; otherwise the sanitizer has lost track of the secrets.
//
// Usage: secret_lanes            runs the checks
//        secret_lanes branch     replaces select by one that ends early on index 0
//        secret_lanes address    replaces select by one that reads only the selected entry; in both cases the
//        sanitizer must report an error
#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "edwards_lanes.hpp"
#include "engine/engine.hpp"
#include "lanes/engine.hpp"
#include "lanes/kernels.hpp"
#include "modmul/dpf52/kernels.hpp"
#include "modmul/ifma52/kernels.hpp"
#include "modmul/ifma52/row.hpp"
#include "modmul/radix29/kernels.hpp"
#include "modmul/vcpc512/kernels.hpp"
#include "point_lanes.hpp"
#include "poison.hpp"
#include "special_lanes.hpp"

namespace {

using manymod::Limb;
using manymod::lanes::Kernels;
using Limbs = std::vector<Limb>;

/// Enough items for two vectors (used for small numbers) and for lanes without an item.
constexpr std::size_t kItems = 11;

/// Ends the program with a message if the condition does not hold.
void require(bool condition, const char* name, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s: %s\n", name, what);
  std::exit(1);
}

/// SplitMix64 (Steele, Lea, Flood 2014).
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  Limbs limbs(std::size_t count) {
    Limbs out(count);
    for (Limb& limb : out) {
      state_ += 0x9E3779B97F4A7C15;
      Limb z = (state_ ^ (state_ >> 30)) * 0xBF58476D1CE4E5B9;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
      limb = z ^ (z >> 31);
    }
    return out;
  }

 private:
  std::uint64_t state_;
};

/// The public properties of a batch.
struct Shape {
  std::size_t width;    ///< limbs of the moduli
  std::size_t x_width;  ///< limbs of the bases
  std::size_t y_width;  ///< limbs of the exponents
  bool shared;          ///< one modulus for all items
  bool x_negative;
};

struct Batch {
  Shape shape;
  Limbs x, y, n;
  std::uint8_t x_signs[kItems];

  explicit Batch(const Shape& s) : shape(s) {
    Generator generator(s.width + s.x_width);
    x = generator.limbs(kItems * s.x_width);
    y = generator.limbs(kItems * s.y_width);
    n = generator.limbs((s.shared ? 1 : kItems) * s.width);
    for (std::size_t at = 0; at < n.size(); at += s.width) {
      n[at] |= 1;
      n[at + s.width - 1] |= Limb{1} << 63;
    }
    std::memset(x_signs, s.x_negative ? 1 : 0, kItems);
  }

  void poison_secrets() {
    poison(x.data(), x.size() * sizeof(Limb));
    poison(y.data(), y.size() * sizeof(Limb));
    for (std::size_t at = 0; at < n.size() && shape.width > 2; at += shape.width) {
      poison(&n[at + 1], (shape.width - 2) * sizeof(Limb));
    }
  }
};

/// The results of an operation by the engine.
Limbs run(const manymod::Engine& engine, manymod::Operation op, const Batch& batch) {
  const Shape& shape = batch.shape;
  Limbs result(kItems * shape.width);
  std::uint8_t status[kItems];
  std::memset(status, MM_ITEM_NOT_COMPUTED, kItems);
  manymod::Job job;
  job.op = op;
  job.timing = manymod::TimingClass::secret;
  job.x = {batch.x.data(), kItems, shape.x_width, shape.x_width, shape.x_negative ? batch.x_signs : nullptr};
  job.y = {batch.y.data(), kItems, shape.y_width, shape.y_width, nullptr};
  if (op == manymod::Operation::fmamod) job.z = job.y;
  job.modulus = {batch.n.data(), shape.shared ? 1 : kItems, shape.width, shape.width, nullptr};
  job.result = {result.data(), kItems, shape.width, shape.width, nullptr};
  job.status = reinterpret_cast<manymod::ItemStatus*>(status);
  const std::span<const Limb> first_modulus(batch.n.data(), shape.width);
  std::unique_ptr<manymod::PreparedModulus> shared;
  std::unique_ptr<manymod::PreparedBase> base;
  if (op == manymod::Operation::fixed_base_powmod) {
    base = engine.prepare_base({batch.x.data(), 1, shape.x_width, shape.x_width, batch.x_signs},
                               first_modulus, 64 * shape.y_width, job.timing, {});
    job.fixed_base = base.get();
  } else if (shape.shared) {
    shared = engine.prepare(first_modulus, op, job.timing);
    job.shared = shared.get();
  }
  std::size_t items[kItems];
  for (std::size_t i = 0; i < kItems; ++i) items[i] = i;
  engine.run(job, items, shape.width);
  for (const std::uint8_t value : status) require(value == MM_OK, "engine", "every item is computed");
  return result;
}

/// A poisoned run and a plain run give the same results, and the results of the poisoned run are poisoned.
void check(const char* name, const manymod::Engine& engine, manymod::Operation op, const Shape& shape) {
  Batch batch(shape);
  const Limbs expected = run(engine, op, batch);
  batch.poison_secrets();
  Limbs found = run(engine, op, batch);
  for (std::size_t item = 0; item < kItems; ++item) {
    require(first_poisoned(&found[item * shape.width], shape.width * sizeof(Limb)) >= 0, name,
            "the result of an item is known to depend on secrets");
  }
  unpoison(found.data(), found.size() * sizeof(Limb));
  require(found == expected, name, "the poisoned run computes the same");
}

/// Checks the operations at several sizes. Returns the number of checks.
int check_technique(const char* name, const Kernels& kernels) {
  const auto engine = manymod::lanes::make_engine(kernels);
  int checks = 0;
  for (const std::size_t width : {2U, 5U, 9U, 17U, 25U}) {
    for (const bool shared : {false, true}) {
      // Exponents of two limbs once: what they cost is all that they add.
      const Shape shape{width, shared ? 2 * width + 1 : width, width == 5 ? 2U : 1U, shared, width == 5};
      check(name, *engine, manymod::Operation::powmod, shape);
      check(name, *engine, manymod::Operation::fmamod, shape);
      checks += 2;
      if (!shared) continue;
      check(name, *engine, manymod::Operation::fixed_base_powmod, shape);
      ++checks;
    }
  }
  return checks;
}

const Kernels* planted = nullptr;  ///< the table whose select a faulty one replaces

/// A select with a branch on an index.
void stop_early(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
                const std::uint32_t* indices) {
  if (indices[0] == 0) entries = 1;
  planted->select(r, table, entries, stride, digits, indices);
}

/// A select with an address that depends on an index.
void look_up(Limb* r, const Limb* table, std::size_t /*entries*/, std::size_t stride, std::size_t digits,
             const std::uint32_t* indices) {
  for (std::size_t at = 0; at < digits * planted->lanes; ++at) {
    r[at] = table[indices[at % planted->lanes] * stride + at];
  }
}

struct Technique {
  const char* name;
  const Kernels* kernels;
  bool usable;
};

/// Checks all techniques that the processor can run, with a faulty select if `plant` names one. Returns the
/// number of checks.
int check_techniques(const char* plant) {
  const bool avx2 =
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const bool ifma = avx512 && __builtin_cpu_supports("avx512ifma");
  const Technique techniques[] = {
      {"radix29.avx2", &manymod::radix29::avx2_kernels(), avx2},
      {"dpf52.avx2", &manymod::dpf52::avx2_kernels().lanes, avx2},
      {"radix29.avx512f", &manymod::radix29::avx512f_kernels(), avx512},
      {"dpf52.avx512f", &manymod::dpf52::avx512f_kernels().lanes, avx512},
      {"vcpc512.avx512f", &manymod::vcpc512::avx512f_kernels(), avx512},
      {"ifma52.avx512, storing", &manymod::ifma52::storing_kernels(), ifma},
      {"ifma52.avx512, blending", &manymod::ifma52::blending_kernels(), ifma},
      {"ifma52.row", &manymod::ifma52::row_kernels(), ifma},
  };
  int checks = 0;
  for (const Technique& technique : techniques) {
    if (!technique.usable) {
      std::printf("not checked on this processor: %s\n", technique.name);
      continue;
    }
    Kernels kernels = *technique.kernels;
    if (plant != nullptr) {
      planted = technique.kernels;
      kernels.select = std::strcmp(plant, "branch") == 0 ? stop_early : look_up;
    }
    const int done = check_technique(technique.name, kernels);
    std::printf("%s: %d poisoned runs agree with the plain ones\n", technique.name, done);
    checks += done;
  }
  return checks;
}

}  // namespace

int main(int count, char** arguments) {
  // In builds with the sanitizer dpf52 takes its rounding from MXCSR; otherwise each instruction states it.
  _mm_setcsr(_MM_ROUND_TOWARD_ZERO | _MM_MASK_MASK);
  require(check_techniques(count > 1 ? arguments[1] : nullptr) > 0, "processor", "has AVX2");
  require(check_edwards_lanes() > 0, "processor", "has AVX2");
  require(check_special_lanes() > 0, "processor", "has AVX2");
  require(check_point_lanes() > 0, "processor", "has AVX2");
  return 0;
}

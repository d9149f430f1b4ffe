// SPDX-License-Identifier: Apache-2.0
// Element-wise operations on one core, whole calls of the C ABI on limb arrays of 100,000 items (fewer where
// they would take more than 64 MiB), with the results in an array that the caller keeps:
//
//   elementwise/OPERATION/{own,shared}/VARIANT/BITS   a modulus for each item, or one for all
//
// Counters: items a second; bytes that a call reads and writes, a second; for products percent of the limit
// that vpmadd52 alone sets to two Montgomery products (4 L^2 + L each, L = ceil(bits / 52), eight items a
// vector), at the rate that the core executes vpmadd52 at before and after the run. Long division needs half
// as many, so that it may exceed that limit.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/instruction_rates.hpp"
#include "core/cpu_features.hpp"
#include "manymod/manymod.hpp"
#include "random_limbs.hpp"

namespace {

using Limbs = std::vector<std::uint64_t>;

constexpr std::size_t kMostItems = 100'000;
constexpr std::size_t kMostLimbs = (std::size_t{64} << 20) / 8 / 4;
constexpr std::size_t kWidths[] = {64, 128, 256, 384, 512, 1024, 2048, 4096};

struct Case {
  manymod::Op op;
  const char* name;
  bool shared;
  std::string variant;  ///< "auto": the dispatcher's choice
  std::size_t bits;

  [[nodiscard]] bool adds() const { return op == manymod::Op::fmamod; }
  [[nodiscard]] bool product() const {
    return op == manymod::Op::mulmod || op == manymod::Op::sqrmod || adds();
  }
  [[nodiscard]] bool binary() const { return op != manymod::Op::negmod && op != manymod::Op::sqrmod; }
  [[nodiscard]] std::string title() const {
    return std::string("elementwise/") + name + (shared ? "/shared/" : "/own/") + variant + "/" +
           std::to_string(bits);
  }
};

/// Operands below moduli whose top bit is set.
struct Arrays {
  std::size_t limbs, items;
  Limbs x, y, z, n, r;

  explicit Arrays(const Case& c)
      : limbs(c.bits / 64),
        items(std::min(kMostItems, kMostLimbs / limbs)),
        x(random_limbs(items * limbs)),
        y(random_limbs(items * limbs)),
        z(random_limbs(c.adds() ? items * limbs : 0)),
        n(random_limbs((c.shared ? 1 : items) * limbs)),
        r(items * limbs) {
    constexpr std::uint64_t kTop = std::uint64_t{1} << 63;
    for (std::size_t top = limbs - 1; top < x.size(); top += limbs) {
      x[top] &= ~kTop;
      y[top] &= ~kTop;
    }
    for (std::size_t top = limbs - 1; top < z.size(); top += limbs) z[top] &= ~kTop;
    for (std::size_t top = limbs - 1; top < n.size(); top += limbs) n[top] |= kTop;
    for (std::size_t low = 0; low < n.size(); low += limbs) n[low] |= 1;
  }

  [[nodiscard]] mm_call call(const Case& c) {
    mm_call call{};
    call.struct_size = sizeof call;
    call.count = items;
    call.x = {x.data(), items, limbs, 0, nullptr};
    if (c.binary()) call.y = {y.data(), items, limbs, 0, nullptr};
    if (c.adds()) call.z = {z.data(), items, limbs, 0, nullptr};
    call.modulus = {n.data(), c.shared ? 1 : items, limbs, 0, nullptr};
    call.result = {r.data(), items, limbs, 0, nullptr};
    return call;
  }
  [[nodiscard]] double bytes(const Case& c) const {
    return 8.0 * static_cast<double>(limbs * items) *
           (2 + (c.binary() ? 1 : 0) + (c.adds() ? 1 : 0) + (c.shared ? 0 : 1));
  }
};

/// Whether this machine can run a variant: "auto", or one by its name.
bool runs_here(std::string_view variant) {
  for (std::size_t i = 0; i < mm_variant_count(); ++i) {
    mm_variant_info info{};
    info.struct_size = sizeof info;
    if (mm_variant_get(i, &info) == MM_OK && variant == info.name) return info.usable != 0;
  }
  return variant == "auto";
}

double madd52_rate() {
  for (const manymod::InstructionLoop& loop : manymod::instruction_loops()) {
    const bool usable = (loop.needs & ~manymod::cpu_info().features) == 0;
    if (loop.name == "vpmadd52_zmm" && usable) return manymod::instruction_rate(loop, 0.01);
  }
  return 0;
}

void run(benchmark::State& state, const Case& c) {
  Arrays arrays(c);
  const mm_call call = arrays.call(c);
  manymod::Plan plan(c.op, c.bits, c.shared ? manymod::ModulusKind::shared : manymod::ModulusKind::each,
                     manymod::Timing::public_, {"cpu", c.variant == "auto" ? "" : c.variant, 1});
  const double rate_before = madd52_rate();
  for (auto _ : state) {
    if (plan.run(call) != MM_OK) state.SkipWithError(mm_last_error());
  }
  const double madd52 = (rate_before + madd52_rate()) / 2;
  const double items = static_cast<double>(state.iterations()) * static_cast<double>(arrays.items);
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.SetBytesProcessed(
      static_cast<std::int64_t>(static_cast<double>(state.iterations()) * arrays.bytes(c)));
  if (!c.product() || madd52 == 0) return;
  const auto digits = static_cast<double>((c.bits + 51) / 52);
  const double limit = 8 * madd52 / (2 * (4 * digits * digits + digits));
  state.counters["percent_of_limit"] = benchmark::Counter(100 * items / limit, benchmark::Counter::kIsRate);
}

[[maybe_unused]] const bool registered = [] {
  using manymod::Op;
  constexpr std::pair<Op, const char*> kOperations[] = {{Op::mulmod, "mulmod"}, {Op::sqrmod, "sqrmod"},
                                                        {Op::fmamod, "fmamod"}, {Op::addmod, "addmod"},
                                                        {Op::submod, "submod"}, {Op::negmod, "negmod"}};
  for (const auto& [op, name] : kOperations) {
    for (const bool shared : {false, true}) {
      for (const std::size_t bits : kWidths) {
        std::vector<std::string> variants{"auto"};
        if (op == Op::mulmod || op == Op::fmamod)
          variants.insert(variants.end(), {"scalar64.adx", "division52.avx512", "division52.avx2"});
        if (op == Op::mulmod && shared) variants.insert(variants.end(), {"ifma52.avx512", "radix29.avx2"});
        for (const std::string& variant : variants) {
          if (!runs_here(variant)) continue;
          const Case c{op, name, shared, variant, bits};
          benchmark::RegisterBenchmark(c.title().c_str(), [c](benchmark::State& state) { run(state, c); });
        }
      }
    }
  }
  return true;
}();

}  // namespace

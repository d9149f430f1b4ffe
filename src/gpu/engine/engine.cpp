// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/engine.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/device_facts.hpp"
#include "gpu/engine/chunk_run.hpp"
#include "gpu/engine/constants.hpp"
#include "gpu/program/window_choice.hpp"
#include "modexp/comb.hpp"
#include "modexp/windows.hpp"
#include "repr/limbs.hpp"

namespace manymod::gpu {
namespace {

// Combs up to 1 MiB stay in the second-level cache, as all instances read them.
constexpr std::size_t kMaxCombLimbs = std::size_t{1} << 17;
constexpr std::size_t kMaxInterleavedWindowBits = 4;  // each term has a table
constexpr double kCombScanCost = 0.01;                // all instances read the same elements
// Of the operands on their way at a time: enough to be copied at full speed, and in any case a small part of
// the device's memory.
constexpr std::size_t kUploadBytes = std::size_t{64} << 20;
constexpr std::size_t kMemoryParts = 128;
// A chunk's operands are gathered and its results stored at about so many bytes a nanosecond by one thread.
constexpr double kHostBytesPerNs = 5;
constexpr double kClockGhz = 1.7;

/// Without constants of moduli: all items have the plan's modulus, which each chunk brings to the device, and
/// there is nothing to prepare on the host.
class NothingPrepared final : public PreparedModulus {};

class PreparedComb final : public PreparedBase {
 public:
  PreparedComb(const BatchView& base, std::span<const Limb> modulus)
      : base_limbs(base.width), modulus_limbs(modulus.size()), negative(base.is_negative(0) ? 1 : 0) {
    std::copy_n(base.magnitude(0).data(), base.width, base_limbs.data());
    std::copy_n(modulus.data(), modulus.size(), modulus_limbs.data());
    base_view = {base_limbs.data(), 1, base_limbs.size(), base_limbs.size(), &negative};
    modulus_view = {modulus_limbs.data(), 1, modulus_limbs.size(), modulus_limbs.size(), nullptr};
  }

  limbs::Buffer base_limbs, modulus_limbs;
  std::uint8_t negative;
  CombShape shape;
  cuda::DeviceBuffer table;
  std::uint32_t table_threads = 0;                    ///< see DeviceComb
  std::unique_ptr<const ModulusConstants> constants;  ///< null where the technique has none of moduli
  bool of_fallback = false;                           ///< the technique refuses the modulus
  BatchView base_view, modulus_view;
};

// What the items of a call have in common, and the program for them. Lives as long as the chunks' runs.
struct Task {
  Program program;
  std::vector<Operand> operands;
  std::size_t terms = 1;
  DeviceComb comb;
};

class DeviceEngine final : public Engine {
 public:
  DeviceEngine(const Technique& technique, unsigned threads, unsigned device_index)
      : device_index_(device_index),
        source_(technique.constants),
        shapes_(shapes_with(technique.shapes, threads)) {
    if (source_ == nullptr) return;
    shared_shapes_ = shapes_with(source_->shared_shapes, threads);
    for (const Shape& shape : shapes_) constants_.emplace_back(*source_, shape);
    if (technique.for_refused == nullptr) return;
    fallback_ = std::make_unique<DeviceEngine>(*technique.for_refused, kAnyThreads, device_index);
    fallback_->lender_ = this;
  }

  /// Odd moduli and exponents that are not negative, in as many terms and words as a kernel takes.
  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    if (std::max(job.x.width, job.y.width) > kMaxOperandLimbs / std::max<std::size_t>(1, job.terms)) {
      return false;
    }
    if (job.timing == TimingClass::public_ && !modulus_is_odd(job, item)) return false;
    switch (job.op) {
      case Operation::powmod:
      case Operation::fixed_base_powmod:
        return !job.y.is_negative(item);
      case Operation::multi_powmod:
        return job.terms >= 1 && 2 * job.terms <= kMaxOperands && job.y.negative == nullptr;
      default:
        return true;
    }
  }

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation,
                                                         TimingClass) const override {
    if (shared_shapes_.empty()) return std::make_unique<NothingPrepared>();
    return constants_of(modulus);
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    if (stop.requested()) return nullptr;
    auto comb = std::make_unique<PreparedComb>(base, modulus);
    if (fill(*comb, exponent_bits, timing)) return comb;
    auto others = fallback_->prepare_base(base, modulus, exponent_bits, timing, stop);
    if (others != nullptr) static_cast<PreparedComb&>(*others).of_fallback = true;
    return others;
  }

  /// As many as the device works on at a time. 1 where that cannot be found out: `run` will say why.
  [[nodiscard]] std::size_t chunk_granularity(const Job&, std::size_t modulus_limbs) const override {
    try {
      return items_at_a_time(device(), shape_for(modulus_limbs));
    } catch (const cuda::DriverError&) {
      return 1;
    }
  }

  /// From the products' word multiplications, 32 of which a multiprocessor does in a clock cycle at best.
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    const auto words = static_cast<double>(2 * modulus_limbs);
    const double product_clocks = 2.4 * words * words / 32 + 1;
    const std::size_t terms = std::max<std::size_t>(1, job.terms);
    const std::size_t limbs = modulus_limbs + (job.x.width + job.y.width) * terms;
    return static_cast<double>(limbs * sizeof(Limb)) / kHostBytesPerNs +
           products(job) * product_clocks / (kClockGhz * kMultiprocessors);
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    cuda::Device& gpu = device();
    if (is_for_fallback(job)) {
      fallback_->run(job, items, modulus_limbs);
      return;
    }
    const ModulusConstants* const shared = shared_constants(job);
    const Shape& shape = shape_for(modulus_limbs, shared);
    const std::size_t wave = items_at_a_time(gpu, shape);
    const Task task = task_for(job, items, shape, std::min(wave, items.size()));
    ChunkPlan plan{gpu, shape, job, task.program, modulus_limbs, task.operands, task.terms, task.comb};
    std::size_t most = items_of_chunk(gpu, upload_bytes_per_item(plan), wave);
    for (std::size_t first = 0; first < items.size();) {
      if (job.stop.requested()) return;
      const std::size_t count = std::min(most, items.size() - first);
      std::vector<std::size_t> refused;
      try {
        workspaces().lend([&](Workspace& workspace) {
          give_constants(plan, shared, workspace);
          refused = run_chunk(plan, items.subspan(first, count), workspace);
        });
      } catch (const cuda::DriverError& error) {
        if (error.fault() != cuda::Fault::out_of_memory || count == 1) throw;
        most = count / 2;
        continue;
      }
      first += count;
      // Never with a comb of the technique's own: its modulus would have been refused when it was made.
      if (!refused.empty()) fallback_->run(job, refused, modulus_limbs);
    }
  }

 private:
  // Only the estimate of an item's cost needs it where there is no device to ask.
  static constexpr double kMultiprocessors = 100;
  static constexpr unsigned kAnyThreads = 0;

  unsigned device_index_;
  const ConstantsSource* source_;           // null: there are no constants
  std::vector<Shape> shapes_;               // of one number of threads, by words
  std::vector<Shape> shared_shapes_;        // for a modulus that all items share; empty: shapes_
  std::deque<ShapeConstants> constants_;    // of shapes_
  std::unique_ptr<DeviceEngine> fallback_;  // for what a technique with constants refuses
  const DeviceEngine* lender_ = nullptr;  // whose fallback this is: one gives up memory that the other needs
  mutable std::once_flag workspaces_made_;
  mutable std::unique_ptr<Workspaces> workspaces_;

  // To be called before all else: in a forked child it throws, where locks may be taken for good.
  [[nodiscard]] cuda::Device& device() const { return cuda::device(device_index_); }

  // Whole waves; less than one where its operands are too wide for that.
  [[nodiscard]] static std::size_t items_of_chunk(const cuda::Device& gpu, std::size_t bytes_per_item,
                                                  std::size_t wave) {
    const auto part = static_cast<std::size_t>(gpu.properties().memory_bytes / kMemoryParts);
    const std::size_t waves = std::min(kUploadBytes, part) / bytes_per_item / wave;
    return waves > 0 ? waves * wave : std::clamp<std::size_t>(part / bytes_per_item, 1, wave);
  }

  [[nodiscard]] Workspaces& workspaces() const {
    if (lender_ != nullptr) return lender_->workspaces();
    std::call_once(workspaces_made_, [this] { workspaces_ = std::make_unique<Workspaces>(device()); });
    return *workspaces_;
  }

  // The narrowest first.
  [[nodiscard]] static std::vector<Shape> shapes_with(std::span<const Shape> shapes, unsigned threads) {
    std::vector<Shape> chosen;
    for (const Shape& shape : shapes) {
      if (threads == kAnyThreads || shape.threads == threads) chosen.push_back(shape);
    }
    std::sort(chosen.begin(), chosen.end(), [](const Shape& a, const Shape& b) {
      return std::pair(a.words, a.threads) < std::pair(b.words, b.threads);
    });
    return chosen;
  }

  [[nodiscard]] static const Shape& shape_for(std::size_t modulus_limbs, const std::vector<Shape>& among) {
    const auto fits = [&](const Shape& shape) { return shape.words >= 2 * modulus_limbs; };
    return *std::find_if(among.begin(), among.end(), fits);
  }
  // `shared`: of the modulus that all items share, or null.
  [[nodiscard]] const Shape& shape_for(std::size_t modulus_limbs,
                                       const ModulusConstants* shared = nullptr) const {
    return shape_for(modulus_limbs, shared != nullptr ? shared_shapes_ : shapes_);
  }

  [[nodiscard]] std::unique_ptr<ModulusConstants> constants_of(std::span<const Limb> modulus) const {
    return std::make_unique<ModulusConstants>(*source_, shape_for(modulus.size(), shared_shapes_), modulus);
  }

  [[nodiscard]] bool is_for_fallback(const Job& job) const {
    if (fallback_ == nullptr) return false;
    if (job.fixed_base != nullptr) return static_cast<const PreparedComb*>(job.fixed_base)->of_fallback;
    const ModulusConstants* const shared = shared_constants(job);
    return shared != nullptr && shared->refused();
  }

  // Null where there are none, and for items with moduli of their own.
  [[nodiscard]] const ModulusConstants* shared_constants(const Job& job) const {
    if (shared_shapes_.empty()) return nullptr;
    if (job.fixed_base == nullptr) return static_cast<const ModulusConstants*>(job.shared);
    return static_cast<const PreparedComb*>(job.fixed_base)->constants.get();
  }

  // Has the plan's constants on the device, if it is to have any. `shared` as for its shape.
  void give_constants(ChunkPlan& plan, const ModulusConstants* shared, Workspace& workspace) const {
    if (source_ == nullptr) return;
    plan.may_refuse = shared == nullptr;
    plan.constants =
        shared != nullptr ? &shared->on_device(workspace) : &constants_of(plan.shape).on_device(workspace);
  }

  // `shape`: of shapes_.
  [[nodiscard]] const ShapeConstants& constants_of(const Shape& shape) const {
    return constants_[static_cast<std::size_t>(&shape - shapes_.data())];
  }

  // Make the comb's table. @return false if the technique refuses the modulus
  bool fill(PreparedComb& comb, std::size_t exponent_bits, TimingClass timing) const {
    cuda::Device& gpu = device();
    const std::size_t limbs = comb.modulus_limbs.size();
    if (!shared_shapes_.empty()) comb.constants = constants_of(comb.modulus_view.magnitude(0));
    const ModulusConstants* const shared = comb.constants.get();
    if (shared != nullptr && shared->refused()) return false;
    const Shape& shape = shape_for(limbs, shared);
    const double scan = timing == TimingClass::secret ? kCombScanCost : 0;
    comb.shape = best_comb_shape(comb_bits(exponent_bits, timing), shape.threads * shape.lane_words / 2,
                                 kMaxCombLimbs, scan);
    Job job;
    job.op = Operation::fixed_base_powmod;
    job.timing = timing;
    job.x = comb.base_view;
    job.modulus = comb.modulus_view;
    const Program program = comb_table_program(shape.radix_bits, comb.shape);
    ChunkPlan plan{gpu, shape, job, program, limbs, {{&job.x, Entry::factor}}, 1, {}};
    std::optional<cuda::DeviceBuffer> table;
    workspaces().lend([&](Workspace& workspace) {
      give_constants(plan, shared, workspace);
      table = make_table(plan, workspace);
    });
    if (!table) return false;
    comb.table = std::move(*table);
    comb.table_threads = table_threads(shape);
    return true;
  }

  [[nodiscard]] static double products(const Job& job) {
    const auto bits = static_cast<double>(job.y.width * kLimbBits);
    switch (job.op) {
      case Operation::powmod:
        return 20 + 1.25 * bits;
      case Operation::multi_powmod:
        return 20 + bits + static_cast<double>(job.terms) * (16 + bits / 4);
      case Operation::fixed_base_powmod:
        return 2 + bits / 4;
      default:
        return 10;
    }
  }

  // `tables`: of items that are worked on at a time.
  [[nodiscard]] static Task task_for(const Job& job, Items items, const Shape& shape, std::size_t tables) {
    switch (job.op) {
      case Operation::powmod:
        return power_task(job, items, job.x, shape, tables);
      case Operation::multi_powmod:
        return multi_power_task(job, items, shape);
      case Operation::fixed_base_powmod:
        return fixed_base_task(job, items, shape, tables);
      case Operation::sqrmod:
        return {product_program(shape.radix_bits, 0), {{&job.x, Entry::residue}}, 1, {}};
      default:
        return {
            product_program(shape.radix_bits, 1), {{&job.x, Entry::factor}, {&job.y, Entry::residue}}, 1, {}};
    }
  }

  [[nodiscard]] static Task power_task(const Job& job, Items items, const BatchView& base, const Shape& shape,
                                       std::size_t tables) {
    const bool secret = job.timing == TimingClass::secret;
    const std::vector<Operand> operands{{&base, Entry::factor}, {&job.y, Entry::as_it_is}};
    if (job.may_follow_exponent()) {
      const SlidingSchedule schedule = best_sliding_schedule(job.y.magnitude(0));
      return {sliding_window_program(shape.radix_bits, schedule), operands, 1, {}};
    }
    const auto bits =
        static_cast<std::uint32_t>(secret ? job.y.width * kLimbBits : longest_exponent(job, items));
    const std::uint32_t window = window_bits(shape, bits, secret, tables);
    return {fixed_window_program(shape.radix_bits, bits, window, secret), operands, 1, {}};
  }

  [[nodiscard]] static Task multi_power_task(const Job& job, Items items, const Shape& shape) {
    const auto bits = static_cast<std::uint32_t>(longest_exponent(job, items));
    const auto terms = static_cast<std::uint32_t>(job.terms);
    const auto window = static_cast<std::uint32_t>(
        std::min<std::size_t>(fixed_window_width(bits, 0), kMaxInterleavedWindowBits));
    return {interleaved_windows_program(shape.radix_bits, terms, bits, window),
            {{&job.x, Entry::factor}, {&job.y, Entry::as_it_is}},
            job.terms,
            {}};
  }

  [[nodiscard]] static Task fixed_base_task(const Job& job, Items items, const Shape& shape,
                                            std::size_t tables) {
    const auto& comb = *static_cast<const PreparedComb*>(job.fixed_base);
    const bool secret = job.timing == TimingClass::secret;
    const std::size_t covered = comb.shape.teeth * comb.shape.rows;
    if (!secret && longest_exponent(job, items) > covered)
      return power_task(job, items, comb.base_view, shape, tables);
    return {comb_power_program(comb.shape, secret),
            {{&job.y, Entry::as_it_is}},
            1,
            {comb.table.as<std::uint32_t>(), comb.table_threads}};
  }

  static std::size_t longest_exponent(const Job& job, Items items) {
    const std::size_t terms = std::max<std::size_t>(1, job.terms);
    if (job.y.on_device && job.facts->exponent_bits.empty()) return job.facts->exponents.longest;
    std::size_t bits = 0;
    const auto look_at = [&](std::size_t index) {
      bits = std::max<std::size_t>(bits, exponent_bits(job, index));
    };
    if (job.y.count == terms) {
      for (std::size_t t = 0; t < terms; ++t) look_at(t);
      return bits;
    }
    for (const std::size_t item : items) {
      for (std::size_t t = 0; t < terms; ++t) look_at(item * terms + t);
    }
    return bits;
  }
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Technique& technique, unsigned threads, unsigned device_index) {
  return std::make_unique<DeviceEngine>(technique, threads, device_index);
}

}  // namespace manymod::gpu

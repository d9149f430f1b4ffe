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
#include "gpu/engine/known_answers.hpp"
#include "gpu/engine/prepared_comb.hpp"
#include "gpu/engine/task.hpp"
#include "modexp/comb.hpp"
#include "repr/limbs.hpp"

namespace manymod::gpu {
namespace {

// All instances read the comb: up to 1 MiB of it stays in the second-level cache.
constexpr std::size_t kMaxCombLimbs = std::size_t{1} << 17;
constexpr double kCombScanCost = 0.01;  // low, as all instances read the same elements
// Largest size of the operands in one upload: enough to be copied at full speed, and at most 1 / kMemoryParts
// of the device's memory.
constexpr std::size_t kUploadBytes = std::size_t{64} << 20;
constexpr std::size_t kMemoryParts = 128;
// The rate, in bytes per nanosecond, at which one thread gathers a chunk's operands and stores its results.
constexpr double kHostBytesPerNs = 5;
constexpr double kClockGhz = 1.7;

/// For techniques without constants of moduli: every chunk uploads the plan's modulus, and nothing is
/// prepared.
class NothingPrepared final : public PreparedModulus {};

// Items whose moduli the technique's kernels accept are computed by these kernels. The others (in rns, moduli
// that are not coprime to its bases) are computed by the general engine, which is the engine of
// Technique::general with shapes of any number of threads. A modulus that all items share is checked once, on
// the host, when its constants are computed; the whole call then goes to one of the two engines. If each item
// has its own modulus, the kernel checks it and reports the refused items, which the general engine computes
// afterwards. Both engines use the same workspaces.
class DeviceEngine final : public Engine {
 public:
  DeviceEngine(const Technique& technique, unsigned threads, unsigned device_index)
      : technique_(technique),
        backend_(*technique.backend),
        device_index_(device_index),
        source_(technique.constants),
        shapes_(shapes_with(technique.shapes, threads)) {
    if (source_ == nullptr) return;
    shared_shapes_ = shapes_with(source_->shared_shapes, threads);
    for (const Shape& shape : shapes_) constants_.emplace_back(*source_, shape);
    if (technique.general == nullptr) return;
    general_ = std::make_unique<DeviceEngine>(*technique.general, kAnyThreads, device_index);
    general_->workspaces_from_ = this;
  }

  /// Accepts odd moduli and exponents >= 0 of as many terms and words as a kernel takes.
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
    auto general_comb = general_->prepare_base(base, modulus, exponent_bits, timing, stop);
    if (general_comb != nullptr) static_cast<PreparedComb&>(*general_comb).by_general = true;
    return general_comb;
  }

  /// One wave of the device. 1 if the device fails: `run` will then report why.
  [[nodiscard]] std::size_t chunk_granularity(const Job&, std::size_t modulus_limbs) const override {
    try {
      return items_of_wave(device(), shape_for(modulus_limbs));
    } catch (const DeviceError&) {
      return 1;
    }
  }

  [[nodiscard]] bool joins_rest(const Job&, std::size_t modulus_limbs) const override {
    return shape_for(modulus_limbs).takes_pieces;
  }

  /// An estimate from the number of word multiplications, of which a multiprocessor computes at most 32 per
  /// clock cycle.
  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    const auto words = static_cast<double>(2 * modulus_limbs);
    const double product_clocks = 2.4 * words * words / 32 + 1;
    const std::size_t terms = std::max<std::size_t>(1, job.terms);
    const std::size_t limbs = modulus_limbs + (job.x.width + job.y.width) * terms;
    return static_cast<double>(limbs * sizeof(Limb)) / kHostBytesPerNs +
           products(job) * product_clocks / (kClockGhz * kMultiprocessors);
  }

  void check_kernel_for(std::size_t modulus_limbs) const { check_kernel(shape_for(modulus_limbs)); }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    static_cast<void>(device());  // throws in a forked child, before any mutex is locked
    if (is_for_general(job)) {
      general_->run(job, items, modulus_limbs);
      return;
    }
    check_kernel(shape_for(modulus_limbs, shared_constants(job)));
    run_items(job, items, modulus_limbs);
  }

 private:
  // For item_cost_ns, which must not open the device.
  static constexpr double kMultiprocessors = 100;
  static constexpr unsigned kAnyThreads = 0;

  // As `run`, by the technique's own kernels.
  void run_items(const Job& job, Items items, std::size_t modulus_limbs) const {
    Device& gpu = device();
    const ModulusConstants* const shared = shared_constants(job);
    const Shape& shape = shape_for(modulus_limbs, shared);
    const std::size_t wave = items_of_wave(gpu, shape);
    const Task task = task_for(job, items, shape, std::min(wave, items.size()));
    const ChunkPlan plain{gpu, shape, job, task.program, modulus_limbs, task.operands, task.terms, task.comb};
    std::size_t most = items_of_chunk(gpu, upload_bytes_per_item(plain), wave);
    bool has_room_for_turns = true;
    for (std::size_t first = 0; first < items.size();) {
      if (job.stop.requested()) return;
      const std::size_t left = items.size() - first;
      const BatchPart part =
          has_room_for_turns ? part_of(plain, left, most) : BatchPart{std::min(most, left), {}};
      const std::size_t count = part.items;
      ChunkPlan plan = plain;
      plan.turns = part.turns;
      std::vector<std::size_t> refused;
      try {
        workspaces().lend([&](Workspace& workspace) {
          provide_constants(plan, shared, workspace);
          refused = run_chunk(plan, items.subspan(first, count), workspace);
        });
      } catch (const DeviceError& error) {
        if (error.fault() != Fault::out_of_memory || count == 1) throw;
        // Retries with whole waves or part of one, and without blocks in turns, whose tables need memory
        // besides a wave's.
        most = count / 2 < wave ? count / 2 : count / 2 / wave * wave;
        has_room_for_turns = false;
        continue;
      }
      first += count;
      // Nothing is refused in a call with a comb of this engine: its modulus was accepted when it was built.
      if (!refused.empty()) general_->run(job, refused, modulus_limbs);
    }
  }

  // The part of `items` remaining items that the next chunk computes.
  [[nodiscard]] static BatchPart part_of(const ChunkPlan& plan, std::size_t items, std::size_t most) {
    if (!plan.shape.takes_pieces) return {std::min(most, items), {}};
    const bool selects = plan.program.scan && plan.shape.selections > 0;
    const TurnCosts costs = turn_costs(products_of(plan.program), selects);
    return next_part(items, waves_of(plan.device, plan.shape), costs, most);
  }

  void check_kernel(const Shape& shape) const {
    if (technique_.reference == nullptr) return;
    check_answers({backend_, technique_.folder, shape.kernel}, device(), [&] {
      const RunItems run = [this](const Job& job, Items items, std::size_t limbs) {
        run_items(job, items, limbs);
      };
      const PrepareBase prepare_base = [this](const BatchView& base, std::span<const Limb> modulus,
                                              std::size_t bits, TimingClass timing) {
        auto comb = std::make_unique<PreparedComb>(base, modulus);
        return fill_table(*comb, bits, timing) ? std::move(comb) : nullptr;
      };
      return find_wrong_operation(run, prepare_base, *technique_.reference(), shape.words / 2);
    });
  }

  const Technique& technique_;
  const Backend& backend_;
  unsigned device_index_;
  const ConstantsSource* source_;          // null: there are no constants
  std::vector<Shape> shapes_;              // of one number of threads, by words
  std::vector<Shape> shared_shapes_;       // for a modulus that all items share; empty: shapes_ serve for it
  std::deque<ShapeConstants> constants_;   // of shapes_
  std::unique_ptr<DeviceEngine> general_;  // null where the technique refuses no modulus
  // Set in a general engine: it uses the workspaces of the engine that owns it, so that each of the two can
  // free memory that the other needs.
  const DeviceEngine* workspaces_from_ = nullptr;
  mutable std::once_flag workspaces_made_;
  mutable std::unique_ptr<Workspaces> workspaces_;

  // Call this before locking any mutex: it throws in a forked child, where a mutex may stay locked forever.
  [[nodiscard]] Device& device() const { return backend_.device(device_index_); }

  // A number of whole waves; less than one wave where its operands are too wide.
  [[nodiscard]] static std::size_t items_of_chunk(const Device& gpu, std::size_t bytes_per_item,
                                                  std::size_t wave) {
    const auto part = static_cast<std::size_t>(gpu.properties().memory_bytes / kMemoryParts);
    const std::size_t waves = std::min(kUploadBytes, part) / bytes_per_item / wave;
    return waves > 0 ? waves * wave : std::clamp<std::size_t>(part / bytes_per_item, 1, wave);
  }

  [[nodiscard]] Workspaces& workspaces() const {
    if (workspaces_from_ != nullptr) return workspaces_from_->workspaces();
    std::call_once(workspaces_made_, [this] { workspaces_ = std::make_unique<Workspaces>(device()); });
    return *workspaces_;
  }

  // The shapes with that number of threads, the narrowest first.
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
  // `shared`: the constants of the modulus that all items share, or null.
  [[nodiscard]] const Shape& shape_for(std::size_t modulus_limbs,
                                       const ModulusConstants* shared = nullptr) const {
    return shape_for(modulus_limbs, shared != nullptr ? shared_shapes_ : shapes_);
  }

  [[nodiscard]] std::unique_ptr<ModulusConstants> constants_of(std::span<const Limb> modulus) const {
    return std::make_unique<ModulusConstants>(*source_, shape_for(modulus.size(), shared_shapes_), modulus);
  }

  [[nodiscard]] bool is_for_general(const Job& job) const {
    if (general_ == nullptr) return false;
    if (job.fixed_base != nullptr) return static_cast<const PreparedComb*>(job.fixed_base)->by_general;
    const ModulusConstants* const shared = shared_constants(job);
    return shared != nullptr && shared->refused();
  }

  // Null where the technique has none, and where each item has its own modulus.
  [[nodiscard]] const ModulusConstants* shared_constants(const Job& job) const {
    if (shared_shapes_.empty()) return nullptr;
    if (job.fixed_base == nullptr) return static_cast<const ModulusConstants*>(job.shared);
    return static_cast<const PreparedComb*>(job.fixed_base)->constants.get();
  }

  // Copies the constants that the plan's kernel reads, if any, to the device. `shared` as in shape_for.
  void provide_constants(ChunkPlan& plan, const ModulusConstants* shared, Workspace& workspace) const {
    if (source_ == nullptr) return;
    plan.may_refuse = shared == nullptr;
    plan.constants =
        shared != nullptr ? &shared->on_device(workspace) : &constants_of(plan.shape).on_device(workspace);
  }

  // `shape`: an element of shapes_.
  [[nodiscard]] const ShapeConstants& constants_of(const Shape& shape) const {
    return constants_[static_cast<std::size_t>(&shape - shapes_.data())];
  }

  // Computes the comb's table, by a kernel that is tested before. @return false if the technique refuses the
  // modulus
  bool fill(PreparedComb& comb, std::size_t exponent_bits, TimingClass timing) const {
    static_cast<void>(device());  // throws in a forked child, before any mutex is locked
    if (technique_.reference != nullptr) check_kernel(shape_for(comb.modulus_limbs.size()));
    return fill_table(comb, exponent_bits, timing);
  }

  bool fill_table(PreparedComb& comb, std::size_t exponent_bits, TimingClass timing) const {
    Device& gpu = device();
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
    std::optional<DeviceBuffer> table;
    workspaces().lend([&](Workspace& workspace) {
      provide_constants(plan, shared, workspace);
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
};

}  // namespace

void check_kernel(const Technique& technique, unsigned threads, unsigned device_index, std::size_t limbs) {
  DeviceEngine(technique, threads, device_index).check_kernel_for(limbs);
}

std::unique_ptr<Engine> make_engine(const Technique& technique, unsigned threads, unsigned device_index) {
  return std::make_unique<DeviceEngine>(technique, threads, device_index);
}

}  // namespace manymod::gpu

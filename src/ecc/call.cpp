// SPDX-License-Identifier: Apache-2.0
#include "ecc/call.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "abi/last_error.hpp"
#include "core/all_zero.hpp"
#include "core/status_error.hpp"
#include "ecc/engine_choice.hpp"
#include "ecc/plan.hpp"
#include "ecc/schemes/prepared_keys.hpp"
#include "exec/executor.hpp"

namespace manymod::ecc {
namespace {

/// The items of a call that have one curve, and what computes them.
struct Group {
  std::size_t count = 0;
  std::vector<std::size_t> items;  ///< empty: items 0 to count - 1
  std::unique_ptr<const Scheme> scheme;
  std::size_t granularity = 1;
  unsigned gpus = 0;  ///< that compute it; 0: the CPU does
  /// Results may be shorter than the longest one of the call.
  bool has_short_results = false;
};

class CallRun {
 public:
  CallRun(const Plan& plan, const mm_ecc_call& call)
      : plan_(plan),
        checked_(plan, call),
        status_(call.count, static_cast<std::uint8_t>(MM_ITEM_NOT_COMPUTED)) {
    if (is_verification(checked_.task.op)) ok_.assign(call.count, 0);
    const mm_bytes_result& output = call.output;
    outputs_ = {output.data, output.stride, output.sizes, ok_.empty() ? nullptr : ok_.data(), status_.data()};
  }

  mm_status run() {
    try {
      clear_sum();
      group_items();
      return finish(compute());
    } catch (...) {
      // Results of earlier items must not stay in a buffer that the caller believes to be empty.
      discard();
      throw;
    }
  }

 private:
  const Plan& plan_;
  CheckedCall checked_;
  std::vector<std::uint8_t> status_;  ///< of each item; copied to the caller's array at the end
  std::vector<std::uint8_t> ok_;      ///< of each item, of verifications; likewise
  Outputs outputs_;                   ///< what schemes write to
  std::vector<Group> groups_;

  [[nodiscard]] bool is_sum() const { return checked_.task.op == MM_ECC_SUM; }
  [[nodiscard]] unsigned threads() const {
    return plan_.threads() == 0 ? default_threads() : plan_.threads();
  }

  /// A group for each curve that the items name and that suits; the other items get their status.
  void group_items() {
    if (checked_.curves.empty()) {
      if (has_task(0)) return groups_.push_back(make_group(0, status_.size(), {}));
      std::ranges::fill(status_, static_cast<std::uint8_t>(MM_ITEM_ECC_CURVE));
      return;
    }
    std::vector<bool> suitable(plan_.size());
    for (std::size_t index = 0; index < plan_.size(); ++index) suitable[index] = has_task(index);
    std::vector<std::vector<std::size_t>> by_curve(plan_.size());
    for (std::size_t item = 0; item < status_.size(); ++item) {
      const std::size_t index = checked_.curves[item];
      if (index >= plan_.size() || !suitable[index]) {
        status_[item] = static_cast<std::uint8_t>(MM_ITEM_ECC_CURVE);
      } else if (const std::uint8_t failed = checked_.key_status(item); failed != MM_OK) {
        status_[item] = failed;
      } else {
        by_curve[index].push_back(item);
      }
    }
    for (std::size_t index = 0; index < by_curve.size(); ++index) {
      const std::size_t count = by_curve[index].size();
      if (count != 0) groups_.push_back(make_group(index, count, std::move(by_curve[index])));
    }
  }

  [[nodiscard]] bool has_task(std::size_t index) const {
    const Curve& curve = plan_.curve(index).curve();
    return suits(on_curve(checked_.task, curve), curve, checked_.inputs);
  }

  [[nodiscard]] Group make_group(std::size_t index, std::size_t count, std::vector<std::size_t> items) {
    const CurveEngines& engines = plan_.curve(index);
    const Task task = on_curve(checked_.task, engines.curve());
    const UsableEngines usable = usable_engines(engines, task, checked_.inputs);
    const PointEngine *const cpu = usable.cpu, *const gpu = usable.gpu;
    std::unique_ptr<const Scheme> on_cpu, on_gpu;
    if (cpu != nullptr) on_cpu = make_scheme(task, *cpu, checked_.inputs, outputs_);
    if (gpu != nullptr) on_gpu = make_scheme(task, *gpu, checked_.inputs, outputs_);
    const PointOperation operation = main_operation(task, engines.curve());
    const auto gains_by_gpu = [&] {
      return expected_gpu_ns(*gpu, operation, on_gpu->item_ns(), count, threads()) <
             expected_cpu_ns(*cpu, on_cpu->item_ns(), count, threads());
    };
    const bool is_der = task.op == MM_ECC_SIGN && checked_.inputs.signature_format == MM_ECC_DER;
    // Infinity is one byte.
    const bool may_be_infinite =
        task.op == MM_ECC_MULTIPLY || task.op == MM_ECC_ADD || task.op == MM_ECC_POINT;
    const bool is_shorter = is_der || may_be_infinite ||
                            result_bytes(task, engines.curve(), checked_.inputs) < checked_.row_bytes;
    if (on_gpu && (!on_cpu || gains_by_gpu())) {
      const std::size_t granularity = gpu_granule(*gpu, operation, on_gpu->item_ns(), count, threads());
      return {count, std::move(items), std::move(on_gpu), granularity, gpu->gpus(), is_shorter};
    }
    const std::size_t granularity = is_sum() ? sum_granularity(count) : cpu->granularity();
    return {count, std::move(items), std::move(on_cpu), granularity, 0, is_shorter};
  }

  /// Terms of one set of buckets: kTermsOfBuckets, or fewer so that every thread gets a set.
  [[nodiscard]] std::size_t sum_granularity(std::size_t terms) const {
    constexpr std::size_t kTermsOfBuckets = 4096;
    return std::min(kTermsOfBuckets, (terms + threads() - 1) / threads());
  }

  /// @return false if the caller requested a stop
  bool compute() {
    std::vector<WorkPart> parts;
    unsigned gpus = 0;
    for (const Group& group : groups_) {
      WorkPart part = uniform_part(group.count, group.scheme->item_ns());
      part.granularity = group.granularity;
      gpus = std::max(gpus, group.gpus);
      parts.push_back(part);
    }
    if (parts.empty()) return true;
    const ProgressPart progress = whole_call();
    StopQuery wants_stop;
    if (progress.observed()) {
      const auto total = static_cast<double>(checked_.call.count);
      wants_stop = [&progress, total](std::size_t done) {
        return progress.wants_stop(static_cast<double>(done) / total);
      };
    }
    const Schedule schedule = schedule_for(total_ns(parts), plan_.threads(), gpus, progress.observed());
    const bool completed =
        execute(parts, schedule, wants_stop, [this](const Chunk& chunk, const StopToken& stop) {
          compute_chunk(groups_[chunk.part], chunk, stop);
        });
    if (completed) finish_groups();
    return completed;
  }

  [[nodiscard]] ProgressPart whole_call() const {
    const std::size_t count = checked_.call.count;
    return {{checked_.call.progress, checked_.call.progress_user}, count, 0, static_cast<double>(count)};
  }

  void compute_chunk(const Group& group, const Chunk& chunk, const StopToken& stop) {
    // Results fill their rows, unless they may be shorter; finish() clears those of items without one.
    const bool clears = group.has_short_results && !is_sum();
    if (!group.items.empty()) {
      const auto items = std::span(group.items).subspan(chunk.begin, chunk.size());
      if (clears) {
        for (const std::size_t item : items) clear_row(item);
      }
      return compute_items(group, items, stop);
    }
    if (clears) clear_rows(chunk.begin, chunk.end);
    std::vector<std::size_t> items(chunk.size());
    std::iota(items.begin(), items.end(), chunk.begin);
    compute_items(group, items, stop);
  }

  void compute_items(const Group& group, std::span<const std::size_t> items, const StopToken& stop) {
    group.scheme->compute(items, stop);
    const Inputs& inputs = checked_.inputs;
    if (checked_.task.op == MM_ECC_SIGN && inputs.prepared != nullptr && inputs.check) {
      reject_changed_keys(items);
    }
  }

  /// Part of the check of signatures: the results of those that fail it are cleared at once. Not inlined,
  /// because the secret-independence tests suppress findings in this function by its name: that a key has
  /// changed is public.
  [[gnu::noinline]] void reject_changed_keys(std::span<const std::size_t> items) {
    const Inputs& inputs = checked_.inputs;
    const PreparedKeys& keys = *inputs.prepared;
    // Where there are more items than keys, each key is looked at once.
    std::vector<bool> found_intact(keys.size() < items.size() ? keys.size() : 0);
    for (const std::size_t item : items) {
      const std::size_t key = inputs.key_of(item);
      if (status_[item] != MM_OK || (!found_intact.empty() && found_intact[key])) continue;
      if (!keys.is_intact(key)) {
        status_[item] = static_cast<std::uint8_t>(MM_ITEM_ECC_FAULT);
        clear_row(item);
      } else if (!found_intact.empty()) {
        found_intact[key] = true;
      }
    }
  }

  /// Not inlined, because the secret-independence tests suppress findings in this function by its name:
  /// statuses are public.
  [[gnu::noinline]] void finish_groups() {
    const bool all_ok = all_are_ok();
    for (const Group& group : groups_) {
      if (is_sum() && !all_ok) continue;
      const mm_status status = group.scheme->finish();
      if (status == MM_OK) continue;
      for (std::size_t i = 0; i < group.count; ++i)
        status_[group.items.empty() ? i : group.items[i]] = static_cast<std::uint8_t>(status);
    }
  }

  [[nodiscard]] bool all_are_ok() const {
    static_assert(MM_OK == 0);
    return all_zero(std::span<const std::uint8_t>(status_));
  }

  void clear_row(std::size_t row) const {
    const mm_bytes_result& output = checked_.call.output;
    if (row >= checked_.rows) return;
    if (output.sizes != nullptr) output.sizes[row] = 0;
    std::fill_n(output.data + row * output.stride, checked_.row_bytes, std::uint8_t{0});
  }
  void clear_rows(std::size_t begin, std::size_t end) const {
    const mm_bytes_result& output = checked_.call.output;
    if (begin >= checked_.rows || output.stride != checked_.row_bytes || output.sizes != nullptr) {
      for (std::size_t row = begin; row < end; ++row) clear_row(row);
    } else {
      std::fill_n(output.data + begin * output.stride, (end - begin) * output.stride, std::uint8_t{0});
    }
  }
  void clear_sum() const {
    if (is_sum()) clear_row(0);
  }

  void publish() const {
    const mm_ecc_call& call = checked_.call;
    if (call.item_status != nullptr) std::ranges::copy(status_, call.item_status);
    if (checked_.task.op == MM_ECC_VERIFY) std::ranges::copy(ok_, call.ok);
    if (checked_.task.op == MM_ECC_VERIFY_ALL) {
      *call.ok = std::ranges::all_of(ok_, [](std::uint8_t ok) { return ok == 1; }) ? 1 : 0;
    }
  }

  /// Leave the call without any result.
  void discard() {
    std::ranges::fill(status_, static_cast<std::uint8_t>(MM_ITEM_NOT_COMPUTED));
    std::ranges::fill(ok_, std::uint8_t{0});
    clear_rows(0, checked_.rows);
    publish();
  }

  /// A malformed public key or signature is a verdict, not a failure: the signature is invalid.
  static bool is_verdict(std::uint8_t status) {
    return status == MM_ITEM_ECC_POINT || status == MM_ITEM_ECC_SIGNATURE;
  }

  // Statuses are public. Not inlined, because the secret-independence tests suppress findings in this
  // function by its name.
  [[gnu::noinline]] mm_status finish(bool completed) {
    if (completed && all_are_ok()) {
      publish();
      return MM_OK;
    }
    FailedItems failed;
    for (std::size_t item = status_.size(); item-- > 0;) {
      if (status_[item] == MM_OK) continue;
      if (!ok_.empty()) ok_[item] = 0;
      if (!is_sum()) clear_row(item);
      if (!ok_.empty() && is_verdict(status_[item])) continue;
      failed = {failed.count + 1, item, static_cast<mm_status>(status_[item])};
    }
    if (is_sum() && failed.count != 0) clear_row(0);
    publish();
    return fail_items(completed, status_.size(), failed);
  }
};

/// Without items, whose arrays are not looked at, every signature is valid.
mm_status run_empty(const mm_ecc_call& call) {
  if (checked_task(call).op != MM_ECC_VERIFY_ALL) return MM_OK;
  if (call.ok == nullptr) throw StatusError(MM_ERR_NULL, "ok is NULL");
  *call.ok = 1;
  return MM_OK;
}

}  // namespace

mm_status run_call(const Plan& plan, const mm_ecc_call& call) {
  return call.count == 0 ? run_empty(call) : CallRun(plan, call).run();
}

}  // namespace manymod::ecc

// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/chunk_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/all_zero.hpp"
#include "engine/device_facts.hpp"
#include "engine/store.hpp"
#include "gpu/engine/launch.hpp"
#include "gpu/engine/resident.hpp"
#include "repr/wipe.hpp"

namespace manymod::gpu {
namespace {

constexpr std::size_t kWordsPerLimb = sizeof(Limb) / sizeof(std::uint32_t);
// Largest distance in limbs between the rows of consecutive items: kernels count words in 32 bits.
constexpr std::size_t kMaxStride = std::numeric_limits<std::uint32_t>::max() / kWordsPerLimb;
// See upload_bytes_per_item.
constexpr std::size_t kResidentShare = 4;

std::uint32_t words(std::size_t limbs) { return static_cast<std::uint32_t>(limbs * kWordsPerLimb); }

// How an operand reaches the memory in which kernels read it.
enum class Route : std::uint8_t {
  upload,    // gathered on the host, then copied
  in_place,  // kernels read the caller's array in the device's memory
  gather,  // copied within the device's memory, as the items' rows in the caller's array are not consecutive
};

// The rows of one operand of the call, and their residues if it is reduced.
struct Rows {
  const BatchView* view = nullptr;
  Route route = Route::upload;
  std::size_t limbs = 0;
  std::size_t stride = 0;  // limbs from one row to the next
  std::size_t terms = 1;   // numbers per item
  std::size_t count = 0;   // numbers of all items, or those that all items share
  bool shared = false;
  bool reduce = false;
  std::size_t at = 0;           // offset in the upload, or of the gathered rows on the device
  std::size_t negative_at = 0;  // offset of the signs, one byte per number, if the view has signs
  std::size_t residues_at = 0;  // offset of the residues on the device
  std::size_t residues = 0;     // number of residues

  [[nodiscard]] std::size_t bytes() const { return limbs * sizeof(Limb); }
};

class ChunkRun {
 public:
  ChunkRun(const ChunkPlan& plan, Items items, Workspace& workspace)
      : plan_(plan),
        job_(plan.job),
        items_(items),
        workspace_(workspace),
        in_one_run_(uses_device_memory(plan.job) && consecutive(items)),
        pieces_(pieces_of(plan.turns, plan.program)),
        launch_(plan.turns.rotates() ? launch_of_turns()
                                     : program_launch(plan.device, plan.shape, items.size())) {
    lay_out();
  }

  /// See queue_chunk.
  void queue() {
    bring_operands();
    launch_program(words_at(table_at_));
    scatter_results();
    wipe_device();
  }

  /// @return the refused items
  std::vector<std::size_t> run() {
    bring_operands();
    launch_program(words_at(table_at_));
    bring_refused();
    if (job_.result.on_device) {
      without_repetition([&] {
        scatter_results();
        finish();
      });
    } else {
      workspace_.stream().copy_to_host(download_, device_ + result_at_, result_bytes());
      finish();
    }
    return store();
  }

  /// As make_table.
  std::optional<DeviceBuffer> run_for_table() {
    DeviceBuffer table(plan_.device, table_bytes());
    bring_operands();
    launch_program(table.as<std::uint32_t>());
    bring_refused();
    finish();
    if (is_refused(0)) return std::nullopt;
    return table;
  }

 private:
  const ChunkPlan& plan_;
  const Job& job_;
  Items items_;
  Workspace& workspace_;
  bool in_one_run_;  // the items are consecutive; false where no operand is in device memory
  Rows modulus_;
  std::vector<Rows> operands_;
  std::size_t list_at_ = 0, claimed_at_ = 0, progress_at_ = 0, steps_at_ = 0, pieces_at_ = 0, start_at_ = 0,
              table_at_ = 0, result_at_ = 0, refused_at_ = 0, refused_on_host_at_ = 0;
  BufferLayout upload_layout_;  // also of the beginning of the device memory
  BufferLayout device_layout_, download_layout_;
  std::vector<Piece> pieces_;
  LaunchShape launch_;
  std::byte* upload_ = nullptr;
  std::byte* download_ = nullptr;
  std::byte* device_ = nullptr;

  [[nodiscard]] bool secret() const { return job_.timing == TimingClass::secret; }
  [[nodiscard]] std::uint32_t modulus_words() const { return words(plan_.limbs); }
  [[nodiscard]] std::size_t residue_bytes() const { return plan_.limbs * sizeof(Limb); }
  [[nodiscard]] std::size_t result_bytes() const { return items_.size() * residue_bytes(); }
  // The program's slots of the table, of which blocks that take turns need one to keep x between pieces.
  [[nodiscard]] std::uint32_t slots() const { return plan_.program.slots + (plan_.turns.rotates() ? 1 : 0); }
  [[nodiscard]] std::size_t table_bytes() const {
    const std::size_t blocks = plan_.turns.rotates() ? plan_.turns.blocks : launch_.grid;
    const std::size_t thread_words =
        std::size_t{slots() + plan_.shape.more_slots(plan_.program.scan)} * plan_.shape.lane_words;
    return blocks * launch_.block * thread_words * sizeof(std::uint32_t);
  }
  [[nodiscard]] std::size_t progress_bytes() const {
    return (1 + pieces_.size() + plan_.turns.blocks) * sizeof(std::uint32_t);
  }
  // A block for each piece.
  [[nodiscard]] LaunchShape launch_of_turns() const {
    const auto block = static_cast<unsigned>(plan_.turns.wave.items_of_block * plan_.shape.threads);
    return {static_cast<unsigned>(pieces_.size()), block, shared_bytes(plan_.shape, block)};
  }
  [[nodiscard]] const Kernel& kernel() const { return plan_.device.kernel(kernel_id(plan_.shape)); }

  Rows rows_of(const BatchView& view, std::size_t limbs, std::size_t terms) const {
    Rows rows;
    rows.view = &view;
    rows.limbs = limbs;
    rows.stride = limbs;
    rows.terms = terms;
    rows.shared = view.count == terms;
    rows.count = rows.shared ? terms : items_.size() * terms;
    if (view.on_device) {
      const bool readable = in_one_run_ && view.stride <= kMaxStride / terms;
      rows.route = readable ? Route::in_place : Route::gather;
      if (readable) rows.stride = view.stride;
    }
    return rows;
  }

  // Whether the program may write to the caller's array: its rows have the modulus's width and no gaps, and
  // it is not an operand.
  [[nodiscard]] bool results_in_place() const {
    const BatchResult& result = job_.result;
    const auto apart = [&](const Rows& rows) { return rows.view->limbs != result.limbs; };
    return result.on_device && in_one_run_ && result.width == plan_.limbs && result.stride == plan_.limbs &&
           apart(modulus_) && std::all_of(operands_.begin(), operands_.end(), apart);
  }

  // Whether kernels select rows by the items' indices.
  [[nodiscard]] bool needs_list() const {
    const auto gathered = [](const Rows& rows) { return rows.route == Route::gather; };
    return !in_one_run_ && (job_.result.on_device || gathered(modulus_) ||
                            std::any_of(operands_.begin(), operands_.end(), gathered));
  }

  void lay_out() {
    modulus_ = rows_of(job_.modulus, plan_.limbs, 1);
    add_to_upload(modulus_);
    for (const Operand& operand : plan_.operands) {
      Rows rows = rows_of(*operand.view, operand.view->width, plan_.terms);
      rows.reduce =
          operand.entry == Entry::residue ||
          (operand.entry == Entry::factor && (rows.limbs > plan_.limbs || rows.view->negative != nullptr));
      // An operand that all items share has one residue per modulus.
      rows.residues = rows.shared && !modulus_.shared ? items_.size() * plan_.terms : rows.count;
      add_to_upload(rows);
      operands_.push_back(rows);
    }
    if (needs_list()) list_at_ = upload_layout_.add(items_.list().size_bytes());
    steps_at_ = upload_layout_.add(plan_.program.steps.size() * sizeof(Step));
    pieces_at_ = upload_layout_.add(pieces_.size() * sizeof(Piece));
    device_layout_ = upload_layout_;
    add_gathered(modulus_);
    for (Rows& rows : operands_) add_gathered(rows);
    claimed_at_ = device_layout_.add(sizeof(std::uint32_t));
    progress_at_ = device_layout_.add(progress_bytes());
    if (plan_.program.needs_start()) start_at_ = device_layout_.add(modulus_.count * residue_bytes());
    for (Rows& rows : operands_) {
      if (rows.reduce) rows.residues_at = device_layout_.add(rows.residues * residue_bytes());
    }
    if (!results_in_place()) result_at_ = device_layout_.add(result_bytes());
    table_at_ = device_layout_.add(table_bytes());
    if (!job_.result.on_device) download_layout_.add(result_bytes());
    if (plan_.may_refuse) {
      refused_at_ = device_layout_.add(items_.size());
      refused_on_host_at_ = download_layout_.add(items_.size());
    }
    upload_ = workspace_.upload(upload_layout_.bytes());
    if (download_layout_.bytes() > 0) download_ = workspace_.download(download_layout_.bytes());
    device_ = workspace_.on_device(device_layout_.bytes());
  }

  void add_to_upload(Rows& rows) {
    if (rows.route != Route::upload) return;
    rows.at = upload_layout_.add(rows.count * rows.bytes());
    if (rows.view->negative != nullptr) rows.negative_at = upload_layout_.add(rows.count);
  }

  void add_gathered(Rows& rows) {
    if (rows.route == Route::gather) rows.at = device_layout_.add(rows.count * rows.bytes());
  }

  void bring_operands() {
    gather(modulus_);
    for (const Rows& rows : operands_) gather(rows);
    if (needs_list()) {
      std::memcpy(upload_ + list_at_, items_.list().data(), items_.list().size_bytes());
    }
    std::memcpy(upload_ + steps_at_, plan_.program.steps.data(), plan_.program.steps.size() * sizeof(Step));
    std::copy(pieces_.begin(), pieces_.end(), reinterpret_cast<Piece*>(upload_ + pieces_at_));
    workspace_.stream().copy_to_device(device_, upload_, upload_layout_.bytes());
    gather_on_device(modulus_);
    for (const Rows& rows : operands_) gather_on_device(rows);
    if (plan_.program.needs_start()) launch_start();
    for (const Rows& rows : operands_) {
      if (rows.reduce) launch_residues(rows);
    }
  }

  // Tests rows.shared, because the view's count is ambiguous if there are as many terms as items.
  void gather(const Rows& rows) const {
    if (rows.route != Route::upload) return;
    for (std::size_t i = 0; i < rows.count; ++i) {
      const std::size_t index = rows.shared ? i : items_[i / rows.terms] * rows.terms + i % rows.terms;
      std::memcpy(upload_ + rows.at + i * rows.bytes(), rows.view->magnitude(index).data(), rows.bytes());
      if (rows.view->negative != nullptr) {
        upload_[rows.negative_at + i] = std::byte{rows.view->is_negative(index)};
      }
    }
  }

  // The items' rows in a caller's array on the device.
  [[nodiscard]] RowsPlace place(const Limb* limbs, std::size_t stride, std::size_t terms) const {
    auto* const all = const_cast<Limb*>(limbs);
    if (in_one_run_) return {all + items_[0] * terms * stride, stride, nullptr};
    return {all, stride, reinterpret_cast<const std::uint64_t*>(device_ + list_at_)};
  }

  void gather_on_device(const Rows& rows) const {
    if (rows.route != Route::gather) return;
    RowsJob copy;
    copy.from = place(rows.view->limbs, rows.view->stride, rows.terms);
    copy.to = {reinterpret_cast<Limb*>(device_ + rows.at), rows.limbs, nullptr};
    copy.from_width = copy.to_width = static_cast<std::uint32_t>(rows.limbs);
    copy.terms = static_cast<std::uint32_t>(rows.terms);
    launch_copy_rows(workspace_.stream(), copy, rows.count);
  }

  void scatter_results() const {
    if (results_in_place()) return;
    RowsJob copy;
    copy.from = {reinterpret_cast<Limb*>(device_ + result_at_), plan_.limbs, nullptr};
    copy.to = place(job_.result.limbs, job_.result.stride, 1);
    copy.from_width = static_cast<std::uint32_t>(plan_.limbs);
    copy.to_width = static_cast<std::uint32_t>(job_.result.width);
    copy.left_out = refused();
    launch_copy_rows(workspace_.stream(), copy, items_.size());
  }

  [[nodiscard]] std::uint32_t* words_at(std::size_t offset) const {
    return reinterpret_cast<std::uint32_t*>(device_ + offset);
  }

  [[nodiscard]] std::uint8_t* refused() const {
    return plan_.may_refuse ? reinterpret_cast<std::uint8_t*>(device_ + refused_at_) : nullptr;
  }

  void bring_refused() const {
    if (!plan_.may_refuse) return;
    workspace_.stream().copy_to_host(download_ + refused_on_host_at_, refused(), items_.size());
  }

  [[nodiscard]] bool any_refused() const {
    if (!plan_.may_refuse) return false;
    return !all_zero(std::span<const std::byte>(download_ + refused_on_host_at_, items_.size()));
  }

  [[nodiscard]] bool is_refused(std::size_t i) const {
    return plan_.may_refuse && download_[refused_on_host_at_ + i] != std::byte{0};
  }

  // The rows as an operand of kernels: number i is row i.
  [[nodiscard]] DeviceOperand numbers(const Rows& rows) const {
    return {words_of(rows), words(rows.limbs), rows.count == 1 ? 0 : words(rows.stride)};
  }
  [[nodiscard]] DeviceOperand modulus() const { return numbers(modulus_); }

  [[nodiscard]] const std::uint32_t* words_of(const Rows& rows) const {
    if (rows.route != Route::in_place) return words_at(rows.at);
    return reinterpret_cast<const std::uint32_t*>(rows.view->limbs + items_[0] * rows.terms * rows.stride);
  }

  // Term t of each item, reduced if the operand is.
  [[nodiscard]] DeviceOperand term(const Rows& rows, std::size_t t) const {
    const std::uint32_t width = rows.reduce ? modulus_words() : words(rows.limbs);
    const std::size_t stride = rows.reduce ? width : words(rows.stride);
    const std::size_t count = rows.reduce ? rows.residues : rows.count;
    const std::uint32_t* const first = rows.reduce ? words_at(rows.residues_at) : words_of(rows);
    const bool shared = count == rows.terms;
    return {first + t * stride, width, shared ? 0 : static_cast<std::uint32_t>(stride * rows.terms)};
  }

  void launch_start() const {
    ResidueJob start;
    if (plan_.constants != nullptr) {
      start.value = plan_.constants->radix_squared();
    } else {
      start.zero_bits =
          plan_.shape.radix_bits + start_power(plan_.shape.radix_bits).bits - 32 * (modulus_words() - 2);
    }
    start.count = static_cast<std::uint32_t>(modulus_.count);
    launch_residue(start, start_at_);
  }

  void launch_residues(const Rows& rows) const {
    ResidueJob residue;
    residue.value = numbers(rows);
    residue.values = static_cast<std::uint32_t>(rows.count);
    if (rows.view->negative != nullptr) {
      residue.negative = reinterpret_cast<const std::uint8_t*>(device_ + rows.negative_at);
    }
    residue.count = static_cast<std::uint32_t>(rows.residues);
    residue.per_modulus = static_cast<std::uint32_t>(plan_.terms);
    launch_residue(residue, rows.residues_at);
  }

  void launch_residue(ResidueJob residue, std::size_t result_at) const {
    residue.modulus = modulus();
    residue.words = modulus_words();
    residue.result = words_at(result_at);
    residue.result_width = modulus_words();
    gpu::launch_residue(workspace_.stream(), residue);
  }

  void launch_program(std::uint32_t* table) const {
    ProgramJob program;
    program.steps = reinterpret_cast<const Step*>(device_ + steps_at_);
    program.step_count = static_cast<std::uint32_t>(plan_.program.steps.size());
    program.count = static_cast<std::uint32_t>(items_.size());
    program.modulus = modulus();
    program.start = {words_at(start_at_), modulus_words(), modulus_.shared ? 0 : modulus_words()};
    std::size_t index = 0;
    for (const Rows& rows : operands_) {
      for (std::size_t t = 0; t < plan_.terms; ++t) program.operands[index++] = term(rows, t);
    }
    program.result = results_in_place()
                         ? reinterpret_cast<std::uint32_t*>(job_.result.limbs + items_[0] * plan_.limbs)
                         : words_at(result_at_);
    program.result_width = modulus_words();
    program.pieces = reinterpret_cast<const Piece*>(device_ + pieces_at_);
    program.turns = plan_.turns.rotates();
    if (program.turns) {
      program.progress = words_at(progress_at_);
      workspace_.stream().set_bytes(program.progress, 0, progress_bytes());
    } else if (items_.size() * plan_.shape.threads > std::size_t{launch_.grid} * launch_.block) {
      program.claimed = words_at(claimed_at_);
      workspace_.stream().set_bytes(program.claimed, 0, sizeof(std::uint32_t));
    }
    program.table = table;
    program.comb = plan_.comb.table;
    program.comb_threads = plan_.comb.threads;
    program.scan = plan_.program.scan;
    program.slots = slots();
    if (plan_.constants != nullptr) program.constants = plan_.constants->constants();
    program.refused = refused();
    if (plan_.may_refuse) workspace_.stream().set_bytes(refused(), 0, items_.size());
    kernel().launch(workspace_.stream(), launch_, program);
  }

  void wipe_device() const {
    if (secret()) workspace_.stream().set_bytes(device_, 0, device_layout_.bytes());
  }

  // The results are not kept waiting while the device zeroes its memory: tables of powers are hundreds of
  // megabytes. Whoever uses the workspace next uses the same stream.
  void finish() const {
    workspace_.done().record(workspace_.stream());
    wipe_device();
    workspace_.done().wait();
    if (secret()) workspace_.wipe_upload();
  }

  [[nodiscard]] std::vector<std::size_t> store() const {
    std::vector<std::size_t> refused;
    if (in_one_run_ && job_.result.on_device && !any_refused()) {
      std::fill_n(job_.status + items_.front(), items_.size(), ItemStatus::ok);
    } else {
      store_each(refused);
    }
    if (secret()) wipe_bytes(download_, download_layout_.bytes());
    return refused;
  }

  void store_each(std::vector<std::size_t>& refused) const {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (is_refused(i)) {
        refused.push_back(items_[i]);
        continue;
      }
      if (!job_.result.on_device) store_item(i);
      job_.status[items_[i]] = ItemStatus::ok;
    }
  }

  void store_item(std::size_t i) const {
    const auto* const residue = reinterpret_cast<const Limb*>(download_) + i * plan_.limbs;
    store_result(job_, items_[i], {residue, plan_.limbs},
                 job_.modulus.magnitude(items_[i]).first(plan_.limbs));
  }
};

}  // namespace

std::size_t items_of_wave(Device& device, const Shape& shape) {
  return std::max<std::size_t>(1, resident_blocks(device, shape, shape.block) * shape.block / shape.threads);
}

std::vector<Wave> waves_of(Device& device, const Shape& shape) {
  std::vector<Wave> waves;
  for (unsigned block = shape.step; block <= shape.block; block += shape.step) {
    const std::size_t resident = resident_blocks(device, shape, block);
    waves.push_back({std::max<std::size_t>(1, resident), block / shape.threads});
  }
  return waves;
}

std::size_t upload_bytes_per_item(const ChunkPlan& plan) {
  const auto share = [](const BatchView& view, std::size_t limbs) {
    return view.on_device ? (limbs + kResidentShare - 1) / kResidentShare : limbs;
  };
  std::size_t limbs = share(plan.job.modulus, plan.limbs);
  for (const Operand& operand : plan.operands)
    limbs += share(*operand.view, operand.view->width * plan.terms);
  return limbs * sizeof(Limb);
}

std::vector<std::size_t> run_chunk(const ChunkPlan& plan, Items items, Workspace& workspace) {
  return ChunkRun(plan, items, workspace).run();
}

void queue_chunk(const ChunkPlan& plan, Items items, Workspace& workspace) {
  ChunkRun(plan, items, workspace).queue();
}

std::optional<DeviceBuffer> make_table(const ChunkPlan& plan, Workspace& workspace) {
  return ChunkRun(plan, Items::run(0, 1), workspace).run_for_table();
}

}  // namespace manymod::gpu

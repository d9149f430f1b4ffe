// SPDX-License-Identifier: Apache-2.0
#include "modmul/device/chunk_run.hpp"

#include <algorithm>
#include <cstring>

#include "modmul/device/launch.hpp"
#include "repr/store.hpp"
#include "repr/wipe.hpp"

namespace manymod::device {
namespace {

constexpr std::size_t kWordsPerLimb = sizeof(Limb) / sizeof(std::uint32_t);

// An operand of the call on its way: gathered to rows of `limbs` limbs, on the device perhaps reduced.
struct Rows {
  const BatchView* view = nullptr;
  std::size_t limbs = 0;
  std::size_t count = 0;  // of numbers: of all items, or those that all items share
  bool shared = false;
  bool reduce = false;
  std::size_t at = 0;           // in the upload
  std::size_t negative_at = 0;  // of a byte a number; used where the view has signs
  std::size_t residues_at = 0;  // on the device
  std::size_t residues = 0;     // how many

  [[nodiscard]] std::size_t bytes() const { return limbs * sizeof(Limb); }
};

class ChunkRun {
 public:
  ChunkRun(const ChunkPlan& plan, std::span<const std::size_t> items, Workspace& workspace)
      : plan_(plan),
        job_(plan.job),
        items_(items),
        workspace_(workspace),
        launch_(program_launch(plan.device, plan.shape, items.size())) {
    lay_out();
  }

  void run() {
    const cuda::Stream& stream = workspace_.stream();
    bring_operands();
    launch_program(words_at(table_at_));
    cuda::copy_to_host(stream, download_, device_ + result_at_, result_bytes());
    finish();
    store();
  }

  /// One warp for the first item; the table stays.
  cuda::DeviceBuffer run_for_table() {
    cuda::DeviceBuffer table(plan_.device, table_bytes());
    bring_operands();
    launch_program(table.as<std::uint32_t>());
    finish();
    return table;
  }

 private:
  const ChunkPlan& plan_;
  const Job& job_;
  std::span<const std::size_t> items_;
  Workspace& workspace_;
  Rows modulus_;
  std::vector<Rows> operands_;
  std::size_t steps_at_ = 0, start_at_ = 0, table_at_ = 0, result_at_ = 0;
  Layout upload_layout_;  // also the beginning of the device's memory
  Layout device_layout_;
  cuda::LaunchShape launch_;
  std::byte* upload_ = nullptr;
  std::byte* download_ = nullptr;
  std::byte* device_ = nullptr;

  [[nodiscard]] bool secret() const { return job_.timing == TimingClass::secret; }
  [[nodiscard]] std::uint32_t modulus_words() const {
    return static_cast<std::uint32_t>(plan_.limbs * kWordsPerLimb);
  }
  [[nodiscard]] std::size_t residue_bytes() const { return plan_.limbs * sizeof(Limb); }
  [[nodiscard]] std::size_t result_bytes() const { return items_.size() * residue_bytes(); }
  [[nodiscard]] std::size_t table_bytes() const {
    return std::size_t{launch_.grid} * launch_.block * plan_.program.slots * plan_.shape.lane_words *
           sizeof(std::uint32_t);
  }
  [[nodiscard]] const cuda::Kernel& kernel() const { return plan_.device.kernel(plan_.shape.kernel); }

  Rows rows_of(const BatchView& view, std::size_t limbs, std::size_t terms) const {
    Rows rows;
    rows.view = &view;
    rows.limbs = limbs;
    rows.shared = view.count == terms;
    rows.count = rows.shared ? terms : items_.size() * terms;
    return rows;
  }

  void lay_out() {
    modulus_ = rows_of(job_.modulus, plan_.limbs, 1);
    add_to_upload(modulus_);
    for (const Operand& operand : plan_.operands) {
      Rows rows = rows_of(*operand.view, operand.view->width, plan_.terms);
      rows.reduce =
          operand.entry == Entry::residue ||
          (operand.entry == Entry::factor && (rows.limbs > plan_.limbs || rows.view->negative != nullptr));
      // An operand that all items share has a residue for each modulus.
      rows.residues = rows.shared && !modulus_.shared ? items_.size() * plan_.terms : rows.count;
      add_to_upload(rows);
      operands_.push_back(rows);
    }
    steps_at_ = upload_layout_.add(plan_.program.steps.size() * sizeof(Step));
    device_layout_ = upload_layout_;
    start_at_ = device_layout_.add(modulus_.count * residue_bytes());
    for (Rows& rows : operands_) {
      if (rows.reduce) rows.residues_at = device_layout_.add(rows.residues * residue_bytes());
    }
    result_at_ = device_layout_.add(result_bytes());
    table_at_ = device_layout_.add(table_bytes());
    upload_ = workspace_.upload(upload_layout_.bytes());
    download_ = workspace_.download(result_bytes());
    device_ = workspace_.on_device(device_layout_.bytes());
  }

  void add_to_upload(Rows& rows) {
    rows.at = upload_layout_.add(rows.count * rows.bytes());
    if (rows.view->negative != nullptr) rows.negative_at = upload_layout_.add(rows.count);
  }

  void bring_operands() {
    gather(modulus_, 1);
    for (const Rows& rows : operands_) gather(rows, plan_.terms);
    std::memcpy(upload_ + steps_at_, plan_.program.steps.data(), plan_.program.steps.size() * sizeof(Step));
    cuda::copy_to_device(workspace_.stream(), device_, upload_, upload_layout_.bytes());
    launch_start();
    for (const Rows& rows : operands_) {
      if (rows.reduce) launch_residues(rows);
    }
  }

  // The view's count says nothing of an operand that has as many terms as there are items: rows_of asked.
  void gather(const Rows& rows, std::size_t terms) const {
    for (std::size_t i = 0; i < rows.count; ++i) {
      const std::size_t index = rows.shared ? i : items_[i / terms] * terms + i % terms;
      std::memcpy(upload_ + rows.at + i * rows.bytes(), rows.view->magnitude(index).data(), rows.bytes());
      if (rows.view->negative != nullptr) {
        upload_[rows.negative_at + i] = std::byte{rows.view->is_negative(index)};
      }
    }
  }

  [[nodiscard]] std::uint32_t* words_at(std::size_t offset) const {
    return reinterpret_cast<std::uint32_t*>(device_ + offset);
  }

  // Number i of the rows.
  [[nodiscard]] DeviceOperand numbers(const Rows& rows) const {
    const auto width = static_cast<std::uint32_t>(rows.limbs * kWordsPerLimb);
    return {words_at(rows.at), width, rows.count == 1 ? 0 : width};
  }
  [[nodiscard]] DeviceOperand modulus() const { return numbers(modulus_); }

  // Term t of each item.
  [[nodiscard]] DeviceOperand term(const Rows& rows, std::size_t t) const {
    const auto width = static_cast<std::uint32_t>(rows.reduce ? modulus_words() : rows.limbs * kWordsPerLimb);
    const std::size_t count = rows.reduce ? rows.residues : rows.count;
    const auto stride = static_cast<std::uint32_t>(count == plan_.terms ? 0 : width * plan_.terms);
    return {words_at(rows.reduce ? rows.residues_at : rows.at) + t * width, width, stride};
  }

  void launch_start() const {
    ResidueJob start;
    start.zero_bits =
        plan_.shape.radix_bits + start_power(plan_.shape.radix_bits).bits - 32 * (modulus_words() - 2);
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
    device::launch_residue(workspace_.stream(), residue);
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
    program.result = words_at(result_at_);
    program.result_width = modulus_words();
    program.table = table;
    program.comb = plan_.comb.table;
    program.comb_threads = plan_.comb.threads;
    program.scan = plan_.program.scan;
    kernel().launch(workspace_.stream(), launch_, program);
  }

  void finish() const {
    if (secret()) cuda::set_bytes(workspace_.stream(), device_, 0, device_layout_.bytes());
    workspace_.done().record(workspace_.stream());
    workspace_.done().wait();
    if (secret()) wipe_bytes(upload_, upload_layout_.bytes());
  }

  void store() const {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto* const residue = reinterpret_cast<const Limb*>(download_) + i * plan_.limbs;
      store_result(job_, items_[i], {residue, plan_.limbs},
                   job_.modulus.magnitude(items_[i]).first(plan_.limbs));
      job_.status[items_[i]] = ItemStatus::ok;
    }
    if (secret()) wipe_bytes(download_, result_bytes());
  }
};

}  // namespace

std::size_t items_at_a_time(cuda::Device& device, const Shape& shape) {
  const std::size_t blocks =
      device.kernel(shape.kernel).blocks_per_multiprocessor(shape.block, shared_bytes(shape, shape.block));
  return std::max<std::size_t>(1, blocks * device.properties().multiprocessors * shape.block / shape.threads);
}

std::size_t upload_bytes_per_item(const ChunkPlan& plan) {
  std::size_t limbs = plan.limbs;
  for (const Operand& operand : plan.operands) limbs += operand.view->width * plan.terms;
  return limbs * sizeof(Limb);
}

void run_chunk(const ChunkPlan& plan, std::span<const std::size_t> items, Workspace& workspace) {
  ChunkRun(plan, items, workspace).run();
}

cuda::DeviceBuffer make_table(const ChunkPlan& plan, Workspace& workspace) {
  const std::size_t first = 0;
  return ChunkRun(plan, {&first, 1}, workspace).run_for_table();
}

}  // namespace manymod::device

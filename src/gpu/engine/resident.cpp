// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/resident.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "gpu/buffer.hpp"
#include "gpu/kernels/facts.cuda.hpp"
#include "repr/wipe.hpp"

namespace manymod::gpu {
namespace {

constexpr std::size_t kFactsPerLaunch = std::size_t{1} << 22;
// mm_exponent_range: the largest number of threads, the least number of exponents per thread, and the largest
// number of exponents per launch, which are counted in 32 bits.
constexpr std::size_t kRangeThreads = std::size_t{1} << 14;
constexpr std::size_t kRangeShare = 8;
constexpr std::size_t kRangePerLaunch = std::size_t{1} << 31;
constexpr std::size_t kTransferBytes = std::size_t{32} << 20;  // enough to be copied at full speed
constexpr std::size_t kElementsPerLaunch = std::size_t{1} << 31;

bool exponents_are_public(const Job& job) {
  if (job.timing == TimingClass::secret) return false;
  return job.op == Operation::powmod || job.op == Operation::multi_powmod ||
         job.op == Operation::fixed_base_powmod;
}

// Whether the lengths of individual exponents matter. If they differ, they determine the order of the items
// and the exponent length of each chunk; if the items form several buckets, each bucket has its own longest
// exponent.
bool single_lengths_matter(const Job& job, const DeviceFacts& facts) {
  const bool one_bucket = job.modulus.broadcast() || facts.all_moduli;
  return !facts.exponents.nearly_equal(job.y.count) || (job.op == Operation::powmod && !one_bucket);
}

unsigned blocks_for(std::size_t threads, unsigned block) {
  return static_cast<unsigned>((threads + block - 1) / block);
}

template <class FactsJob>
void launch_facts(const Stream& stream, const char* kernel, const FactsJob& job) {
  stream.device().kernel(kernel).launch(stream, {blocks_for(job.count, kFactsBlock), kFactsBlock, 0}, job);
}

// Copies to the host and waits for the copy.
void receive_from(const Workspace& workspace, void* host, const void* device, std::size_t bytes) {
  workspace.stream().copy_to_host(host, device, bytes);
  workspace.done().record(workspace.stream());
  workspace.done().wait();
}

FactsOperand facts_operand(const BatchView& view, std::size_t first) {
  return {view.limbs + first * view.stride, view.stride, view.width};
}

}  // namespace

bool consecutive(Items items) {
  if (items.is_run()) return true;
  if (items.back() - items.front() != items.size() - 1) return false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] != items[0] + i) return false;
  }
  return true;
}

void launch_copy_rows(const Stream& stream, RowsJob job, std::size_t rows) {
  if (job.to_width == 0) return;
  const std::size_t most = std::max<std::size_t>(1, kElementsPerLaunch / job.to_width);
  const Kernel& kernel = stream.device().kernel("mm_copy_rows");
  for (std::size_t first = 0; first < rows; first += most) {
    job.first_row = first;
    job.count = static_cast<std::uint32_t>(std::min(most, rows - first) * job.to_width);
    kernel.launch(stream, {blocks_for(job.count, kRowsBlock), kRowsBlock, 0}, job);
  }
}

// Moves rows of some items between the host and a caller's array: they are packed in pinned memory and in
// scratch memory of the device, and a kernel copies them between the scratch memory and the array.
class ResidentArrays::Transfer {
 public:
  Transfer(Workspace& workspace, bool secret, Items items, std::size_t rows, std::size_t width)
      : workspace_(workspace), secret_(secret), items_(items), rows_(rows), width_(width) {
    list_bytes_ = consecutive(items) ? 0 : items.list().size_bytes();
    layout_.add(list_bytes_);
    packed_at_ = layout_.add(packed_bytes());
    scratch_ = workspace_.on_device(layout_.bytes());
    list_ = workspace_.upload(std::max<std::size_t>(1, list_bytes_));
    packed_ = workspace_.download(std::max<std::size_t>(1, packed_bytes()));
  }

  void to_host(const BatchView& view, std::size_t terms, Limb* rows) {
    const RowsPlace from = place(const_cast<Limb*>(view.limbs), view.stride, terms);
    const Stream& stream = workspace_.stream();
    if (from.items == nullptr && (view.stride == width_ || rows_ == 1)) {
      stream.copy_to_host(packed_, from.limbs, packed_bytes());
    } else {
      launch_copy_rows(stream, job(from, {scratch_rows(), width_, nullptr}, terms), rows_);
      stream.copy_to_host(packed_, scratch_rows(), packed_bytes());
    }
    finish();
    std::memcpy(rows, packed_, packed_bytes());
    if (secret_) wipe_bytes(packed_, packed_bytes());
  }

  void to_device(const BatchResult& result, const Limb* rows) {
    std::memcpy(packed_, rows, packed_bytes());
    workspace_.stream().copy_to_device(scratch_rows(), packed_, packed_bytes());
    scatter(result, {scratch_rows(), width_, nullptr});
    finish();
    if (secret_) wipe_bytes(packed_, packed_bytes());
  }

  void zero(const BatchResult& result) {
    scatter(result, {});
    finish();
  }

 private:
  Workspace& workspace_;
  const bool secret_;
  Items items_;
  std::size_t rows_, width_;
  BufferLayout layout_;
  std::size_t list_bytes_ = 0, packed_at_ = 0;
  std::byte *scratch_ = nullptr, *list_ = nullptr, *packed_ = nullptr;

  [[nodiscard]] std::size_t packed_bytes() const { return rows_ * width_ * sizeof(Limb); }
  [[nodiscard]] Limb* scratch_rows() const { return reinterpret_cast<Limb*>(scratch_ + packed_at_); }

  // The items' rows in a caller's array; enqueues the upload of the list of items if one is needed.
  RowsPlace place(Limb* limbs, std::size_t stride, std::size_t terms) {
    if (list_bytes_ == 0) return {limbs + items_[0] * terms * stride, stride, nullptr};
    static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
    std::memcpy(list_, items_.list().data(), list_bytes_);
    workspace_.stream().copy_to_device(scratch_, list_, list_bytes_);
    return {limbs, stride, reinterpret_cast<const std::uint64_t*>(scratch_)};
  }

  void scatter(const BatchResult& result, const RowsPlace& from) {
    RowsJob copy = job(from, place(result.limbs, result.stride, 1), 1);
    copy.to_width = static_cast<std::uint32_t>(result.width);
    launch_copy_rows(workspace_.stream(), copy, rows_);
  }

  [[nodiscard]] RowsJob job(const RowsPlace& from, const RowsPlace& to, std::size_t terms) const {
    RowsJob job;
    job.from = from;
    job.to = to;
    job.from_width = job.to_width = static_cast<std::uint32_t>(width_);
    job.terms = static_cast<std::uint32_t>(terms);
    return job;
  }

  void finish() {
    if (secret_) workspace_.stream().set_bytes(scratch_, 0, layout_.bytes());
    workspace_.done().record(workspace_.stream());
    workspace_.done().wait();
  }
};

void ResidentArrays::wait_for(void* stream) const {
  const std::unique_ptr<Event> done = device_.make_event();
  done->record(*device_.borrow_stream(stream));
  done->wait();
}

DeviceFacts ResidentArrays::facts(const Job& job, std::size_t modulus_bits) const {
  DeviceFacts facts;
  workspaces_.lend([&](Workspace& workspace) {
    if (job.modulus.on_device) find_modulus_facts(job, modulus_bits, workspace, facts);
    if (!job.y.on_device || !exponents_are_public(job)) return;
    facts.exponents = exponent_range(job, workspace);
    if (single_lengths_matter(job, facts)) find_exponent_bits(job, workspace, facts);
  });
  return facts;
}

// Where all moduli have the same facts, only one of them is copied to the host.
void ResidentArrays::find_modulus_facts(const Job& job, std::size_t modulus_bits, Workspace& workspace,
                                        DeviceFacts& facts) {
  const std::size_t count = job.modulus.count, most = std::min(count, kFactsPerLaunch);
  const std::size_t bytes = sizeof(std::uint32_t) + most * sizeof(ModulusFact);
  std::byte* const scratch = workspace.on_device(bytes);
  std::byte* const received = workspace.download(bytes);
  const auto receive = [&](std::size_t some) {
    receive_from(workspace, received, scratch, sizeof(std::uint32_t) + some * sizeof(ModulusFact));
  };
  const auto* const found = reinterpret_cast<const ModulusFact*>(received + sizeof(std::uint32_t));
  ModulusFactsJob find;
  find.first = facts_operand(job.modulus, 0);
  find.secret = job.timing == TimingClass::secret;
  find.modulus_bits = modulus_bits;
  find.different = reinterpret_cast<std::uint32_t*>(scratch);
  find.facts = reinterpret_cast<ModulusFact*>(scratch + sizeof(std::uint32_t));
  facts = {};
  for (std::size_t first = 0; first < count; first += most) {
    find.moduli = facts_operand(job.modulus, first);
    find.count = static_cast<std::uint32_t>(std::min(most, count - first));
    workspace.stream().set_bytes(scratch, 0, sizeof(std::uint32_t));
    launch_facts(workspace.stream(), "mm_modulus_facts", find);
    receive(1);
    if (first == 0) facts.all_moduli = *found;
    std::uint32_t different = 0;
    std::memcpy(&different, received, sizeof different);
    if (different == 0) continue;
    if (facts.moduli.empty()) facts.moduli.assign(count, *facts.all_moduli);
    receive(find.count);
    std::copy_n(found, find.count, facts.moduli.begin() + static_cast<std::ptrdiff_t>(first));
  }
  if (!facts.moduli.empty()) facts.all_moduli.reset();
}

// For large batches this copies much less to the host than the length of each exponent would take.
LengthRange ResidentArrays::exponent_range(const Job& job, Workspace& workspace) {
  const std::size_t count = job.y.count;
  const unsigned blocks =
      blocks_for(std::min((count + kRangeShare - 1) / kRangeShare, kRangeThreads), kFactsBlock);
  const std::size_t shares = std::size_t{blocks} * kFactsBlock, bytes = shares * sizeof(LengthRange);
  std::byte* const scratch = workspace.on_device(bytes);
  std::byte* const received = workspace.download(bytes);
  ExponentRangeJob find;
  find.ranges = reinterpret_cast<LengthRange*>(scratch);
  const Kernel& kernel = workspace.stream().device().kernel("mm_exponent_range");
  LengthRange all;
  for (std::size_t first = 0; first < count; first += kRangePerLaunch) {
    find.exponents = facts_operand(job.y, first);
    find.count = static_cast<std::uint32_t>(std::min(kRangePerLaunch, count - first));
    kernel.launch(workspace.stream(), {blocks, kFactsBlock, 0}, find);
    receive_from(workspace, received, scratch, bytes);
    const auto* const ranges = reinterpret_cast<const LengthRange*>(received);
    for (std::size_t i = 0; i < shares; ++i) all.add(ranges[i]);
  }
  return all;
}

void ResidentArrays::find_exponent_bits(const Job& job, Workspace& workspace, DeviceFacts& facts) {
  const std::size_t count = job.y.count, most = std::min(count, kFactsPerLaunch);
  std::byte* const scratch = workspace.on_device(most * sizeof(std::uint32_t));
  std::byte* const received = workspace.download(most * sizeof(std::uint32_t));
  ExponentBitsJob find;
  find.bits = reinterpret_cast<std::uint32_t*>(scratch);
  facts.exponent_bits.resize(count);
  for (std::size_t first = 0; first < count; first += most) {
    find.exponents = facts_operand(job.y, first);
    find.count = static_cast<std::uint32_t>(std::min(most, count - first));
    launch_facts(workspace.stream(), "mm_exponent_bits", find);
    const std::size_t bytes = find.count * sizeof(std::uint32_t);
    receive_from(workspace, received, scratch, bytes);
    std::memcpy(facts.exponent_bits.data() + first, received, bytes);
  }
}

limbs::Buffer ResidentArrays::rows(const BatchView& view, Items items, std::size_t terms,
                                   std::size_t width) const {
  const std::size_t item_limbs = terms * width;
  limbs::Buffer rows(items.size() * item_limbs);
  const std::size_t most = std::max<std::size_t>(1, kTransferBytes / (item_limbs * sizeof(Limb)));
  for (std::size_t first = 0; first < items.size(); first += most) {
    const auto some = items.subspan(first, std::min(most, items.size() - first));
    workspaces_.lend([&](Workspace& workspace) {
      Transfer(workspace, secret_, some, some.size() * terms, width)
          .to_host(view, terms, rows.data() + first * item_limbs);
    });
  }
  return rows;
}

void ResidentArrays::store(const BatchResult& result, Items items, const limbs::Buffer& rows,
                           std::size_t width) const {
  const std::size_t most = std::max<std::size_t>(1, kTransferBytes / (width * sizeof(Limb)));
  for (std::size_t first = 0; first < items.size(); first += most) {
    const auto some = items.subspan(first, std::min(most, items.size() - first));
    workspaces_.lend([&](Workspace& workspace) {
      Transfer(workspace, secret_, some, some.size(), width).to_device(result, rows.data() + first * width);
    });
  }
}

void ResidentArrays::zero(const BatchResult& result, Items items) const {
  if (items.empty()) return;
  workspaces_.lend(
      [&](Workspace& workspace) { Transfer(workspace, secret_, items, items.size(), 0).zero(result); });
}

}  // namespace manymod::gpu

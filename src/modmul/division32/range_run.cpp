// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/range_run.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "gpu/engine/resident.hpp"
#include "modmul/division32/host_rows.hpp"
#include "modmul/division32/shared_divisor.hpp"

namespace manymod::division32 {
namespace {

constexpr std::size_t kWordsPerLimb = 2;
// Waiting for less work than this by spinning costs less than being woken up would.
constexpr std::size_t kShortLimbs = std::size_t{1} << 22;
constexpr std::uintptr_t kQuadBytes = 16;

bool in_quads(const void* words, std::size_t stride, std::size_t width) {
  return reinterpret_cast<std::uintptr_t>(words) % kQuadBytes == 0 && stride % 2 == 0 && width % 2 == 0;
}

std::uint32_t words_of(std::size_t limbs) { return static_cast<std::uint32_t>(limbs * kWordsPerLimb); }

void write_words(std::span<const Limb> limbs, std::uint32_t* words) {
  for (std::size_t j = 0; j < limbs.size(); ++j) {
    words[2 * j] = static_cast<std::uint32_t>(limbs[j]);
    words[2 * j + 1] = static_cast<std::uint32_t>(limbs[j] >> 32);
  }
}

// Terms of a part: fewer would cost more launches, more leave multiprocessors idle for longer.
constexpr std::size_t kTermsOfPart = 16;
// The threads that the largest GPUs hold at a time, about.
constexpr std::size_t kThreads = std::size_t{1} << 18;

}  // namespace

PreparedDivisor::PreparedDivisor(std::span<const Limb> modulus, unsigned words)
    : modulus_(modulus.size()), words_(words), divisor_(shared_divisor(modulus, words)) {
  std::copy(modulus.begin(), modulus.end(), modulus_.data());
}

SharedDivisor PreparedDivisor::in_words(unsigned words) const {
  if (words == words_) return divisor_;
  return shared_divisor(modulus_.first(modulus_.size()), words);
}

void PreparedDivisor::write(std::span<std::uint32_t> words) const {
  write_words(modulus_.first(modulus_.size()), words.data());
}

RowOperation row_operation(Operation op) {
  switch (op) {
    case Operation::addmod:
      return RowOperation::add;
    case Operation::submod:
    case Operation::negmod:
      return RowOperation::subtract;
    case Operation::summod:
      return RowOperation::sum;
    case Operation::dotmod:
      return RowOperation::dot;
    case Operation::prodmod:
      return RowOperation::product;
    default:
      return RowOperation::multiply;
  }
}

std::size_t widest(const manymod::Job& job, std::size_t modulus_limbs) {
  return std::max({modulus_limbs, job.x.width, has_y(job.op) ? job.y.width : 0, job.z.width});
}

std::size_t terms_of(const manymod::Job& job) { return has_terms(job.op) ? job.terms : 1; }

std::vector<Stage> stages_of(std::size_t items, std::size_t terms, unsigned threads) {
  const std::size_t most = std::max<std::size_t>(1, kThreads / (items * threads));
  std::vector<Stage> stages;
  for (;;) {
    const bool few = terms <= 2 * kTermsOfPart;
    const std::size_t parts = few ? 1 : std::min(most, (terms + kTermsOfPart - 1) / kTermsOfPart);
    stages.push_back({terms, parts});
    if (parts == 1) return stages;
    terms = parts;
  }
}

RangeRun::RangeRun(const Range& range, Items items, gpu::Workspace& workspace, const gpu::Stream& stream)
    : range_(range),
      call_(range.call),
      items_(items),
      workspace_(workspace),
      stream_(stream),
      shape_(shape_for(row_operation(call_.op), kWordsPerLimb * widest(call_, range.modulus_limbs))),
      stages_(stages_of(items.size(), terms_of(call_), shape_.threads)) {
  job_.operation = row_operation(call_.op);
  job_.count = static_cast<std::uint32_t>(items_.size());
  lay_out();
}

std::size_t RangeRun::result_limbs() const {
  return call_.result.on_device ? call_.result.width : range_.modulus_limbs;
}

void RangeRun::lay_out() {
  Rows x = rows_of(call_.x, call_.x.width, 0, terms_of(call_)), y;
  if (has_y(call_.op)) y = rows_of(call_.y, call_.y.width, 1, terms_of(call_));
  if (call_.op == Operation::fmamod) job_.z = rows_of(call_.z, call_.z.width, 3, 1);
  if (range_.shared == nullptr) {
    job_.modulus = rows_of(call_.modulus, range_.modulus_limbs, 2, 1);
  } else {
    job_.modulus = {nullptr, 0, 0, words_of(range_.modulus_limbs), 2, range_.modulus_limbs % 2 == 0};
    range_.shared->write(job_.shared[2]);
    job_.divisor = range_.shared->in_words(shape_.words());
  }
  device_layout_ = upload_layout_;
  if (range_.shared == nullptr) {
    kinds_at_ = device_layout_.add(items_.size() * sizeof(ModulusClass));
    download_layout_.add(std::max(sizeof(std::uint32_t), items_.size() * sizeof(ModulusClass)));
  }
  add_partials();
  const std::size_t result_bytes = items_.size() * result_limbs() * sizeof(Limb);
  if (!call_.result.on_device) {
    results_at_ = device_layout_.add(result_bytes);
    results_on_host_at_ = download_layout_.add(result_bytes);
  }
  if (upload_layout_.bytes() > 0) upload_ = workspace_.upload(upload_layout_.bytes());
  if (device_layout_.bytes() > 0) device_ = workspace_.on_device(device_layout_.bytes());
  if (download_layout_.bytes() > 0) download_ = workspace_.download(download_layout_.bytes());
  Rows* const rows[] = {&x, &y, &job_.modulus, &job_.z};
  for (unsigned i = 0; i < std::size(rows); ++i) {
    if (uploads_[i].view != nullptr) {
      rows[i]->words = reinterpret_cast<const std::uint32_t*>(device_ + uploads_[i].at);
    }
  }
  // The kernels compute -x as 0 - x.
  job_.x = call_.op == Operation::negmod ? Rows{} : x;
  job_.y = call_.op == Operation::negmod ? x : y;
  place_results();
}

// Residues of parts, which one launch leaves to the next, lie in two places in turn.
void RangeRun::add_partials() {
  for (std::size_t i = 0; i + 1 < stages_.size() && i < std::size(partial_at_); ++i) {
    const std::size_t residues = items_.size() * stages_[i].parts;
    partial_at_[i] = device_layout_.add(residues * range_.modulus_limbs * sizeof(Limb));
  }
}

// What the launch of that stage leaves, as terms of the next one.
Rows RangeRun::partials(std::size_t stage) const {
  Rows rows;
  rows.words = reinterpret_cast<const std::uint32_t*>(device_ + partial_at_[stage % std::size(partial_at_)]);
  rows.width = words_of(range_.modulus_limbs);
  rows.term_stride = rows.width;
  rows.stride = stages_[stage].parts * rows.width;
  rows.quads = range_.modulus_limbs % 2 == 0;
  return rows;
}

// An integer that all items share goes into the kernel's argument, or is read in place.
Rows RangeRun::rows_of(const BatchView& view, std::size_t limbs, unsigned place, std::size_t terms) {
  Rows rows;
  rows.width = words_of(limbs);
  const bool of_all = view.count == terms;  // one set of terms for all items
  const std::size_t first = of_all ? 0 : items_[0] * terms;
  if (!view.on_device && view.broadcast()) {
    rows.quads = limbs % 2 == 0;
    rows.shared = place;
    write_words(view.magnitude(0).first(limbs), job_.shared[place]);
    return rows;
  }
  std::size_t stride = limbs;
  if (view.on_device) {
    stride = view.broadcast() ? 0 : view.stride;
    rows.words = reinterpret_cast<const std::uint32_t*>(view.limbs + first * stride);
    rows.quads = in_quads(rows.words, stride, limbs);
  } else {
    rows.quads = limbs % 2 == 0;
    const std::size_t count = of_all ? terms : items_.size() * terms;
    uploads_[place] = {&view, limbs, first, count, terms, upload_layout_.add(count * limbs * sizeof(Limb))};
  }
  rows.term_stride = stride * kWordsPerLimb;
  rows.stride = of_all ? 0 : terms * rows.term_stride;
  return rows;
}

void RangeRun::place_results() {
  const BatchResult& result = call_.result;
  job_.result_width = words_of(result_limbs());
  std::size_t stride = result_limbs();
  Limb* first = nullptr;
  if (result.on_device) {
    stride = result.stride;
    first = result.limbs + items_[0] * stride;
  } else {
    first = reinterpret_cast<Limb*>(device_ + results_at_);
  }
  job_.result = reinterpret_cast<std::uint32_t*>(first);
  job_.result_stride = stride * kWordsPerLimb;
  job_.result_quads = in_quads(first, stride, result_limbs());
  if (range_.shared != nullptr) return;
  job_.modulus_bits = static_cast<std::uint32_t>(range_.modulus_bits);
  job_.kinds = reinterpret_cast<ModulusClass*>(device_ + kinds_at_);
  job_.failed = reinterpret_cast<std::uint32_t*>(download_);
  *job_.failed = 0;
}

void RangeRun::gather(const Upload& upload) const {
  if (upload.view == nullptr) return;
  const std::size_t bytes = upload.limbs * sizeof(Limb);
  std::byte* const to = upload_ + upload.at;
  const bool in_order = upload.count == upload.terms || gpu::consecutive(items_);
  if (upload.view->stride == upload.limbs && in_order) {
    std::memcpy(to, upload.view->magnitude(upload.first).data(), upload.count * bytes);
    return;
  }
  for (std::size_t i = 0; i < upload.count; ++i) {
    const std::size_t from =
        in_order ? upload.first + i : items_[i / upload.terms] * upload.terms + i % upload.terms;
    std::memcpy(to + i * bytes, upload.view->magnitude(from).data(), bytes);
  }
}

void RangeRun::launch_stage(std::size_t stage) const {
  Job job = job_;
  const Shape* shape = &shape_;
  job.terms = static_cast<std::uint32_t>(stages_[stage].terms);
  job.parts = static_cast<std::uint32_t>(stages_[stage].parts);
  if (stage > 0) {
    if (job.operation == RowOperation::dot) job.operation = RowOperation::sum;
    job.x = partials(stage - 1);
    shape = &shape_for(job.operation, job.modulus.width);
    if (range_.shared != nullptr) job.divisor = range_.shared->in_words(shape->words());
  }
  if (stage + 1 < stages_.size()) {
    const Rows left = partials(stage);
    job.result = const_cast<std::uint32_t*>(left.words);
    job.result_stride = job.result_width = left.width;
    job.result_quads = left.quads;
    job.count = static_cast<std::uint32_t>(items_.size() * stages_[stage].parts);
    job.kinds = nullptr;
  }
  launch(stream_, *shape, job);
}

void RangeRun::start() {
  for (const Upload& upload : uploads_) gather(upload);
  stream_.copy_to_device(device_, upload_, upload_layout_.bytes());
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) launch_stage(stage);
  if (call_.result.on_device) return;
  const std::size_t bytes = items_.size() * result_limbs() * sizeof(Limb);
  stream_.copy_to_host(download_ + results_on_host_at_, device_ + results_at_, bytes);
}

void RangeRun::wait() const {
  if (items_.size() * terms_of(call_) * widest(call_, range_.modulus_limbs) <= kShortLimbs) {
    stream_.synchronize();
    return;
  }
  workspace_.done().record(stream_);
  workspace_.done().wait();
}

std::vector<ModulusClass> RangeRun::wait_for_kinds() const {
  wait();
  if (job_.failed == nullptr || *job_.failed == 0) return {};
  stream_.copy_to_host(download_, device_ + kinds_at_, items_.size() * sizeof(ModulusClass));
  stream_.synchronize();
  const auto* const found = reinterpret_cast<const ModulusClass*>(download_);
  return {found, found + items_.size()};
}

std::vector<ModulusClass> RangeRun::finish() {
  std::vector<ModulusClass> kinds;
  if (call_.result.on_device) {
    gpu::without_repetition([&] { kinds = wait_for_kinds(); });
  } else {
    kinds = wait_for_kinds();
    store_rows(call_, items_, result_limbs(), reinterpret_cast<const Limb*>(download_ + results_on_host_at_));
  }
  return kinds;
}

}  // namespace manymod::division32

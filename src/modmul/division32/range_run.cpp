// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/range_run.hpp"

#include <algorithm>
#include <cstring>

#include "engine/store.hpp"
#include "gpu/engine/resident.hpp"
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

bool reads_y(Operation op) {
  return op == Operation::addmod || op == Operation::submod || op == Operation::mulmod;
}

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
    default:
      return RowOperation::multiply;
  }
}

std::size_t widest(const manymod::Job& job, std::size_t modulus_limbs) {
  return std::max({modulus_limbs, job.x.width, reads_y(job.op) ? job.y.width : 0});
}

RangeRun::RangeRun(const Range& range, Items items, gpu::Workspace& workspace, const gpu::Stream& stream)
    : range_(range),
      call_(range.call),
      items_(items),
      workspace_(workspace),
      stream_(stream),
      shape_(shape_for(row_operation(call_.op), kWordsPerLimb * widest(call_, range.modulus_limbs))) {
  job_.operation = row_operation(call_.op);
  job_.count = static_cast<std::uint32_t>(items_.size());
  lay_out();
}

std::size_t RangeRun::result_limbs() const {
  return call_.result.on_device ? call_.result.width : range_.modulus_limbs;
}

void RangeRun::lay_out() {
  Rows x = rows_of(call_.x, call_.x.width, 0), y;
  if (reads_y(call_.op)) y = rows_of(call_.y, call_.y.width, 1);
  if (range_.shared == nullptr) {
    job_.modulus = rows_of(call_.modulus, range_.modulus_limbs, 2);
  } else {
    job_.modulus = {nullptr, 0, words_of(range_.modulus_limbs), 2, range_.modulus_limbs % 2 == 0};
    range_.shared->write(job_.shared[2]);
    job_.divisor = range_.shared->in_words(shape_.words());
  }
  device_layout_ = upload_layout_;
  if (range_.shared == nullptr) {
    kinds_at_ = device_layout_.add(items_.size() * sizeof(ModulusClass));
    download_layout_.add(std::max(sizeof(std::uint32_t), items_.size() * sizeof(ModulusClass)));
  }
  const std::size_t result_bytes = items_.size() * result_limbs() * sizeof(Limb);
  if (!call_.result.on_device) {
    results_at_ = device_layout_.add(result_bytes);
    results_on_host_at_ = download_layout_.add(result_bytes);
  }
  if (upload_layout_.bytes() > 0) upload_ = workspace_.upload(upload_layout_.bytes());
  if (device_layout_.bytes() > 0) device_ = workspace_.on_device(device_layout_.bytes());
  if (download_layout_.bytes() > 0) download_ = workspace_.download(download_layout_.bytes());
  Rows* const rows[] = {&x, &y, &job_.modulus};
  for (unsigned i = 0; i < 3; ++i) {
    if (uploads_[i].view != nullptr) {
      rows[i]->words = reinterpret_cast<const std::uint32_t*>(device_ + uploads_[i].at);
    }
  }
  // The kernels compute -x as 0 - x.
  job_.x = call_.op == Operation::negmod ? Rows{} : x;
  job_.y = call_.op == Operation::negmod ? x : y;
  place_results();
}

// An integer that all items share goes into the kernel's argument, or is read in place.
Rows RangeRun::rows_of(const BatchView& view, std::size_t limbs, unsigned place) {
  Rows rows;
  rows.width = words_of(limbs);
  if (view.on_device) {
    const std::size_t stride = view.broadcast() ? 0 : view.stride;
    const Limb* const first = view.limbs + items_[0] * stride;
    rows.words = reinterpret_cast<const std::uint32_t*>(first);
    rows.stride = stride * kWordsPerLimb;
    rows.quads = in_quads(first, stride, limbs);
    return rows;
  }
  rows.quads = limbs % 2 == 0;
  if (view.broadcast()) {
    rows.shared = place;
    write_words(view.magnitude(0).first(limbs), job_.shared[place]);
    return rows;
  }
  rows.stride = rows.width;
  uploads_[place] = {&view, limbs, upload_layout_.add(items_.size() * limbs * sizeof(Limb))};
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
  if (upload.view->stride == upload.limbs && gpu::consecutive(items_)) {
    std::memcpy(to, upload.view->magnitude(items_[0]).data(), items_.size() * bytes);
    return;
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    std::memcpy(to + i * bytes, upload.view->magnitude(items_[i]).data(), bytes);
  }
}

void RangeRun::start() {
  for (const Upload& upload : uploads_) gather(upload);
  stream_.copy_to_device(device_, upload_, upload_layout_.bytes());
  launch(stream_, shape_, job_);
  if (call_.result.on_device) return;
  const std::size_t bytes = items_.size() * result_limbs() * sizeof(Limb);
  stream_.copy_to_host(download_ + results_on_host_at_, device_ + results_at_, bytes);
}

void RangeRun::wait() const {
  if (items_.size() * widest(call_, range_.modulus_limbs) <= kShortLimbs) {
    stream_.synchronize();
    return;
  }
  workspace_.done().record(stream_);
  workspace_.done().wait();
}

std::vector<ModulusClass> RangeRun::finish() {
  wait();
  std::vector<ModulusClass> kinds;
  if (job_.failed != nullptr && *job_.failed != 0) {
    stream_.copy_to_host(download_, device_ + kinds_at_, items_.size() * sizeof(ModulusClass));
    stream_.synchronize();
    const auto* const found = reinterpret_cast<const ModulusClass*>(download_);
    kinds.assign(found, found + items_.size());
  }
  if (!call_.result.on_device) store_results(kinds);
  return kinds;
}

void RangeRun::store_results(const std::vector<ModulusClass>& kinds) const {
  const std::size_t limbs = result_limbs();
  const auto* const residues = reinterpret_cast<const Limb*>(download_ + results_on_host_at_);
  const bool plain = call_.modulus.negative == nullptr && call_.result.negative == nullptr &&
                     call_.result.stride == limbs && call_.result.width == limbs && gpu::consecutive(items_);
  if (plain) {
    std::memcpy(call_.result.magnitude(items_[0]).data(), residues, items_.size() * limbs * sizeof(Limb));
    return;
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const std::span<const Limb> residue{residues + i * limbs, limbs};
    const bool good = kinds.empty() || kinds[i] == ModulusClass::compute;
    if (call_.modulus.negative != nullptr && good) {
      store_result(call_, items_[i], residue, call_.modulus.magnitude(items_[i]).first(limbs));
      continue;
    }
    limbs::copy_extend(call_.result.magnitude(items_[i]), residue);
    if (call_.result.negative != nullptr) call_.result.negative[items_[i]] = 0;
  }
}

}  // namespace manymod::division32

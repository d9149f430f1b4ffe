// SPDX-License-Identifier: Apache-2.0
#include "modmul/division32/row_run.opencl.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gpu/engine/launch.hpp"
#include "modmul/division32/host_rows.hpp"
#include "modmul/division32/range_run.hpp"
#include "repr/wipe.hpp"

namespace manymod::division32 {
namespace {

constexpr unsigned kWordsOfLimb = sizeof(Limb) / sizeof(std::uint32_t);
constexpr unsigned kWorkItems = 64;  // of a work-group
// Wider numbers are in private memory, kNumbers of them for a work-item. Work-items with so many words are
// launched for each compute unit, and compute one item after the other: with more, GPUs read these numbers
// from beyond their caches. On an H100, products are 2.5 to 3 times as fast as with a work-item for each
// item.
constexpr unsigned kMostInRegisters = 32;
constexpr unsigned kNumbers = 5;
constexpr unsigned kWordsOfUnit = 3u << 15;

constexpr RowShape kRowShapes[] = {{4, "division32_1x4"},    {8, "division32_1x8"},   {12, "division32_1x12"},
                                   {16, "division32_1x16"},  {24, "division32_1x24"}, {32, "division32_1x32"},
                                   {48, "division32_1x48"},  {64, "division32_1x64"}, {96, "division32_1x96"},
                                   {128, "division32_1x128"}};
static_assert(std::ranges::is_sorted(kRowShapes, {}, &RowShape::words) &&
              std::ranges::rbegin(kRowShapes)->words == kMaxWords);

// kernels.cl declares the same struct.
static_assert(sizeof(gpu::DeviceOperand) == 16 && offsetof(RowJob, modulus) == 48 &&
              offsetof(RowJob, operation) == 72 && offsetof(RowJob, count) == 76 && sizeof(RowJob) == 80);

}  // namespace

std::size_t widest_of_item(const manymod::Job& call, std::size_t modulus_limbs) {
  return std::max({modulus_limbs, call.x.width, has_y(call.op) ? call.y.width : 0, call.z.width});
}

std::span<const std::size_t> RowJob::device_pointers() {
  constexpr std::size_t kWords = offsetof(gpu::DeviceOperand, words);
  static constexpr std::size_t kPointers[] = {offsetof(RowJob, x) + kWords, offsetof(RowJob, y) + kWords,
                                              offsetof(RowJob, z) + kWords,
                                              offsetof(RowJob, modulus) + kWords, offsetof(RowJob, result)};
  return kPointers;
}

std::span<const RowShape> row_shapes() { return kRowShapes; }

const RowShape& row_shape_for(std::size_t words) {
  return *std::ranges::find_if(kRowShapes, [words](const RowShape& shape) { return shape.words >= words; });
}

RowRun::RowRun(const manymod::Job& call, std::size_t modulus_limbs, Items items, gpu::Workspace& workspace)
    : call_(call),
      modulus_limbs_(modulus_limbs),
      items_(items),
      workspace_(workspace),
      uploads_{{&call.x, &job_.x, call.x.width},
               {&call.y, &job_.y, has_y(call.op) ? call.y.width : 0},
               {&call.z, &job_.z, call.z.width},
               {&call.modulus, &job_.modulus, modulus_limbs}} {
  job_.operation = row_operation(call.op);
  job_.count = static_cast<std::uint32_t>(items_.size());
  lay_out();
}

void RowRun::lay_out() {
  for (Upload& upload : uploads_) {
    const std::size_t rows = upload.view->broadcast() ? 1 : items_.size();
    if (upload.used()) upload.at = upload_layout_.add(rows * upload.limbs * sizeof(Limb));
  }
  device_layout_ = upload_layout_;
  results_at_ = device_layout_.add(result_bytes());
  upload_ = workspace_.upload(upload_layout_.bytes());
  device_ = workspace_.on_device(device_layout_.bytes());
  download_ = workspace_.download(result_bytes());
  for (const Upload& upload : uploads_) {
    if (!upload.used()) continue;
    const auto width = static_cast<std::uint32_t>(upload.limbs * kWordsOfLimb);
    *upload.operand = {reinterpret_cast<const std::uint32_t*>(device_ + upload.at), width,
                       upload.view->broadcast() ? 0 : width};
  }
  job_.result = reinterpret_cast<std::uint32_t*>(device_ + results_at_);
  if (call_.op == Operation::sqrmod) job_.y = job_.x;
  // -x is computed as 0 - x.
  if (call_.op == Operation::negmod) job_.y = std::exchange(job_.x, {});
}

void RowRun::gather(const Upload& upload) const {
  if (!upload.used()) return;
  std::byte* const to = upload_ + upload.at;
  if (upload.view->broadcast()) {
    std::memcpy(to, upload.view->magnitude(0).data(), upload.limbs * sizeof(Limb));
  } else {
    gather_rows(*upload.view, items_, upload.limbs, to);
  }
}

void RowRun::launch() const {
  gpu::Device& device = workspace_.stream().device();
  const RowShape& shape = row_shape_for(kWordsOfLimb * widest_of_item(call_, modulus_limbs_));
  gpu::LaunchShape launch;
  launch.block = kWorkItems;
  launch.grid = (job_.count + kWorkItems - 1) / kWorkItems;
  if (shape.words > kMostInRegisters) {
    const unsigned groups = kWordsOfUnit / (kNumbers * shape.words * kWorkItems);
    launch.grid = std::min(launch.grid, std::max(1u, groups) * device.properties().multiprocessors);
  }
  const gpu::KernelId kernel(shape.kernel, "modmul/division32/kernels",
                             gpu::shape_definitions(1, shape.words, kWorkItems));
  device.kernel(kernel).launch(workspace_.stream(), launch, job_);
}

void RowRun::run() {
  const bool secret = call_.timing == TimingClass::secret;
  const gpu::Stream& stream = workspace_.stream();
  for (const Upload& upload : uploads_) gather(upload);
  stream.copy_to_device(device_, upload_, upload_layout_.bytes());
  launch();
  stream.copy_to_host(download_, device_ + results_at_, result_bytes());
  if (secret) stream.set_bytes(device_, 0, device_layout_.bytes());
  workspace_.done().record(stream);
  workspace_.done().wait();
  if (secret) wipe_bytes(upload_, upload_layout_.bytes());
  store_rows(call_, items_, modulus_limbs_, reinterpret_cast<const Limb*>(download_));
  if (secret) wipe_bytes(download_, result_bytes());
}

}  // namespace manymod::division32

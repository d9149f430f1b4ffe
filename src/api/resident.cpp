// SPDX-License-Identifier: Apache-2.0
#include "api/resident.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "api/checks.hpp"
#include "core/status_error.hpp"
#include "gpu/engine/resident_engine.hpp"

namespace manymod {
namespace {

// CPU engines work on copies of the arrays in host memory.
EngineSet resident_engines(const Selection& selection, const gpu::ResidentArrays& arrays) {
  return make_engines(selection, [&arrays](std::unique_ptr<const Engine> engine) {
    return gpu::through_host(std::move(engine), arrays);
  });
}

void check_width(std::size_t width, const char* what) {
  if (width <= gpu::kMaxResidentLimbs) return;
  throw StatusError(MM_ERR_ARGUMENT, std::string(what) + ".width is " + std::to_string(width) +
                                         ", on a device at most " + std::to_string(gpu::kMaxResidentLimbs));
}

}  // namespace

ResidentEngines::ResidentEngines(const SelectionOptions& options, gpu::Device& device, TimingClass timing)
    : arrays_(device, timing == TimingClass::secret),
      engines_(resident_engines(options.select_on_gpu(device.index()), arrays_)) {}

ResidentCall::ResidentCall(const mm_call& call, const gpu::ResidentArrays& arrays, const Job& job)
    : stream_(call.stream), arrays_(arrays) {
  check(job);
}

void ResidentCall::fetch_modulus(Job& job) {
  if (!job.modulus.on_device) return;
  arrays_.wait_for(stream_);
  fetch_shared(1, job.modulus, shared_[2]);
}

void ResidentCall::prepare(std::size_t modulus_bits, Job& job) {
  arrays_.wait_for(stream_);
  const std::size_t terms = std::max<std::size_t>(1, job.terms);
  fetch_shared(terms, job.x, shared_[0]);
  fetch_shared(terms, job.y, shared_[1]);
  fetch_shared(1, job.modulus, shared_[2]);
  fetch_shared(1, job.z, shared_[3]);
  facts_ = arrays_.facts(job, modulus_bits);
  job.facts = &facts_;
}

void ResidentCall::check(const Job& job) const {
  const auto check_array = [&](bool on_device, const void* limbs, std::size_t count, std::size_t width,
                               std::size_t stride, const char* what) {
    if (!on_device) return;
    check_width(width, what);
    check_on_device(arrays_.device(), limbs, extent_bytes(count, width, stride),
                    std::string(what) + ".limbs");
  };
  const auto check_view = [&](const BatchView& view, const char* what) {
    check_array(view.on_device, view.limbs, view.count, view.width, view.stride, what);
  };
  check_view(job.x, "x");
  check_view(job.y, "y");
  check_view(job.z, "z");
  check_view(job.modulus, "modulus");
  check_array(job.result.on_device, job.result.limbs, job.result.count, job.result.width, job.result.stride,
              "result");
}

void ResidentCall::fetch_shared(std::size_t terms, BatchView& view, limbs::Buffer& storage) const {
  if (!view.on_device || (view.count != 1 && view.count != terms)) return;
  storage = arrays_.rows(view, Items::run(0, 1), view.count, view.width);
  view = {storage.data(), view.count, view.width, view.width, nullptr};
}

}  // namespace manymod

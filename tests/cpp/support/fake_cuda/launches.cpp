// SPDX-License-Identifier: Apache-2.0
// The fake driver: images and their kernels, launches, streams and events.
#include <algorithm>
#include <cstddef>
#include <mutex>

#include "gpu/cuda/driver_api.hpp"
#include "support/fake_cuda/state.hpp"

// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr): the driver's own names and types
using namespace fake_cuda;      // NOLINT(google-build-using-namespace)
using namespace manymod::cuda;  // NOLINT(google-build-using-namespace)

namespace {

Result find_function(FunctionHandle* function, const char* name) {
  const auto found = state().functions.find(name);
  if (found == state().functions.end()) return kNotFound;
  *function = &found->second;
  return kSuccess;
}

}  // namespace

extern "C" {

FAKE_CUDA_API Result cuLibraryLoadData(LibraryHandle* library, const void* data, int*, void**, unsigned, int*,
                                       void**, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  if (state().settings.load_result != kSuccess) return state().settings.load_result;
  ++state().counts.images;
  state().library.data = data;
  *library = &state().library;
  return kSuccess;
}

FAKE_CUDA_API Result cuLibraryGetKernel(KernelHandle* kernel, LibraryHandle, const char* name) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  const auto found = state().kernels.find(name);
  if (found == state().kernels.end()) return kNotFound;
  *kernel = &found->second;
  return kSuccess;
}

FAKE_CUDA_API Result cuKernelGetFunction(FunctionHandle* function, KernelHandle kernel) {
  const std::lock_guard guard(lock());
  *function = kernel->function;
  return begin_context_call();
}

FAKE_CUDA_API Result cuModuleLoadData(ModuleHandle* module, const void* data) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  if (state().settings.load_result != kSuccess) return state().settings.load_result;
  ++state().counts.images;
  state().module.data = data;
  *module = &state().module;
  return kSuccess;
}

FAKE_CUDA_API Result cuModuleGetFunction(FunctionHandle* function, ModuleHandle, const char* name) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  return begun != kSuccess ? begun : find_function(function, name);
}

FAKE_CUDA_API Result cuFuncGetAttribute(int* value, int attribute, FunctionHandle) {
  const std::lock_guard guard(lock());
  *value = attribute == kFunctionRegisters ? 64 : 0;
  return begin_context_call();
}

FAKE_CUDA_API Result cuFuncSetAttribute(FunctionHandle, int attribute, int value) {
  const std::lock_guard guard(lock());
  if (attribute != kFunctionMaxDynamicShared || value > 227 << 10) return misuse(kErrorInvalidValue);
  return begin_context_call();
}

FAKE_CUDA_API Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle, int block,
                                                                 std::size_t shared_bytes) {
  const std::lock_guard guard(lock());
  *blocks = static_cast<int>(state().settings.threads_per_multiprocessor) / std::max(block, 1);
  if (shared_bytes > 0)
    *blocks = std::min(*blocks, static_cast<int>((std::size_t{228} << 10) / shared_bytes));
  return begin_context_call();
}

FAKE_CUDA_API Result cuLaunchKernel(FunctionHandle function, unsigned grid, unsigned, unsigned,
                                    unsigned block, unsigned, unsigned, unsigned shared_bytes, StreamHandle,
                                    void** parameters, void**) {
  KernelFunction body;
  {
    const std::lock_guard guard(lock());
    const Result begun = begin_context_call();
    if (begun != kSuccess) return begun;
    State& s = state();
    const std::size_t number = s.counts.launches++;
    if (grid == 0 || block == 0 || block > 1024) return misuse(kErrorInvalidValue);
    if (number == s.settings.failing_launch) return s.settings.launch_result;
    // A launch succeeds before its kernel fails.
    if (number >= s.settings.faulting_launch) s.fault = s.settings.fault_result;
    if (s.fault == kSuccess) body = function->function;
  }
  if (body) body(Launch{grid, block, shared_bytes}, parameters);
  return kSuccess;
}

FAKE_CUDA_API Result cuStreamCreate(StreamHandle* stream, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  if (state().settings.stream_result != kSuccess) return state().settings.stream_result;
  ++state().counts.streams;
  *stream = new StreamObject{current_context()->device};
  return kSuccess;
}

FAKE_CUDA_API Result cuStreamDestroy_v2(StreamHandle stream) {
  const std::lock_guard guard(lock());
  --state().counts.streams;
  delete stream;
  return begin_context_call();
}

FAKE_CUDA_API Result cuStreamSynchronize(StreamHandle) {
  const std::lock_guard guard(lock());
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventCreate(EventHandle* event, unsigned) {
  const std::lock_guard guard(lock());
  const Result begun = begin_context_call();
  if (begun != kSuccess) return begun;
  ++state().counts.events;
  *event = new EventObject{false};
  return kSuccess;
}

FAKE_CUDA_API Result cuEventDestroy_v2(EventHandle event) {
  const std::lock_guard guard(lock());
  --state().counts.events;
  delete event;
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventRecord(EventHandle event, StreamHandle) {
  const std::lock_guard guard(lock());
  event->recorded = true;
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventSynchronize(EventHandle) {
  const std::lock_guard guard(lock());
  return begin_context_call();
}

FAKE_CUDA_API Result cuEventElapsedTime(float* milliseconds, EventHandle start, EventHandle end) {
  const std::lock_guard guard(lock());
  *milliseconds = 2.5F;
  return start->recorded && end->recorded ? begin_context_call() : misuse(kErrorInvalidValue);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)

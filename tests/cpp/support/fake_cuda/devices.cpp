// SPDX-License-Identifier: Apache-2.0
// The fake driver: initialisation, devices and contexts, and NVML, which describes the same devices.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <unistd.h>

#include "gpu/cuda/driver_api.hpp"
#include "support/fake_cuda/state.hpp"

// NOLINTBEGIN(readability-identifier-naming,performance-no-int-to-ptr): the driver's own names and types
using namespace fake_cuda;      // NOLINT(google-build-using-namespace)
using namespace manymod::cuda;  // NOLINT(google-build-using-namespace)

namespace {

bool is_device(int index) { return index >= 0 && std::cmp_less(index, state().settings.devices); }

}  // namespace

extern "C" {

FAKE_CUDA_API Result cuInit(unsigned) {
  const std::lock_guard guard(lock());
  State& s = state();
  if (s.process != 0 && s.process != getpid()) return misuse(kErrorNotInitialized);
  ++s.counts.initialisations;
  if (s.settings.init_result == kSuccess) s.process = getpid();
  return s.settings.init_result;
}

FAKE_CUDA_API Result cuDriverGetVersion(int* version) {
  *version = state().settings.version;
  return kSuccess;
}

FAKE_CUDA_API Result cuGetErrorName(Result result, const char** name) {
  static const std::map<Result, const char*> names{{2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                   {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                   {801, "CUDA_ERROR_NOT_SUPPORTED"}};
  const auto found = names.find(result);
  if (found == names.end()) return kErrorInvalidValue;
  *name = found->second;
  return kSuccess;
}

FAKE_CUDA_API Result cuDeviceGetCount(int* count) {
  const std::lock_guard guard(lock());
  *count = static_cast<int>(state().settings.devices);
  return begin_call();
}

FAKE_CUDA_API Result cuDeviceGet(DeviceHandle* device, int index) {
  const std::lock_guard guard(lock());
  *device = index;
  return is_device(index) ? begin_call() : kInvalidDevice;
}

FAKE_CUDA_API Result cuDeviceGetName(char* name, int size, DeviceHandle device) {
  const std::lock_guard guard(lock());
  const Result begun = begin_call();
  return begun != kSuccess ? begun : copy_text(model_of(device), name, static_cast<std::size_t>(size));
}

FAKE_CUDA_API Result cuDeviceGetAttribute(int* value, int attribute, DeviceHandle) {
  const std::lock_guard guard(lock());
  const Settings& s = state().settings;
  const std::map<int, int> values{{kMultiprocessorCount, static_cast<int>(s.multiprocessors)},
                                  {kComputeMode, s.prohibited ? 2 : 0},
                                  {kCapabilityMajor, s.capability / 10},
                                  {kCapabilityMinor, s.capability % 10},
                                  {kSharedPerBlockOptIn, 227 << 10}};
  const auto found = values.find(attribute);
  if (found == values.end()) return misuse(kErrorInvalidValue);
  *value = found->second;
  return begin_call();
}

FAKE_CUDA_API Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceHandle) {
  const std::lock_guard guard(lock());
  *bytes = state().settings.memory_bytes;
  return begin_call();
}

FAKE_CUDA_API Result cuDevicePrimaryCtxRetain(ContextHandle* context, DeviceHandle device) {
  const std::lock_guard guard(lock());
  const Result begun = begin_call();
  if (begun != kSuccess) return begun;
  if (state().settings.retain_result != kSuccess) return state().settings.retain_result;
  ++state().counts.contexts;
  *context = &state().contexts.at(static_cast<std::size_t>(device));
  return kSuccess;
}

FAKE_CUDA_API Result cuCtxPushCurrent_v2(ContextHandle context) {
  const std::lock_guard guard(lock());
  if (state().process != getpid()) return misuse(kErrorNotInitialized);
  ContextStack& stack = context_stack();
  stack.contexts.at(stack.depth++) = context;
  return kSuccess;
}

FAKE_CUDA_API Result cuCtxPopCurrent_v2(ContextHandle* context) {
  const std::lock_guard guard(lock());
  ContextStack& stack = context_stack();
  if (stack.depth == 0) return misuse(kInvalidContext);
  *context = stack.contexts.at(--stack.depth);
  return kSuccess;
}

FAKE_CUDA_API Result cuCtxSynchronize() {
  const std::lock_guard guard(lock());
  return begin_context_call();
}

// ---- NVML ---------------------------------------------------------------------------------------------

FAKE_CUDA_API Result nvmlInit_v2() { return settings().management ? kSuccess : 9; /* DRIVER_NOT_LOADED */ }
FAKE_CUDA_API Result nvmlShutdown() { return kSuccess; }

FAKE_CUDA_API Result nvmlDeviceGetCount_v2(unsigned* count) {
  *count = settings().devices;
  return kSuccess;
}

// The handle of device i is the number i + 1, which is not a pointer to anything.
FAKE_CUDA_API Result nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = reinterpret_cast<void*>(std::uintptr_t{index} + 1);
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetName(void* handle, char* name, unsigned size) {
  return copy_text(model_of(static_cast<int>(reinterpret_cast<std::uintptr_t>(handle)) - 1), name, size);
}

FAKE_CUDA_API Result nvmlDeviceGetUUID(void* handle, char* uuid, unsigned size) {
  return copy_text("GPU-0" + std::to_string(reinterpret_cast<std::uintptr_t>(handle) - 1), uuid, size);
}

FAKE_CUDA_API Result nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *major = settings().capability / 10;
  *minor = settings().capability % 10;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetMemoryInfo(void*, unsigned long long* total_free_used) {
  total_free_used[0] = settings().memory_bytes;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetNumGpuCores(void*, unsigned* cores) {
  *cores = settings().multiprocessors * 128;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *current = *pending = settings().partitioned ? 1 : 0;
  return kSuccess;
}

FAKE_CUDA_API Result nvmlDeviceGetComputeMode(void*, int* mode) {
  *mode = settings().prohibited ? 2 : 0;
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,performance-no-int-to-ptr)

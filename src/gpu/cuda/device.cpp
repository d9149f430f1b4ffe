// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/device.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "gpu/cuda/stream.hpp"

namespace manymod::cuda {

Kernel::Kernel(Device& device, FunctionHandle function, std::string name)
    : device_(&device), function_(function), name_(std::move(name)) {
  registers_ = attribute(kFunctionRegisters);
  local_bytes_ = attribute(kFunctionLocalBytes);
  max_threads_ = attribute(kFunctionMaxThreads);
  // More than 48 KiB have to be asked for. This is a limit, not a claim on them.
  const std::size_t limit = device.properties().shared_per_block;
  const std::size_t own = attribute(kFunctionStaticShared);
  device.call(device.api().function_set_attribute, function_, kFunctionMaxDynamicShared,
              static_cast<int>(limit - std::min(limit, own)));
}

unsigned Kernel::attribute(int attribute) const {
  int value = 0;
  device_->call(device_->api().function_get_attribute, &value, attribute, function_);
  return static_cast<unsigned>(std::max(value, 0));
}

unsigned Kernel::blocks_per_multiprocessor(unsigned block, std::size_t shared_bytes) const {
  int blocks = 0;
  device_->call(device_->api().occupancy_max_blocks, &blocks, function_, static_cast<int>(block),
                shared_bytes);
  return static_cast<unsigned>(std::max(blocks, 0));
}

void Kernel::launch_with(const Stream& stream, const LaunchShape& shape, void** parameters) const {
  if (shape.shared_bytes > device_->properties().shared_per_block) {
    throw DriverError(Fault::other, static_cast<int>(device_->index()),
                      name_ + " wants " + std::to_string(shape.shared_bytes) + " bytes of shared memory");
  }
  device_->call(device_->api().launch_kernel, function_, shape.grid, 1u, 1u, shape.block, 1u, 1u,
                static_cast<unsigned>(shape.shared_bytes), stream.handle(), parameters, nullptr);
}

Device::ContextScope::ContextScope(Device& device) : device_(device) {
  device.check_usable();
  device.check(device.api_.context_push.name(), device.enter());
}

Device::Device(Driver& driver, unsigned index)
    : driver_(driver), api_(driver.loaded_api()), index_(index), images_(driver.sources().images.size()) {
  const int number = static_cast<int>(index);
  driver.check(api_.device_get, api_.device_get(&handle_, number), number);
  read_properties();
  driver.check(api_.primary_context_retain, api_.primary_context_retain(&context_, handle_), number);
}

// Without a call: the driver may have shut down before static objects are destroyed, and it then frees
// contexts.
Device::~Device() = default;

Result Device::enter() noexcept { return api_.context_push(context_); }

void Device::leave() noexcept {
  ContextHandle left = nullptr;
  api_.context_pop(&left);
}

void Device::check_usable() const {
  const int number = static_cast<int>(index_);
  if (!driver_.own_process()) throw DriverError(Fault::forked, number, forked_message());
  if (lost()) {
    throw DriverError(Fault::lost, number,
                      "lost by an earlier failure: " + std::string(lost_call_) + " returned " +
                          driver_.result_name(lost_result_));
  }
}

void Device::check(const char* call, Result result) {
  if (result == kSuccess) return;
  if (fault_of(result) == Fault::lost) {
    lost_call_ = call;
    lost_result_ = result;
  }
  driver_.throw_result(call, result, static_cast<int>(index_));
}

int Device::device_attribute(int attribute) const {
  int value = 0;
  driver_.check(api_.device_get_attribute, api_.device_get_attribute(&value, attribute, handle_),
                static_cast<int>(index_));
  return std::max(value, 0);
}

void Device::read_properties() {
  const int number = static_cast<int>(index_);
  std::array<char, 256> model{};
  driver_.check(api_.device_get_name,
                api_.device_get_name(model.data(), static_cast<int>(model.size()) - 1, handle_), number);
  std::size_t memory_bytes = 0;
  driver_.check(api_.device_total_memory, api_.device_total_memory(&memory_bytes, handle_), number);
  const auto read = [this](int attribute) { return static_cast<unsigned>(device_attribute(attribute)); };
  properties_.model = model.data();
  properties_.compute_capability = 10 * read(kCapabilityMajor) + read(kCapabilityMinor);
  properties_.multiprocessors = read(kMultiprocessorCount);
  properties_.threads_per_multiprocessor = read(kThreadsPerMultiprocessor);
  properties_.shared_per_multiprocessor = read(kSharedPerMultiprocessor);
  properties_.shared_per_block = read(kSharedPerBlockOptIn);
  properties_.memory_bytes = memory_bytes;
}

MemoryInfo Device::memory() {
  MemoryInfo info;
  call(api_.memory_info, &info.free_bytes, &info.total_bytes);
  return info;
}

void Device::synchronize() { call(api_.context_synchronize); }

const Kernel& Device::kernel(const std::string& name) {
  check_usable();
  const std::lock_guard lock(kernels_mutex_);
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  return kernels_.emplace(name, Kernel(*this, find_function(name), name)).first->second;
}

FunctionHandle Device::find_function(const std::string& name) {
  const std::span<const DeviceImage> images = driver_.sources().images;
  // An image "row32/kernels" holds kernels named row32_..: loading the others first would take time. Of "rns"
  // and "rns_float" the longer name fits rns_float_.. better.
  std::vector<std::size_t> order(images.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto fit = [&](std::size_t i) {
    const std::string_view image = images[i].name, folder = image.substr(0, image.find('/'));
    return name.starts_with(folder) ? folder.size() : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return fit(a) > fit(b); });
  for (const std::size_t i : order) {
    if (FunctionHandle function = find_in_image(i, name)) return function;
  }
  throw DriverError(Fault::no_device_code, static_cast<int>(index_),
                    images.empty() ? "this build of manymod has no device code"
                                   : "this build of manymod has no kernel " + name);
}

void Device::load_image(std::size_t number) {
  Image& image = images_[number];
  if (image.library != nullptr || image.module != nullptr) return;
  const void* const data = driver_.sources().images[number].data;
  if (libraries()) {
    call(api_.library_load_data, &image.library, data, nullptr, nullptr, 0u, nullptr, nullptr, 0u);
  } else {
    call(api_.module_load_data, &image.module, data);
  }
}

bool Device::libraries() const {
  return api_.library_load_data && api_.library_get_kernel && api_.kernel_get_function;
}

FunctionHandle Device::find_in_image(std::size_t number, const std::string& name) {
  load_image(number);
  const Image& image = images_[number];
  FunctionHandle function = nullptr;
  if (libraries()) {
    KernelHandle kernel = nullptr;
    const Result found = query(api_.library_get_kernel, &kernel, image.library, name.c_str());
    if (found == kErrorNotFound) return nullptr;
    check(api_.library_get_kernel.name(), found);
    call(api_.kernel_get_function, &function, kernel);
  } else {
    const Result found = query(api_.module_get_function, &function, image.module, name.c_str());
    if (found == kErrorNotFound) return nullptr;
    check(api_.module_get_function.name(), found);
  }
  return function;
}

}  // namespace manymod::cuda

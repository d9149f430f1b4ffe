// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda/device.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string_view>

#include "gpu/cuda/stream.hpp"
#include "repr/wipe.hpp"

namespace manymod::cuda {

Device::ContextScope::ContextScope(Device& device) : device_(device) {
  device.check_usable();
  device.check(device.api_.context_push.name(), device.enter());
}

Device::Device(Driver& driver, unsigned index)
    : gpu::Device(index),
      driver_(driver),
      api_(driver.loaded_api()),
      images_(driver.sources().images.size()) {
  const int number = static_cast<int>(index);
  driver.check(api_.device_get, api_.device_get(&handle_, number), number);
  read_properties();
  driver.check(api_.primary_context_retain, api_.primary_context_retain(&context_, handle_), number);
}

// Does not release the context: the driver may have shut down before static objects are destroyed, and has
// then freed it.
Device::~Device() = default;

Result Device::enter() noexcept { return api_.context_push(context_); }

void Device::leave() noexcept {
  ContextHandle left = nullptr;
  api_.context_pop(&left);
}

void Device::check_usable() const {
  const int number = static_cast<int>(index());
  if (!driver_.own_process()) throw DriverError(Fault::forked, number, forked_message());
  const std::string* const lost = lost_.published();
  if (lost != nullptr) throw DriverError(Fault::lost, number, "lost by an earlier failure: " + *lost);
}

void Device::check(const char* call, Result result) {
  if (result == kSuccess) return;
  if (fault_of(result) == Fault::lost) {
    lost_.get([&] {
      return std::make_unique<std::string>(std::string(call) + " returned " + driver_.result_name(result));
    });
  }
  driver_.throw_result(call, result, static_cast<int>(index()));
}

int Device::device_attribute(int attribute) const {
  int value = 0;
  driver_.check(api_.device_get_attribute, api_.device_get_attribute(&value, attribute, handle_),
                static_cast<int>(index()));
  return std::max(value, 0);
}

void Device::read_properties() {
  const int number = static_cast<int>(index());
  std::array<char, 256> model{};
  driver_.check(api_.device_get_name,
                api_.device_get_name(model.data(), static_cast<int>(model.size()) - 1, handle_), number);
  std::size_t memory_bytes = 0;
  driver_.check(api_.device_total_memory, api_.device_total_memory(&memory_bytes, handle_), number);
  const auto read = [this](int attribute) { return static_cast<unsigned>(device_attribute(attribute)); };
  compute_capability_ = 10 * read(kCapabilityMajor) + read(kCapabilityMinor);
  properties_.model = model.data();
  properties_.multiprocessors = read(kMultiprocessorCount);
  properties_.shared_per_block = read(kSharedPerBlockOptIn);
  properties_.memory_bytes = memory_bytes;
}

std::unique_ptr<gpu::Stream> Device::make_stream() { return std::make_unique<Stream>(*this); }

std::unique_ptr<gpu::Stream> Device::borrow_stream(void* native_handle) {
  return std::make_unique<Stream>(Stream::borrowed(*this, static_cast<StreamHandle>(native_handle)));
}

std::unique_ptr<gpu::Event> Device::make_event() { return std::make_unique<Event>(*this); }

std::optional<unsigned> Device::owner_of(const void* address) {
  const auto& attribute = api_.pointer_attribute;
  unsigned type = 0;
  const Result known = query(attribute, &type, kPointerMemoryType, address_of(address));
  if (known == kErrorInvalidValue) return std::nullopt;
  check(attribute.name(), known);
  if (type != kMemoryTypeDevice) return std::nullopt;
  int ordinal = 0;
  call(attribute, &ordinal, kPointerDeviceOrdinal, address_of(address));
  return static_cast<unsigned>(ordinal);
}

void* Device::allocate(gpu::MemoryKind kind, std::size_t bytes) {
  if (kind == gpu::MemoryKind::pinned) {
    void* data = nullptr;
    call(api_.host_allocate, &data, bytes, kHostAllocPortable);
    return data;
  }
  DeviceAddress address = 0;
  call(api_.memory_allocate, &address, bytes);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

void Device::free(gpu::MemoryKind kind, void* data, std::size_t bytes) noexcept {
  release(api_.context_synchronize);
  if (kind == gpu::MemoryKind::pinned) {
    // Drivers may leave page-locked memory unmapped in a forked child.
    if (driver_.own_process()) wipe_bytes(data, bytes);
    release(api_.host_free, data);
    return;
  }
  release(api_.memory_set, address_of(data), static_cast<unsigned char>(0), bytes, nullptr);
  release(api_.context_synchronize);
  release(api_.memory_free, address_of(data));
}

const Kernel& Device::kernel(const gpu::KernelId& id) {
  check_usable();
  const std::string& name = id.name;
  const std::lock_guard lock(kernels_mutex_);
  const auto known = kernels_.find(name);
  if (known != kernels_.end()) return known->second;
  return kernels_.emplace(name, Kernel(*this, find_function(name), name)).first->second;
}

FunctionHandle Device::find_function(const std::string& name) {
  const std::span<const DeviceImage> images = driver_.sources().images;
  // Loading an image takes time, so the images whose folder is the longest prefix of the kernel's name come
  // first: "row32/kernels" has the kernels row32_*, and rns_float_* are in "rns_float/kernels" rather than
  // "rns/kernels".
  std::vector<std::size_t> order(images.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto fit = [&](std::size_t i) {
    const std::string_view image = images[i].name, folder = image.substr(0, image.find('/'));
    return name.starts_with(folder) ? folder.size() : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return fit(a) > fit(b); });
  for (const std::size_t i : order) {
    if (FunctionHandle function = find_in_image(i, name)) return function;
  }
  throw DriverError(Fault::no_device_code, static_cast<int>(index()),
                    images.empty() ? "this build of manymod has no device code"
                                   : "this build of manymod has no kernel " + name);
}

void Device::load_image(std::size_t number) {
  Image& image = images_[number];
  if (image.library != nullptr || image.module != nullptr) return;
  const void* const data = driver_.sources().images[number].data;
  if (has_libraries()) {
    call(api_.library_load_data, &image.library, data, nullptr, nullptr, 0u, nullptr, nullptr, 0u);
  } else {
    call(api_.module_load_data, &image.module, data);
  }
}

bool Device::has_libraries() const {
  return api_.library_load_data && api_.library_get_kernel && api_.kernel_get_function;
}

FunctionHandle Device::find_in_image(std::size_t number, const std::string& name) {
  load_image(number);
  const Image& image = images_[number];
  FunctionHandle function = nullptr;
  if (has_libraries()) {
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

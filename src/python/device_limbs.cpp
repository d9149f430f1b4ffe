// SPDX-License-Identifier: Apache-2.0
#include "python/device_limbs.hpp"

#include <nanobind/stl/vector.h>

#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "manymod/manymod.h"
#include "python/buffer.hpp"
#include "python/call.hpp"
#include "python/device_dlpack.hpp"
#include "python/device_export.hpp"
#include "python/gil.hpp"
#include "python/stable_abi.hpp"

namespace manymod::python {
namespace {

constexpr std::size_t kLimbBytes = sizeof(Limb);

std::string message(const char* name, const std::string& why) { return std::string(name) + ": " + why; }

/// Free device memory. Called with or without the GIL, as consumers of capsules may free them on any thread.
/// It waits for the device and releases the GIL meanwhile. A failure is ignored: there is no caller that
/// could handle it.
void free_bytes(unsigned device_index, void* memory) {
  const bool held = Py_IsInitialized() != 0 && PyGILState_Check() != 0;
  PyThreadState* const thread = held ? PyEval_SaveThread() : nullptr;
  static_cast<void>(mm_device_free(device_index, memory));
  if (thread != nullptr) take_gil(thread);
}

std::shared_ptr<void> allocate_bytes(unsigned device_index, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* address = nullptr;
  mm_status status = MM_OK;
  {
    const ReleasedGil release;
    status = mm_device_allocate(device_index, bytes, &address);
  }
  if (status != MM_OK) throw_call_error(status);
  return {address, [device_index](void* memory) { free_bytes(device_index, memory); }};
}

void copy_bytes(unsigned device_index, void* to, const void* from, std::size_t bytes,
                mm_copy_direction direction) {
  if (bytes == 0) return;
  mm_status status = MM_OK;
  {
    const ReleasedGil release;
    status = mm_device_copy(device_index, to, from, bytes, direction);
  }
  if (status != MM_OK) throw_call_error(status);
}

/// Let a tensor's producer free it. Called with or without the GIL, as free_bytes. When the interpreter
/// is being destroyed, the memory goes with the process.
template <class Managed>
void give_back(Managed* managed) {
  if (managed->deleter == nullptr || Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = until_exit([] { return PyGILState_Ensure(); });
  {
    const nb::error_scope kept;  // the producer's code may raise and clear exceptions
    until_exit([managed] { managed->deleter(managed); });
  }
  PyGILState_Release(state);
}

template <class Managed>
std::shared_ptr<Managed> taken_over(nb::handle capsule, const char* name, const char* used_name) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (managed == nullptr || PyCapsule_SetName(capsule.ptr(), used_name) != 0) throw nb::python_error();
  return {managed, &give_back<Managed>};
}

std::string described(const dlpack::Tensor& tensor) {
  constexpr std::array<const char*, 7> kKinds{"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  std::string text = tensor.type.code < kKinds.size() ? kKinds.at(tensor.type.code) : "type";
  text += std::to_string(tensor.type.bits);
  if (tensor.type.lanes != 1) text += "x" + std::to_string(tensor.type.lanes);
  text += "[";
  for (std::int32_t axis = 0; axis < tensor.dimensions; ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(tensor.shape[axis]);
  }
  return text + "]";
}

bool has_limbs(const dlpack::Tensor& tensor) {
  const bool integers = tensor.type.code == dlpack::kUInt || tensor.type.code == dlpack::kInt;
  return integers && tensor.type.bits == 8 * kLimbBytes && tensor.type.lanes == 1 && tensor.dimensions >= 1 &&
         tensor.dimensions <= 3;
}

}  // namespace

DeviceLimbs DeviceLimbs::allocate(unsigned device_index, std::size_t count, std::size_t width) {
  if (width == 0) throw nb::value_error("rows must have at least one limb");
  if (count > std::numeric_limits<std::size_t>::max() / kLimbBytes / width) {
    throw nb::value_error("the size in bytes is out of range");
  }
  DeviceLimbs limbs;
  limbs.owner_ = allocate_bytes(device_index, count * width * kLimbBytes);
  limbs.device_index_ = device_index;
  limbs.data_ = static_cast<Limb*>(limbs.owner_.get());
  limbs.count_ = count;
  limbs.width_ = width;
  limbs.stride_ = width;
  limbs.shape_ = {count, width};
  return limbs;
}

DeviceLimbs DeviceLimbs::from_capsule(nb::handle capsule, const char* name) {
  DeviceLimbs limbs;
  const dlpack::Tensor* tensor = nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::kVersionedName) != 0) {
    const auto managed = taken_over<dlpack::ManagedTensorVersioned>(capsule, dlpack::kVersionedName,
                                                                    dlpack::kUsedVersionedName);
    limbs.owner_ = managed;
    if (managed->version.major != dlpack::kMajorVersion) {
      const std::string why =
          "DLPack version " + std::to_string(managed->version.major) + " is not supported";
      throw nb::buffer_error(message(name, why).c_str());
    }
    limbs.writable_ = (managed->flags & dlpack::kReadOnly) == 0;
    tensor = &managed->tensor;
  } else if (PyCapsule_IsValid(capsule.ptr(), dlpack::kName) != 0) {
    const auto managed = taken_over<dlpack::ManagedTensor>(capsule, dlpack::kName, dlpack::kUsedName);
    limbs.owner_ = managed;
    tensor = &managed->tensor;
  } else {
    throw nb::type_error(message(name, "__dlpack__ did not return an unused DLPack capsule").c_str());
  }
  limbs.read_layout(*tensor, name);
  return limbs;
}

void DeviceLimbs::read_layout(const dlpack::Tensor& tensor, const char* name) {
  if ((tensor.device.type != dlpack::kCuda && tensor.device.type != dlpack::kCudaManaged) ||
      tensor.device.index < 0) {
    throw nb::buffer_error(message(name, "the DLPack capsule is not on a CUDA device").c_str());
  }
  if (!has_limbs(tensor)) {
    const std::string why = described(tensor) +
                            " in GPU memory is none of uint64[N, L] limbs (or int64, taken bit for bit), "
                            "1-D uint64 integers";
    throw nb::type_error(message(name, why).c_str());
  }
  of_signed_type_ = tensor.type.code == dlpack::kInt;
  if (of_signed_type_ && tensor.dimensions == 1) {
    const std::string why =
        described(tensor) +
        " would be signed integers, of which there are none in GPU memory: give uint64, or "
        "int64[N, 1] for limbs taken bit for bit";
    throw nb::type_error(message(name, why).c_str());
  }
  const auto rank = static_cast<std::size_t>(tensor.dimensions);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (tensor.shape[axis] < 0) throw nb::buffer_error(message(name, "a negative shape").c_str());
    shape_.push_back(static_cast<std::size_t>(tensor.shape[axis]));
  }
  // One or two leading axes of rows, then the axis of limbs; a 1-D array has one limb per row.
  const bool stacked = rank == 3;
  width_ = rank == 1 ? 1 : shape_.back();
  count_ = stacked ? shape_[0] * shape_[1] : shape_[0];
  stride_ = width_;
  std::size_t inner_stride = 1;
  if (tensor.strides != nullptr) {
    const std::int64_t* const strides = tensor.strides;
    if (rank > 1) inner_stride = static_cast<std::size_t>(strides[rank - 1]);
    const std::size_t rows_axis = stacked && shape_[1] > 1 ? 1 : 0;
    // Negative strides become huge unsigned ones, which check_rows rejects.
    if (count_ > 1) stride_ = static_cast<std::size_t>(strides[rows_axis]);
    if (rows_axis == 1 && shape_[0] > 1 && static_cast<std::size_t>(strides[0]) != shape_[1] * stride_) {
      throw nb::value_error(
          message(name, "the rows of one product must follow those of the one before").c_str());
    }
  }
  device_index_ = static_cast<unsigned>(tensor.device.index);
  data_ = reinterpret_cast<Limb*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
  check_rows(inner_stride, name);
}

void DeviceLimbs::check_rows(std::size_t inner_stride, const char* name) const {
  if (count_ == 0) return;
  if (width_ > 1 && inner_stride != 1) {
    throw nb::value_error(message(name, "rows in GPU memory must be contiguous").c_str());
  }
  constexpr std::size_t kMaxStride = std::numeric_limits<std::int64_t>::max() / kLimbBytes;
  if (stride_ < width_ || stride_ > kMaxStride) {
    throw nb::value_error(message(name, "rows in GPU memory must not overlap or run backwards").c_str());
  }
  if (reinterpret_cast<std::uintptr_t>(data_) % alignof(Limb) != 0) {
    throw nb::value_error(message(name, "limbs in GPU memory must be aligned").c_str());
  }
}

DeviceLimbs DeviceLimbs::part(std::size_t start, std::size_t stop) const {
  if (start > stop || stop > count_) throw nb::value_error("the rows are out of range");
  DeviceLimbs rows = *this;
  rows.data_ = data_ == nullptr ? nullptr : data_ + start * stride_;
  rows.count_ = stop - start;
  rows.shape_ = {rows.count_, width_};
  return rows;
}

limbs::Buffer DeviceLimbs::packed_on_host() const {
  limbs::Buffer rows(span());
  copy_bytes(device_index_, rows.data(), data_, span() * kLimbBytes, MM_COPY_TO_HOST);
  if (stride_ == width_) return rows;
  for (std::size_t i = 1; i < count_; ++i) {
    std::memmove(rows.data() + i * width_, rows.data() + i * stride_, width_ * kLimbBytes);
  }
  return rows;
}

void DeviceLimbs::to_host(nb::handle limbs) const {
  const LimbArray array(limbs, Access::write, "limbs");
  if (array.count() != count_ || array.width() != width_)
    throw nb::value_error("limbs has a different shape");
  if (array.stride() == width_ && stride_ == width_) {
    copy_bytes(device_index_, array.row(0), data_, span() * kLimbBytes, MM_COPY_TO_HOST);
    return;
  }
  const limbs::Buffer rows = packed_on_host();
  for (std::size_t i = 0; i < count_; ++i) {
    std::memcpy(array.row(i), rows.data() + i * width_, width_ * kLimbBytes);
  }
}

void DeviceLimbs::from_host(nb::handle limbs) const {
  const LimbArray array(limbs, Access::read, "limbs");
  if (array.count() != count_ || array.width() != width_)
    throw nb::value_error("limbs has a different shape");
  if (array.stride() != width_ || stride_ != width_) throw nb::value_error("limbs must be contiguous");
  copy_bytes(device_index_, data_, array.row(0), span() * kLimbBytes, MM_COPY_TO_DEVICE);
}

DeviceLimbs DeviceLimbs::copy() const {
  DeviceLimbs made = allocate(device_index_, count_, width_);
  if (stride_ == width_ || count_ <= 1) {
    copy_bytes(device_index_, made.data_, data_, span() * kLimbBytes, MM_COPY_ON_DEVICE);
    return made;
  }
  const limbs::Buffer rows = packed_on_host();
  copy_bytes(device_index_, made.data_, rows.data(), count_ * width_ * kLimbBytes, MM_COPY_TO_DEVICE);
  return made;
}

void bind_device(nb::module_& module) {
  nb::class_<DeviceLimbs>(module, "DeviceLimbs")
      .def_static("allocate", &DeviceLimbs::allocate, nb::arg("device_index"), nb::arg("count"),
                  nb::arg("width"))
      .def_static("from_capsule", &DeviceLimbs::from_capsule, nb::arg("capsule").none(), nb::arg("name"))
      .def_prop_ro("device_index", &DeviceLimbs::device_index)
      .def_prop_ro("address",
                   [](const DeviceLimbs& limbs) { return reinterpret_cast<std::uintptr_t>(limbs.data()); })
      .def_prop_ro("span_bytes", [](const DeviceLimbs& limbs) { return limbs.span() * sizeof(Limb); })
      .def_prop_ro("width", &DeviceLimbs::width)
      .def_prop_ro("stride", &DeviceLimbs::stride)
      .def_prop_ro("writable", &DeviceLimbs::writable)
      .def_prop_ro("shape", &DeviceLimbs::shape)
      .def_prop_ro("of_signed_type", &DeviceLimbs::of_signed_type)
      .def("__len__", &DeviceLimbs::count)
      .def("part", &DeviceLimbs::part, nb::arg("start"), nb::arg("stop"))
      .def("to_host", &DeviceLimbs::to_host, nb::arg("limbs"))
      .def("from_host", &DeviceLimbs::from_host, nb::arg("limbs"))
      .def("copy", &DeviceLimbs::copy)
      .def("to_capsule", &to_capsule, nb::arg("versioned"), nb::arg("of_signed_type"), nb::arg("flat"))
      .def("to_copied_capsule", &to_copied_capsule, nb::arg("on_host"), nb::arg("versioned"),
           nb::arg("of_signed_type"), nb::arg("flat"));
}

}  // namespace manymod::python

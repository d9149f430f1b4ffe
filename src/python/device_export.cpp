// SPDX-License-Identifier: Apache-2.0
#include "python/device_export.hpp"

#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "python/device_dlpack.hpp"

namespace manymod::python {
namespace {

/// The exported rows.
struct Rows {
  Limb* data = nullptr;
  dlpack::Device device{};
  std::size_t count = 0;
  std::size_t width = 0;
  std::size_t stride = 0;
  std::shared_ptr<void> owner;
  std::uint64_t flags = 0;
};

Rows rows_of(const DeviceLimbs& limbs) {
  const dlpack::Device device{dlpack::kCuda, static_cast<std::int32_t>(limbs.device_index())};
  return {limbs.data(),
          device,
          limbs.count(),
          limbs.width(),
          limbs.stride(),
          limbs.owner(),
          limbs.writable() ? 0 : dlpack::kReadOnly};
}

Rows rows_on_host(const DeviceLimbs& limbs) {
  auto packed = std::make_shared<limbs::Buffer>(limbs.packed_on_host());
  Limb* const data = packed->data();
  return {data, {dlpack::kCpu, 0}, limbs.count(), limbs.width(), limbs.width(), std::move(packed), 0};
}

/// An exported tensor with the memory it points to.
template <class Managed>
struct Export {
  Managed managed{};
  std::shared_ptr<void> owner;
  std::array<std::int64_t, 2> shape{};
  std::array<std::int64_t, 2> strides{};
};

template <class Managed>
void delete_export(Managed* managed) {
  delete static_cast<Export<Managed>*>(managed->context);
}

template <class Managed>
constexpr bool kVersioned = std::is_same_v<Managed, dlpack::ManagedTensorVersioned>;
template <class Managed>
constexpr const char* kCapsuleName = kVersioned<Managed> ? dlpack::kVersionedName : dlpack::kName;

/// Destructor of a capsule: frees the tensor unless a consumer has taken it.
template <class Managed>
void destroy_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kCapsuleName<Managed>) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kCapsuleName<Managed>));
  managed->deleter(managed);
}

template <class Managed>
nb::object capsule_of(Rows rows, bool of_signed_type, bool flat) {
  auto made = std::make_unique<Export<Managed>>();
  made->shape = {static_cast<std::int64_t>(rows.count), static_cast<std::int64_t>(rows.width)};
  made->strides = {static_cast<std::int64_t>(rows.stride), 1};
  dlpack::Tensor& tensor = made->managed.tensor;
  tensor.data = rows.data;
  tensor.device = rows.device;
  tensor.dimensions = flat ? 1 : 2;
  tensor.type = {of_signed_type ? dlpack::kInt : dlpack::kUInt, 8 * sizeof(Limb), 1};
  tensor.shape = made->shape.data();
  tensor.strides = made->strides.data();
  made->owner = std::move(rows.owner);
  made->managed.context = made.get();
  made->managed.deleter = &delete_export<Managed>;
  if constexpr (kVersioned<Managed>) {
    made->managed.version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
    made->managed.flags = rows.flags;
  }
  PyObject* const capsule = PyCapsule_New(&made->managed, kCapsuleName<Managed>, &destroy_capsule<Managed>);
  if (capsule == nullptr) throw nb::python_error();
  static_cast<void>(made.release());  // owned by the capsule
  return nb::steal(capsule);
}

nb::object capsule_of(Rows rows, bool versioned, bool of_signed_type, bool flat) {
  if (flat && rows.width != 1) throw nb::value_error("a flat array needs rows of one limb");
  if (versioned) return capsule_of<dlpack::ManagedTensorVersioned>(std::move(rows), of_signed_type, flat);
  // The unversioned structure has no read-only flag.
  if ((rows.flags & dlpack::kReadOnly) != 0) {
    throw nb::buffer_error("a read-only array can be exported only by DLPack 1.0 or later");
  }
  return capsule_of<dlpack::ManagedTensor>(std::move(rows), of_signed_type, flat);
}

}  // namespace

nb::object to_capsule(const DeviceLimbs& limbs, bool versioned, bool of_signed_type, bool flat) {
  return capsule_of(rows_of(limbs), versioned, of_signed_type, flat);
}

nb::object to_copied_capsule(const DeviceLimbs& limbs, bool on_host, bool versioned, bool of_signed_type,
                             bool flat) {
  Rows rows = on_host ? rows_on_host(limbs) : rows_of(limbs.copy());
  rows.flags = dlpack::kIsCopied;
  return capsule_of(std::move(rows), versioned, of_signed_type, flat);
}

}  // namespace manymod::python

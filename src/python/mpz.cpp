// SPDX-License-Identifier: Apache-2.0
#include "python/mpz.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

#include "repr/limbs.hpp"

namespace manymod::python {
namespace {

static_assert(std::endian::native == std::endian::little, "limbs are copied as little-endian bytes");

// Indices into gmpy2's C API capsule, stable since gmpy2 2.1 (gmpy2.h).
constexpr std::size_t kMpzTypeIndex = 0;
constexpr std::size_t kXmpzTypeIndex = 1;
constexpr std::size_t kMpzNewIndex = 11;

struct KnownValue {
  const char* hex;
  std::size_t width;
  bool negative;
  Limb limbs[3];
};

// Values of both signs, zero, one limb and several limbs: they distinguish GMP's layout from any other.
constexpr KnownValue kKnownValues[] = {
    {"0", 0, false, {}},
    {"1", 1, false, {1}},
    {"-2", 1, true, {2}},
    {"fedcba9876543210", 1, false, {0xfedcba9876543210}},
    {"-123456789abcdef01", 2, true, {0x23456789abcdef01, 1}},
    {"8000000000000000deadbeefcafef00d0123456789abcdef",
     3,
     false,
     {0x0123456789abcdef, 0xdeadbeefcafef00d, 0x8000000000000000}},
};

class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {}
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  [[nodiscard]] PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

const MpzObject* as_mpz(const PyObject* value) { return reinterpret_cast<const MpzObject*>(value); }

std::size_t limb_count(const MpzObject* mpz) {
  return static_cast<std::size_t>(mpz->size < 0 ? -mpz->size : mpz->size);
}

bool holds(const PyObject* value, const KnownValue& known) {
  const MpzObject* mpz = as_mpz(value);
  const int size = static_cast<int>(known.width) * (known.negative ? -1 : 1);
  if (mpz->size != size || mpz->allocated < static_cast<int>(known.width)) return false;
  return known.width == 0 ||
         (mpz->limbs != nullptr && std::equal(known.limbs, known.limbs + known.width, mpz->limbs));
}

}  // namespace

const Gmpy2* Gmpy2::loaded() {
  static Gmpy2 instance;
  if (instance.mpz_type_ != nullptr) return &instance;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* module = modules != nullptr ? PyDict_GetItemString(modules, "gmpy2") : nullptr;
  if (module == nullptr || !instance.examine(module)) {
    PyErr_Clear();  // an unusable gmpy2 is treated as absent: its numbers are converted by __index__
    return nullptr;
  }
  return &instance;
}

bool Gmpy2::examine(PyObject* module) {
  const Owned type(PyObject_GetAttrString(module, "mpz"));
  if (type.get() == nullptr || !PyType_Check(type.get())) return false;
  PyObject* from_binary = PyObject_GetAttrString(module, "from_binary");
  if (from_binary == nullptr) return false;
  // Both live as long as the process, as gmpy2 cannot be unloaded.
  Py_INCREF(type.get());
  mpz_type_ = reinterpret_cast<PyTypeObject*>(type.get());
  from_binary_ = from_binary;
  layout_verified_ = verify_layout();
  if (layout_verified_) find_writer(module);
  PyErr_Clear();
  return true;
}

bool Gmpy2::verify_layout() const {
  const Owned basic_size(PyObject_GetAttrString(reinterpret_cast<PyObject*>(mpz_type_), "__basicsize__"));
  if (basic_size.get() == nullptr ||
      PyLong_AsSsize_t(basic_size.get()) < static_cast<Py_ssize_t>(sizeof(MpzObject))) {
    return false;
  }
  for (const KnownValue& known : kKnownValues) {
    const Owned value(PyObject_CallFunction(reinterpret_cast<PyObject*>(mpz_type_), "si", known.hex, 16));
    if (value.get() == nullptr || !is_mpz(value.get()) || !holds(value.get(), known)) return false;
  }
  return true;
}

/// gmpy2's allocator of mpz objects and the mpz realloc of the GMP that it uses, both verified by calling
/// them.
void Gmpy2::find_writer(PyObject* module) {
#if defined(__unix__) || defined(__APPLE__)
  const Owned capsule(PyObject_GetAttrString(module, "_C_API"));
  if (capsule.get() == nullptr || !PyCapsule_CheckExact(capsule.get())) return;
  auto** api = static_cast<void**>(PyCapsule_GetPointer(capsule.get(), "gmpy2._C_API"));
  const Owned xmpz(PyObject_GetAttrString(module, "xmpz"));
  if (api == nullptr || api[kMpzTypeIndex] != mpz_type_ || api[kXmpzTypeIndex] != xmpz.get()) return;
  Dl_info library{};
  if (dladdr(api[kMpzNewIndex], &library) == 0 || library.dli_fname == nullptr) return;
  // The handle keeps the library, which is loaded already, for the lifetime of the process.
  void* handle = dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return;
  void* realloc_symbol = dlsym(handle, "__gmpz_realloc");
  if (realloc_symbol == nullptr) return;
  std::memcpy(&new_mpz_, &api[kMpzNewIndex], sizeof new_mpz_);
  std::memcpy(&realloc_, &realloc_symbol, sizeof realloc_);
  if (!verify_writer()) new_mpz_ = nullptr;
#else
  (void)module;
#endif
}

bool Gmpy2::verify_writer() const {
  for (const KnownValue& known : kKnownValues) {
    const Owned written(write_direct(known.limbs, std::size(known.limbs), known.negative));
    if (written.get() == nullptr || !is_mpz(written.get()) || !holds(written.get(), known)) return false;
    const Owned expected(PyObject_CallFunction(reinterpret_cast<PyObject*>(mpz_type_), "si", known.hex, 16));
    if (expected.get() == nullptr || PyObject_RichCompareBool(written.get(), expected.get(), Py_EQ) != 1) {
      return false;
    }
  }
  return true;
}

PyObject* Gmpy2::write(const Limb* limbs, std::size_t width, bool negative) const {
  return new_mpz_ != nullptr ? write_direct(limbs, width, negative) : write_binary(limbs, width, negative);
}

PyObject* Gmpy2::write_direct(const Limb* limbs, std::size_t width, bool negative) const {
  const std::size_t size = limbs::normalized_size_var({limbs, width});
  PyObject* value = reserve(size);
  if (value != nullptr) fill(value, limbs, size, negative);
  return value;
}

void Gmpy2::fill(PyObject* value, const Limb* limbs, std::size_t width, bool negative) {
  const std::size_t size = limbs::normalized_size_var({limbs, width});
  std::copy_n(limbs, size, limbs_of(value));
  finish(value, size, negative);
}

PyObject* Gmpy2::reserve(std::size_t width) const {
  PyObject* value = new_mpz_(nullptr);
  if (value == nullptr) return nullptr;
  auto* mpz = reinterpret_cast<MpzObject*>(value);
  mpz->size = 0;
  // gmpy2 reuses freed objects with their limbs, so there is usually enough room.
  if (mpz->allocated < static_cast<int>(width)) realloc_(&mpz->allocated, static_cast<long>(width));
  return value;
}

void Gmpy2::finish(PyObject* value, std::size_t width, bool negative) {
  const std::size_t used = limbs::normalized_size_var({limbs_of(value), width});
  const int size = static_cast<int>(used);
  reinterpret_cast<MpzObject*>(value)->size = negative ? -size : size;
}

/// Create an mpz by gmpy2.from_binary, whose format is: byte 1, byte 1 (plus) or 2 (minus), then the
/// magnitude in little-endian bytes; zero is 01 00.
PyObject* Gmpy2::write_binary(const Limb* limbs, std::size_t width, bool negative) const {
  while (width > 0 && limbs[width - 1] == 0) --width;
  const Owned binary(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(2 + width * sizeof(Limb))));
  if (binary.get() == nullptr) return nullptr;
  char* bytes = PyBytes_AsString(binary.get());
  bytes[0] = 1;
  bytes[1] = static_cast<char>(width == 0 ? 0 : negative ? 2 : 1);
  if (width != 0) std::memcpy(bytes + 2, limbs, width * sizeof(Limb));
  return PyObject_CallFunctionObjArgs(from_binary_, binary.get(), nullptr);
}

IntExtent mpz_extent(const PyObject* value, bool exact) {
  const MpzObject* mpz = as_mpz(value);
  const std::size_t count = limb_count(mpz);
  if (count == 0) return {};
  if (!exact) return {count * kLimbBits, mpz->size < 0};
  return {(count - 1) * kLimbBits + static_cast<std::size_t>(std::bit_width(mpz->limbs[count - 1])),
          mpz->size < 0};
}

bool read_mpz(const PyObject* value, Limb* limbs, std::size_t width, bool* negative) {
  const MpzObject* mpz = as_mpz(value);
  const std::size_t count = limb_count(mpz);
  *negative = mpz->size < 0;
  if (count > width) return false;
  std::copy_n(mpz->limbs, count, limbs);
  std::fill(limbs + count, limbs + width, Limb{0});
  return true;
}

}  // namespace manymod::python

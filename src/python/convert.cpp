// SPDX-License-Identifier: Apache-2.0
#include "python/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "python/buffer.hpp"
#include "python/mpz.hpp"
#include "python/pyint.hpp"
#include "python/stable_abi.hpp"
#include "repr/limbs.hpp"

namespace manymod::python {
namespace {

// Number of items by which objects, which are scattered over the heap, are prefetched.
constexpr Py_ssize_t kAheadHeader = 24;
constexpr Py_ssize_t kAheadLimbs = 12;
/// Limbs of mpz whose memory is prefetched before they are written, and the number of items by which.
constexpr std::size_t kLongMpz = 40;
constexpr std::size_t kAheadResults = 4;

enum class Element : std::uint8_t { integer, mpz, other };

/// Distinguishes int, mpz and other elements. It looks for gmpy2 once, before the elements are visited, as
/// the look-up may run Python code.
class Classifier {
 public:
  Element operator()(PyObject* value) {
    if (PyLong_Check(value)) return Element::integer;
    if (gmpy2_ == nullptr || !gmpy2_->is_mpz(value)) return Element::other;
    met_mpz_ = true;
    return gmpy2_->layout_verified() ? Element::mpz : Element::other;
  }
  [[nodiscard]] bool met_mpz() const { return met_mpz_; }

 private:
  const Gmpy2* gmpy2_ = Gmpy2::loaded();
  bool met_mpz_ = false;
};

/// Raise a TypeError with the position and type of the element; a pending exception of another class is
/// rethrown.
[[noreturn]] void raise_bad_element(Py_ssize_t index, PyObject* value) {
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
  PyErr_Clear();
  PyErr_Format(PyExc_TypeError, "element %zd is not an integer: %.200s", index, type_name(value).c_str());
  throw nb::python_error();
}

nb::object as_index(Py_ssize_t index, PyObject* value) {
  PyObject* integer = PyNumber_Index(value);
  if (integer == nullptr) raise_bad_element(index, value);
  return nb::steal(integer);
}

nb::object fast_sequence(nb::handle sequence) {
  PyObject* fast = PySequence_Fast(sequence.ptr(), "expected a sequence of integers");
  if (fast == nullptr) throw nb::python_error();
  return nb::steal(fast);
}

/// A copy of `fast` in which every element that is neither int nor mpz is converted to int. It works on a
/// snapshot, because __index__ may run any code, including code that changes the caller's list.
nb::object replace_others(nb::handle fast, Classifier& classify) {
  nb::object copy = nb::steal(PySequence_List(fast.ptr()));
  if (!copy.is_valid()) throw nb::python_error();
  nb::object originals = nb::steal(PySequence_Tuple(copy.ptr()));
  if (!originals.is_valid()) throw nb::python_error();
  const Py_ssize_t count = PyTuple_Size(originals.ptr());
  const Elements items(originals.ptr());
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* value = items[i];
    if (classify(value) == Element::other) {
      if (PyList_SetItem(copy.ptr(), i, as_index(i, value).release().ptr()) != 0) throw nb::python_error();
    }
  }
  return copy;
}

struct SequenceExtent {
  std::size_t max_bits = 0;
  bool any_negative = false;
  bool plain = true;  ///< all elements are int or mpz
};

/// `exact`: mpz are measured in bits, else in limbs, which takes no access to them.
SequenceExtent measure(PyObject* fast, Classifier& classify, std::uint32_t* widths, bool exact) {
  SequenceExtent extent;
  const Elements items(fast);
  const Py_ssize_t count = PySequence_Size(fast);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i + kAheadHeader < count) prefetch_int(items[i + kAheadHeader]);
    IntExtent item;
    switch (classify(items[i])) {
      case Element::integer:
        item = int_extent(items[i]);
        break;
      case Element::mpz:
        item = mpz_extent(items[i], exact);
        break;
      case Element::other:
        extent.plain = false;
        return extent;
    }
    extent.max_bits = std::max(extent.max_bits, item.bits);
    extent.any_negative |= item.negative;
    if (widths != nullptr) {
      widths[i] = static_cast<std::uint32_t>(std::max<std::size_t>(1, limbs_for_bits(item.bits)));
    }
  }
  return extent;
}

/// @return (sequence whose elements are int or mpz, largest bit length, that of mpz in whole limbs, whether
/// any is negative, whether any is an mpz).
nb::tuple scan_ints(nb::handle sequence) {
  Classifier classify;
  nb::object fast = fast_sequence(sequence);
  SequenceExtent extent = measure(fast.ptr(), classify, nullptr, false);
  if (!extent.plain) {
    fast = replace_others(fast, classify);
    extent = measure(fast.ptr(), classify, nullptr, false);
  }
  return nb::make_tuple(fast, extent.max_bits, extent.any_negative, classify.met_mpz());
}

/// The largest bit length of a scanned sequence.
std::size_t most_bits(nb::handle sequence) {
  Classifier classify;
  const nb::object fast = fast_sequence(sequence);
  const SequenceExtent extent = measure(fast.ptr(), classify, nullptr, true);
  if (!extent.plain) throw nb::type_error("the sequence changed during the call");
  return extent.max_bits;
}

/// Write the number of limbs of each element of a scanned sequence to `widths`, uint32[N].
void int_widths(nb::handle sequence, nb::handle widths) {
  Classifier classify;
  const Buffer out(widths, Access::write, 1, "widths");
  const nb::object fast = fast_sequence(sequence);
  if (out.itemsize() != sizeof(std::uint32_t) || (out.shape(0) > 1 && out.stride(0) != out.itemsize()) ||
      out.shape(0) != static_cast<std::size_t>(PySequence_Size(fast.ptr()))) {
    throw nb::value_error("widths must be a contiguous uint32 array as long as the sequence");
  }
  if (!measure(fast.ptr(), classify, static_cast<std::uint32_t*>(out.data()), false).plain) {
    throw nb::type_error("the sequence changed during the call");
  }
}

/// Write elements [start, start + N) of a scanned sequence to limbs[N, L] and, if given, their signs.
void ints_to_limbs(nb::handle sequence, Py_ssize_t start, nb::handle limbs, nb::handle negative) {
  const LimbArray out(limbs, Access::write, "limbs");
  const ByteVector signs(negative, Access::write, out.count(), "negative");
  ElementReader(sequence).read(start, out.count(), out.row(0), out.width(), out.stride(), signs.data());
}

/// A list of the objects for each row.
nb::object limbs_to_objects(nb::handle limbs, nb::handle negative, bool mpz) {
  const LimbArray in(limbs, Access::read, "limbs");
  const ByteVector signs(negative, Access::read, in.count(), "negative");
  ElementWriter list(static_cast<Py_ssize_t>(in.count()), mpz);
  list.write(in.count(), in.row(0), in.width(), in.stride(), signs.data());
  return list.finish();
}

nb::object limbs_to_ints(nb::handle limbs, nb::handle negative) {
  return limbs_to_objects(limbs, negative, false);
}

nb::object limbs_to_mpz(nb::handle limbs, nb::handle negative) {
  return limbs_to_objects(limbs, negative, true);
}

/// How mpz are read and written, "none" without gmpy2; for tests and bug reports.
nb::tuple mpz_methods() {
  const Gmpy2* gmpy2 = Gmpy2::loaded();
  if (gmpy2 == nullptr) return nb::make_tuple("none", "none");
  return nb::make_tuple(gmpy2->layout_verified() ? "direct" : "index", gmpy2->write_method());
}

Limb load_big(const std::uint8_t* bytes) {
  Limb word = 0;
  std::memcpy(&word, bytes, sizeof word);
#if defined(__GNUC__)
  return __builtin_bswap64(word);
#else
  word = (word & 0x00ff00ff00ff00ff) << 8 | (word >> 8 & 0x00ff00ff00ff00ff);
  word = (word & 0x0000ffff0000ffff) << 16 | (word >> 16 & 0x0000ffff0000ffff);
  return word << 32 | word >> 32;
#endif
}

void store_big(Limb word, std::uint8_t* bytes) {
  const Limb swapped = load_big(reinterpret_cast<const std::uint8_t*>(&word));
  std::memcpy(bytes, &swapped, sizeof swapped);
}

/// Convert big-endian uint8[N, W] to limbs[N, L]. On input: 8 L >= W.
void bytes_to_limbs(nb::handle bytes, nb::handle limbs) {
  const ByteArray in(bytes, Access::read, "bytes");
  const LimbArray out(limbs, Access::write, "limbs");
  if (in.count() != out.count() || out.width() * sizeof(Limb) < in.width()) {
    throw nb::value_error("limbs do not have the shape of the bytes");
  }
  for (std::size_t i = 0; i < in.count(); ++i) read_bytes(in.row(i), in.width(), out.row(i), out.width());
}

/// Convert limbs[N, L] to big-endian uint8[N, W]. An OverflowError names the first item that needs more
/// bytes.
void limbs_to_bytes(nb::handle limbs, nb::handle bytes) {
  const LimbArray in(limbs, Access::read, "limbs");
  const ByteArray out(bytes, Access::write, "bytes");
  if (in.count() != out.count()) throw nb::value_error("bytes do not have the shape of the limbs");
  for (std::size_t i = 0; i < in.count(); ++i) {
    if (!write_bytes(in.row(i), in.width(), out.row(i), out.width())) {
      PyErr_Format(PyExc_OverflowError, "item %zu does not fit into %zu bytes", i, out.width());
      throw nb::python_error();
    }
  }
}

/// Convert a sequence of big-endian bytes objects to limbs[N, L]. On input: none is longer than 8 L bytes.
void bytes_list_to_limbs(nb::handle sequence, nb::handle limbs) {
  const LimbArray out(limbs, Access::write, "limbs");
  const nb::object fast = fast_sequence(sequence);
  if (static_cast<std::size_t>(PySequence_Size(fast.ptr())) != out.count()) {
    throw nb::value_error("limbs do not have the length of the sequence");
  }
  const Elements items(fast.ptr());
  for (std::size_t i = 0; i < out.count(); ++i) {
    PyObject* item = items[static_cast<Py_ssize_t>(i)];
    if (!PyBytes_Check(item)) {
      PyErr_Format(PyExc_TypeError, "element %zu is not bytes: %.200s", i, type_name(item).c_str());
      throw nb::python_error();
    }
    const auto width = static_cast<std::size_t>(PyBytes_Size(item));
    if (width > out.width() * sizeof(Limb)) throw nb::value_error("limbs are too narrow for the bytes");
    read_bytes(reinterpret_cast<const std::uint8_t*>(PyBytes_AsString(item)), width, out.row(i), out.width());
  }
}

}  // namespace

ElementReader::ElementReader(nb::handle sequence) : fast_(fast_sequence(sequence)) {}

void ElementReader::read(Py_ssize_t start, std::size_t count, Limb* limbs, std::size_t width,
                         std::size_t stride, std::uint8_t* negative) const {
  Classifier classify;
  const Py_ssize_t stop = start + static_cast<Py_ssize_t>(count);
  const Py_ssize_t size = PySequence_Size(fast_.ptr());
  if (start < 0 || stop > size) {
    throw nb::value_error("the sequence changed during the call");
  }
  const Elements items(fast_.ptr());
  for (Py_ssize_t i = start; i < stop; ++i) {
    if (i + kAheadHeader < size) prefetch_int(items[i + kAheadHeader]);
    const auto row = static_cast<std::size_t>(i - start);
    bool is_negative = false;
    bool fits = false;
    switch (classify(items[i])) {
      case Element::integer:
        fits = read_int(items[i], limbs + row * stride, width, &is_negative);
        break;
      case Element::mpz:
        if (i + kAheadLimbs < size && classify(items[i + kAheadLimbs]) == Element::mpz) {
          prefetch_mpz_limbs(items[i + kAheadLimbs]);
        }
        fits = read_mpz(items[i], limbs + row * stride, width, &is_negative);
        break;
      case Element::other:
        throw nb::type_error("the sequence changed during the call");
    }
    if (!fits || (is_negative && negative == nullptr)) {
      throw nb::value_error("the sequence changed during the call");
    }
    if (negative != nullptr) negative[row] = is_negative ? 1 : 0;
  }
}

ElementWriter::ElementWriter(Py_ssize_t count, bool mpz) : list_(nb::steal(PyList_New(count))) {
  if (!list_.is_valid()) throw nb::python_error();
  PyObject_GC_UnTrack(list_.ptr());  // no one sees it before it is complete
  if (mpz && (gmpy2_ = Gmpy2::loaded()) == nullptr) throw nb::import_error("gmpy2 is not imported");
}

void ElementWriter::write(std::size_t count, const Limb* limbs, std::size_t width, std::size_t stride,
                          const std::uint8_t* negative) {
  if (reserves_mpz() && width >= kLongMpz) return write_long_mpz(count, limbs, width, stride, negative);
  for (std::size_t i = 0; i < count; ++i) {
    const Limb* const row = limbs + i * stride;
    const bool minus = negative != nullptr && negative[i] != 0;
    append(gmpy2_ == nullptr ? write_int(row, width, minus) : gmpy2_->write(row, width, minus));
  }
}

/// As write(), with the memory of an mpz prefetched while those before it are written.
void ElementWriter::write_long_mpz(std::size_t count, const Limb* limbs, std::size_t width,
                                   std::size_t stride, const std::uint8_t* negative) {
  std::array<PyObject*, kAheadResults> reserved{};
  for (std::size_t i = 0; i < count + kAheadResults; ++i) {
    PyObject*& value = reserved[i % kAheadResults];
    if (i >= kAheadResults) {
      const std::size_t done = i - kAheadResults;
      Gmpy2::fill(value, limbs + done * stride, width, negative != nullptr && negative[done] != 0);
    }
    if (i >= count) continue;
    const std::size_t size = limbs::normalized_size_var({limbs + i * stride, width});
    value = append(gmpy2_->reserve(size));
    prefetch_mpz_room(value, size);
  }
}

PyObject* ElementWriter::append(PyObject* value) {
  if (value == nullptr) throw nb::python_error();
  NB_LIST_SET_ITEM(list_.ptr(), next_++, value);
  return value;
}

nb::object ElementWriter::finish() {
  PyObject_GC_Track(list_.ptr());
  return std::move(list_);
}

void read_bytes(const std::uint8_t* bytes, std::size_t width, Limb* limbs, std::size_t limb_width) {
  const std::size_t whole = width / sizeof(Limb);
  for (std::size_t j = 0; j < whole; ++j) limbs[j] = load_big(bytes + width - (j + 1) * sizeof(Limb));
  std::size_t used = whole;
  if (const std::size_t head = width % sizeof(Limb); head != 0) {
    Limb top = 0;
    for (std::size_t k = 0; k < head; ++k) top = top << 8 | bytes[k];
    limbs[used++] = top;
  }
  std::fill(limbs + used, limbs + limb_width, Limb{0});
}

bool write_bytes(const Limb* limbs, std::size_t limb_width, std::uint8_t* bytes, std::size_t width) {
  const std::size_t whole = std::min(width / sizeof(Limb), limb_width);
  for (std::size_t j = 0; j < whole; ++j) store_big(limbs[j], bytes + width - (j + 1) * sizeof(Limb));
  std::size_t rest = width - whole * sizeof(Limb);
  if (whole == limb_width) {
    std::memset(bytes, 0, rest);
    return true;
  }
  Limb top = limbs[whole];
  while (rest > 0) {
    bytes[--rest] = static_cast<std::uint8_t>(top & 0xff);
    top >>= 8;
  }
  return top == 0 && std::all_of(limbs + whole + 1, limbs + limb_width, [](Limb limb) { return limb == 0; });
}

void bind_convert(nb::module_& module) {
  module.def("scan_ints", &scan_ints, nb::arg("sequence"));
  module.def("most_bits", &most_bits, nb::arg("sequence"));
  module.def("int_widths", &int_widths, nb::arg("sequence"), nb::arg("widths"));
  module.def("ints_to_limbs", &ints_to_limbs, nb::arg("sequence"), nb::arg("start"), nb::arg("limbs"),
             nb::arg("negative").none());
  module.def("limbs_to_ints", &limbs_to_ints, nb::arg("limbs"), nb::arg("negative").none());
  module.def("limbs_to_mpz", &limbs_to_mpz, nb::arg("limbs"), nb::arg("negative").none());
  module.def("mpz_methods", &mpz_methods);
  module.def("bytes_to_limbs", &bytes_to_limbs, nb::arg("bytes"), nb::arg("limbs"));
  module.def("limbs_to_bytes", &limbs_to_bytes, nb::arg("limbs"), nb::arg("bytes"));
  module.def("bytes_list_to_limbs", &bytes_list_to_limbs, nb::arg("sequence"), nb::arg("limbs"));
}

}  // namespace manymod::python

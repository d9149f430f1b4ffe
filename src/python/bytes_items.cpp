// SPDX-License-Identifier: Apache-2.0
#include "python/bytes_items.hpp"

#include <memory>
#include <string>

#include "python/stable_abi.hpp"

namespace manymod::python {
namespace {

[[noreturn]] void reject(const char* what, const std::string& why) {
  throw nb::value_error((std::string(what) + ": " + why).c_str());
}

mm_bytes bytes_of(PyObject* object) {
  return {reinterpret_cast<const std::uint8_t*>(PyBytes_AsString(object)),
          static_cast<std::size_t>(PyBytes_Size(object))};
}

// The elements of a list or a tuple one by one. Objects lie anywhere in memory: those ahead are prefetched.
class PrefetchedElements {
 public:
  explicit PrefetchedElements(nb::handle sequence)
      : elements_(sequence.ptr()),
        count_(static_cast<std::size_t>(PyTuple_Check(sequence.ptr()) != 0 ? PyTuple_Size(sequence.ptr())
                                                                           : PyList_Size(sequence.ptr()))) {}

  [[nodiscard]] std::size_t size() const { return count_; }
  PyObject* operator[](std::size_t i) const {
    constexpr std::size_t kAhead = 24;
    if (i + kAhead < count_) __builtin_prefetch(elements_[static_cast<Py_ssize_t>(i + kAhead)]);
    return elements_[static_cast<Py_ssize_t>(i)];
  }

 private:
  Elements elements_;
  std::size_t count_;
};

}  // namespace

nb::tuple taken_items(nb::handle items) {
  // Subclasses may tell another length than they have.
  const bool copies = PyList_CheckExact(items.ptr()) != 0;
  if (!copies && PyTuple_CheckExact(items.ptr()) == 0) {
    throw nb::type_error("items must be a list or a tuple");
  }
  nb::object taken = nb::borrow(items);
  // To make a tuple may collect garbage, up to CPython 3.11, and finalizers may change the list.
  while (copies && (taken.is(items) || PyTuple_Size(taken.ptr()) != PySequence_Size(items.ptr()))) {
    taken = nb::steal(PyTuple_New(PySequence_Size(items.ptr())));
    if (!taken.is_valid()) throw nb::python_error();
  }
  // From here on nothing runs Python code.
  const PrefetchedElements elements(items);
  bool all_bytes = true;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    PyObject* const item = elements[i];
    all_bytes &= PyBytes_CheckExact(item) != 0;
    if (!copies) continue;
    Py_INCREF(item);
    NB_TUPLE_SET_ITEM(taken.ptr(), static_cast<Py_ssize_t>(i), item);
  }
  return nb::make_tuple(taken, all_bytes);
}

BytesView::BytesView(nb::handle object) {
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) == 0) return;
  if (PyErr_ExceptionMatches(PyExc_BufferError) == 0) throw nb::python_error();
  PyErr_Clear();
  throw nb::type_error("the bytes of a buffer must be contiguous");
}

BytesItems::BytesItems(nb::handle items, nb::handle offsets, const char* what)
    : offsets_(offsets, Access::read, what) {
  if (items.is_none()) return;
  if (offsets_.data() != nullptr) {
    read_slices(items, what);
  } else if (PyTuple_Check(items.ptr())) {
    read_tuple(items, what);
  } else {
    read_rows(items, what);
  }
}

void BytesItems::read_tuple(nb::handle items, const char* what) {
  kept_ = nb::borrow(items);
  const PrefetchedElements elements(items);
  const std::size_t count = elements.size();
  items_.reserve(count + 1);  // never null: mm_bytes_view.items selects the form of the view
  const auto refuse = [what](std::size_t i, const std::string& why) {
    throw nb::type_error((std::string(what) + ": item " + std::to_string(i) + why).c_str());
  };
  for (std::size_t i = 0; i < count; ++i) {
    PyObject* item = elements[i];
    if (PyBytes_Check(item)) {
      items_.push_back(bytes_of(item));
      continue;
    }
    if (PyObject_CheckBuffer(item) == 0) refuse(i, " must be bytes, not " + type_name(item));
    try {
      exported_.push_back(std::make_unique<BytesView>(item));
    } catch (const nb::builtin_exception& error) {
      refuse(i, std::string(": ") + error.what());
    }
    items_.push_back(exported_.back()->bytes());
  }
  view_.count = count;
  view_.items = items_.data();
}

void BytesItems::read_slices(nb::handle block, const char* what) {
  if (offsets_.size() == 0) reject(what, "no offsets");
  block_.emplace(block);
  // A copy, which other threads cannot change after the check.
  slices_.assign(offsets_.data(), offsets_.data() + offsets_.size());
  const std::int64_t end = slices_.back();
  // The library checks that the first offset is nonnegative and that they do not descend.
  if (end < 0 || static_cast<std::size_t>(end) > block_->bytes().size) reject(what, "offsets past the end");
  view_.count = slices_.size() - 1;
  view_.data = block_->bytes().data;
  view_.offsets = slices_.data();
}

void BytesItems::read_rows(nb::handle rows, const char* what) {
  rows_.emplace(rows, Access::read, 2, what);
  if (rows_->itemsize() != 1) reject(what, "must be uint8");
  if (rows_->shape(1) > 1 && rows_->stride(1) != 1) reject(what, "rows must be contiguous");
  if (rows_->shape(0) > 1 && rows_->shape(1) > 0 && rows_->stride(0) < 1) reject(what, "rows must ascend");
  view_.count = rows_->shape(0);
  view_.data = static_cast<const std::uint8_t*>(rows_->data());
  view_.size = rows_->shape(1);
  view_.stride = view_.count > 1 ? static_cast<std::size_t>(rows_->stride(0)) : 0;
}

}  // namespace manymod::python

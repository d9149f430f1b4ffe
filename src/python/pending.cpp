// SPDX-License-Identifier: Apache-2.0
#include "python/pending.hpp"

#include <algorithm>
#include <array>

#include "python/signing_service.hpp"

namespace manymod::python {
namespace {

void deallocate(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  auto* const pending = reinterpret_cast<Pending*>(self);
  mm_ticket_destroy(pending->ticket);
  delete pending->arrays;
  const auto free_object = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free_object(self);
  Py_DECREF(type);
}

PyObject* withdraw(PyObject* self, PyObject*) {
  auto* const pending = reinterpret_cast<Pending*>(self);
  return PyBool_FromLong(pending->service != nullptr && pending->service->withdraw(pending) ? 1 : 0);
}

PyObject* new_type() {
  static std::array<PyMethodDef, 2> methods{
      {{"withdraw", withdraw, METH_NOARGS,
        "Take back what has not begun. Returns whether that is all of the request."},
       {nullptr, nullptr, 0, nullptr}}};
  static std::array<PyType_Slot, 3> slots{
      {{Py_tp_dealloc, reinterpret_cast<void*>(&deallocate)}, {Py_tp_methods, methods.data()}, {0, nullptr}}};
  static PyType_Spec spec{"manymod._core.PendingAnswer", sizeof(Pending), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  return PyType_FromSpec(&spec);
}

}  // namespace

RequestArrays::RequestArrays(std::size_t items_count, nb::handle keys_of_items, nb::handle input,
                             nb::handle input_offsets, nb::handle output, nb::handle output_sizes,
                             nb::handle item_statuses, nb::handle make_answer)
    : count(items_count),
      keys(keys_of_items, Access::read, items_count, "keys"),
      items(input, input_offsets, "messages"),
      rows(output, Access::write, "output"),
      sizes(output_sizes, Access::write, items_count, "sizes"),
      statuses(item_statuses, Access::write, items_count, "status"),
      finish(nb::borrow(make_answer)) {
  if (rows.count() != count || (count > 1 && rows.row(1) != rows.row(0) + rows.width())) {
    throw nb::value_error("output: must be contiguous, with one row for each item");
  }
}

mm_service_requests RequestArrays::requests() const {
  mm_service_requests requests{};
  requests.struct_size = sizeof requests;
  requests.count = count;
  requests.key = keys.data();
  requests.input = items.view();
  requests.output = {rows.row(0), count, rows.width(), sizes.data()};
  requests.item_status = statuses.data();
  return requests;
}

bool RequestArrays::none_computed() const {
  return std::all_of(statuses.data(), statuses.data() + count,
                     [](std::uint8_t status) { return status == MM_ITEM_NOT_COMPUTED; });
}

nb::handle pending_type() {
  static PyObject* const type = new_type();
  if (type == nullptr) throw nb::python_error();
  return type;
}

}  // namespace manymod::python

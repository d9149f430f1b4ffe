// SPDX-License-Identifier: Apache-2.0
#include "python/service.hpp"

#include <memory>

#include "python/signing_service.hpp"

namespace manymod::python {

void bind_service(nb::module_& module) {
  module.attr("PendingAnswer") = pending_type();
  nb::class_<SigningService>(module, "SigningService")
      .def(
          "__init__",
          [](SigningService* self, double deadline, std::size_t max_batch, std::size_t max_queue,
             std::size_t max_waiters, unsigned max_concurrent, nb::handle future_type, nb::handle error_of) {
            new (self) SigningService({deadline, max_batch, max_queue, max_waiters, max_concurrent},
                                      future_type, error_of);
          },
          nb::arg("deadline"), nb::arg("max_batch"), nb::arg("max_queue"), nb::arg("max_waiters"),
          nb::arg("max_concurrent"), nb::arg("future_type"), nb::arg("error_of"))
      .def("add_rsa", &SigningService::add_rsa, nb::arg("ring"), nb::arg("op"), nb::arg("padding"))
      .def("add_ecc", &SigningService::add_ecc, nb::arg("plan"), nb::arg("op"), nb::arg("scheme"),
           nb::arg("curves"), nb::arg("secrets"), nb::arg("context").none(),
           nb::arg("context_offsets").none())
      .def("submit", &SigningService::submit, nb::arg("operation"), nb::arg("input"), nb::arg("key"),
           nb::arg("room"))
      .def("submit_later", &SigningService::submit_later, nb::arg("operation"), nb::arg("input"),
           nb::arg("key"))
      .def(
          "submit_many",
          [](SigningService& service, std::size_t operation, std::size_t count, nb::handle keys,
             nb::handle input, nb::handle input_offsets, nb::handle output, nb::handle sizes,
             nb::handle status, nb::handle finish, double room) {
            return service.submit_many(operation,
                                       std::make_unique<RequestArrays>(count, keys, input, input_offsets,
                                                                       output, sizes, status, finish),
                                       room);
          },
          nb::arg("operation"), nb::arg("count"), nb::arg("keys").none(), nb::arg("input"),
          nb::arg("input_offsets").none(), nb::arg("output"), nb::arg("sizes"), nb::arg("status"),
          nb::arg("finish"), nb::arg("room"))
      .def("call", &SigningService::call, nb::arg("operation"), nb::arg("input"), nb::arg("key"),
           nb::arg("block"))
      .def("deliver", &SigningService::deliver)
      .def("stop", &SigningService::stop, nb::arg("drain"))
      .def("delivers_here", &SigningService::delivers_here)
      .def("take_raised", &SigningService::take_raised)
      .def("statistics", &SigningService::statistics);
}

}  // namespace manymod::python

// SPDX-License-Identifier: Apache-2.0
// The futures of a service's requests, as the extension sees them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "manymod/service.h"
#include "python/buffer.hpp"
#include "python/bytes_items.hpp"

namespace manymod::python {

class SigningService;

struct DestroyTicket {
  void operator()(mm_ticket* ticket) const { mm_ticket_destroy(ticket); }
};
using Ticket = std::unique_ptr<mm_ticket, DestroyTicket>;

/// The arrays of many requests, exported until all are answered, and what makes the answer of them.
struct RequestArrays {
  RequestArrays(std::size_t items, nb::handle keys_of_items, nb::handle input, nb::handle input_offsets,
                nb::handle output, nb::handle output_sizes, nb::handle item_statuses, nb::handle make_answer);

  [[nodiscard]] mm_service_requests requests() const;
  /// Whether no request was computed, as all were withdrawn.
  [[nodiscard]] bool none_computed() const;

  const std::size_t count;
  const Vector<std::uint32_t> keys;
  const BytesItems items;
  const ByteArray rows;
  const Vector<std::size_t> sizes;
  const ByteVector statuses;
  const nb::object finish;  ///< () -> (result, exception)
};

/// The part of a future that the extension owns: an object of the Python type PendingAnswer, from which the
/// package derives its futures. Its memory comes zeroed. All members but `next` are guarded by the GIL;
/// `ticket` is also read by the thread that delivers answers.
struct Pending {
  PyObject_HEAD                 // which declares a member
      SigningService* service;  ///< null before it is submitted and once it is answered
  mm_ticket* ticket;            ///< owned; null before it is accepted
  RequestArrays* arrays;        ///< owned; null for a single request
  std::uint64_t place;          ///< among the requests that wait for room; 0: it is none of them
  Pending* next;                ///< in a list of answered requests
};

inline Pending* pending_of(nb::handle future) { return reinterpret_cast<Pending*>(future.ptr()); }

/// The type PendingAnswer, made once.
nb::handle pending_type();

}  // namespace manymod::python

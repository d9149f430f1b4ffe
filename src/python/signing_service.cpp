// SPDX-License-Identifier: Apache-2.0
#include "python/signing_service.hpp"

#include <nanobind/stl/pair.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "python/call.hpp"
#include "python/ecc.hpp"
#include "python/rsa.hpp"

namespace manymod::python {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks at signals, such as Ctrl-C, of a thread that waits.
constexpr std::chrono::milliseconds kSlice{50};
/// Answers that are handed out before another thread may have the GIL.
constexpr std::size_t kAtOnce = 1024;

/// Seconds, 0 and more, as a time of the C ABI, of which very long ones are as good as infinite.
std::chrono::nanoseconds duration_of(double seconds) {
  constexpr double kForever = 1e9;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, kForever) * 1e9));
}

nb::object interned(const char* text) {
  PyObject* const made = PyUnicode_InternFromString(text);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

void set(nb::handle object, nb::handle name, nb::handle value) {
  if (PyObject_SetAttr(object.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
}

void handle_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

mm_service_request request_of(std::size_t operation, const nb::bytes& input, std::uint32_t key) {
  mm_service_request request{};
  request.struct_size = sizeof request;
  request.operation = operation;
  request.key = key;
  request.input = {static_cast<const std::uint8_t*>(input.data()), input.size()};
  return request;
}

mm_service* new_service(const SigningLimits& limits) {
  mm_service_options options{};
  options.struct_size = sizeof options;
  options.deadline_ns =
      std::max<std::uint64_t>(1, static_cast<std::uint64_t>(duration_of(limits.deadline).count()));
  options.max_batch = limits.max_batch;
  options.max_queue = limits.max_queue;
  options.max_concurrent = limits.max_concurrent;
  mm_service* service = nullptr;
  if (const mm_status status = mm_service_create(&options, &service); status != MM_OK)
    throw_call_error(status);
  return service;
}

nb::tuple quantiles(const mm_service_times& times) {
  return nb::make_tuple(times.p50, times.p95, times.p99, times.max);
}

/// Whether the answer was computed, and so comes on a thread of the service, which may wait.
bool was_computed(mm_status status) { return status != MM_ITEM_NOT_COMPUTED; }

}  // namespace

SigningService::SigningService(const SigningLimits& limits, nb::handle future_type, nb::handle error_of)
    : future_type_(nb::borrow(future_type)),
      error_of_(nb::borrow(error_of)),
      process_number_(nb::int_(process_)),
      pending_state_(interned("PENDING")),
      finished_state_(interned("FINISHED")),
      process_name_(interned("_process")),
      state_name_(interned("_state")),
      result_name_(interned("_result")),
      exception_name_(interned("_exception")),
      condition_name_(interned("_own_condition")),
      max_waiters_(limits.max_waiters),
      service_(new_service(limits)),
      answered_(limits.max_queue) {
  const bool is_pending = PyType_Check(future_type.ptr()) != 0 &&
                          PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(future_type.ptr()),
                                           reinterpret_cast<PyTypeObject*>(pending_type().ptr())) != 0;
  if (!is_pending) throw nb::type_error("future_type: must be a PendingAnswer");
}

SigningService::~SigningService() {
  if (is_forked()) {  // the parent's: a thread that is gone may hold their locks
    static_cast<void>(service_.release());
    new std::vector<nb::object>(std::move(kept_));
    new std::map<std::uint64_t, Waiting>(std::move(waiting_));
    return;
  }
  const nb::gil_scoped_release free;
  service_.reset();
}

std::size_t SigningService::add_rsa(nb::handle ring, int op, nb::handle padding) {
  std::size_t operation = 0;
  const mm_status status = mm_service_add_rsa(service_.get(), ring_of(ring), static_cast<mm_rsa_op>(op),
                                              &padding_of(padding), &operation);
  if (status != MM_OK) throw_call_error(status);
  kept_.push_back(nb::borrow(ring));
  return operation;
}

std::size_t SigningService::add_ecc(nb::handle plan, int op, nb::handle scheme, nb::handle curves,
                                    nb::handle secrets, nb::handle context, nb::handle context_offsets) {
  const BytesItems keys(secrets, nb::none(), "secrets");
  const BytesItems contexts(context, context_offsets, "context");
  const Vector<std::uint32_t> curves_of_keys(curves, Access::read, keys.view().count, "curves");
  mm_ecc_call pattern = scheme_of(scheme);
  pattern.op = static_cast<mm_ecc_op>(op);
  pattern.count = keys.view().count;
  pattern.curve = curves_of_keys.data();
  pattern.secret = keys.view();
  pattern.context = contexts.view();
  std::size_t operation = 0;
  const mm_status status = mm_service_add_ecc(service_.get(), plan_of(plan), &pattern, &operation);
  if (status != MM_OK) throw_call_error(status);
  kept_.push_back(nb::borrow(plan));
  return operation;
}

// ---- requests
// -----------------------------------------------------------------------------------------------

nb::object SigningService::make_future() const {
  auto* const type = reinterpret_cast<PyTypeObject*>(future_type_.ptr());
  PyObject* const made = type->tp_alloc(type, 0);
  if (made == nullptr) throw nb::python_error();
  nb::object future = nb::steal(made);
  // What Job.__init__ does. The members that an answer changes are there from now on: changing them allocates
  // nothing, so that no garbage collection, and no other thread, comes in between.
  set(future, process_name_, process_number_);
  set(future, result_name_, nb::none());
  set(future, state_name_, pending_state_);
  return future;
}

void SigningService::refuse(mm_status status) {
  if (is_forked()) {
    throw std::runtime_error("the signer belongs to the process that this one was forked off from");
  }
  if (status == MM_ERR_FULL || status == MM_ERR_CLOSED) ++refused_;
  throw_call_error(status);
}

/// Submit once, and let the answer own a reference to the future if the request is accepted.
template <class Submit>
mm_status SigningService::try_submit(Pending* pending, const Submit& submit) {
  pending->service = this;
  Py_INCREF(pending);
  answered_.expect();
  const mm_status status = submit();
  if (status == MM_OK) return status;
  answered_.settle(1);
  pending->service = nullptr;
  Py_DECREF(pending);
  return status;
}

/// Try again, without the GIL, until there is room. The exception of a signal's handler ends that.
template <class Submit>
mm_status SigningService::submit_when_room(double room, const Submit& submit) {
  const Clock::time_point until = Clock::now() + duration_of(room);
  mm_status status = MM_ERR_FULL;
  while (status == MM_ERR_FULL) {
    const Clock::duration left = until - Clock::now();
    if (left <= Clock::duration::zero()) break;
    status = submit(std::min<std::chrono::nanoseconds>(left, kSlice));
    if (status == MM_ERR_FULL) handle_signals();
  }
  return status;
}

template <class Submit>
void SigningService::accept(nb::handle future, double room, const Submit& submit) {
  Pending* const pending = pending_of(future);
  // With the GIL: releasing it for every request would cost more than the request does.
  mm_status status = try_submit(pending, [&] { return submit(std::chrono::nanoseconds{0}); });
  if (status == MM_ERR_FULL && room > 0 && !delivers_here()) {
    status = submit_when_room(room, [&](std::chrono::nanoseconds slice) {
      return try_submit(pending, [&] {
        const nb::gil_scoped_release free;
        return submit(slice);
      });
    });
  }
  if (status != MM_OK) refuse(status);
}

mm_status SigningService::submit_one(Pending* pending, const mm_service_request& request) {
  const auto answer = [](const mm_answer* given, void* user) {
    auto* const answered = static_cast<Pending*>(user);
    answered->service->answered_.push(answered, was_computed(given->status));
  };
  return mm_service_submit(service_.get(), &request, answer, pending, &pending->ticket);
}

nb::object SigningService::submit(std::size_t operation, const nb::bytes& input, std::uint32_t key,
                                  double room) {
  nb::object future = make_future();
  mm_service_request request = request_of(operation, input, key);
  accept(future, room, [&](std::chrono::nanoseconds slice) {
    request.room_ns = static_cast<std::uint64_t>(slice.count());
    return submit_one(pending_of(future), request);
  });
  return future;
}

nb::object SigningService::submit_later(std::size_t operation, nb::bytes input, std::uint32_t key) {
  nb::object future = make_future();
  Pending* const pending = pending_of(future);
  if (waiting_.empty()) {
    const mm_service_request request = request_of(operation, input, key);
    const mm_status status = try_submit(pending, [&] { return submit_one(pending, request); });
    if (status == MM_OK) return future;
    if (status != MM_ERR_FULL) refuse(status);
  }
  if (waiting_.size() >= max_waiters_) {
    ++refused_;
    throw_call_error(MM_ERR_FULL, std::to_string(max_waiters_) + " requests await room already");
  }
  pending->service = this;
  pending->place = ++places_;
  waiting_.try_emplace(pending->place, Waiting{future, operation, std::move(input), key});
  return future;
}

nb::object SigningService::submit_many(std::size_t operation, std::unique_ptr<RequestArrays> arrays,
                                       double room) {
  nb::object future = make_future();
  Pending* const pending = pending_of(future);
  pending->arrays = arrays.release();
  mm_service_requests requests = pending->arrays->requests();
  requests.operation = operation;
  accept(future, room, [&](std::chrono::nanoseconds slice) {
    requests.room_ns = static_cast<std::uint64_t>(slice.count());
    const auto done = [](mm_status, void* user) {
      auto* const answered = static_cast<Pending*>(user);
      // Arrays are few: who answers the last request of one does not wait, and may hold the GIL.
      answered->service->answered_.push(answered, false);
    };
    return mm_service_submit_many(service_.get(), &requests, done, pending, &pending->ticket);
  });
  return future;
}

void SigningService::wait_for(mm_ticket* ticket) {
  mm_status status = MM_ERR_TIMEOUT;
  while (status == MM_ERR_TIMEOUT) {
    {
      const nb::gil_scoped_release free;
      status = mm_ticket_wait(ticket, static_cast<std::uint64_t>(std::chrono::nanoseconds(kSlice).count()));
    }
    if (status == MM_ERR_TIMEOUT && PyErr_CheckSignals() != 0) {
      mm_ticket_cancel(ticket);
      throw nb::python_error();
    }
  }
  if (status != MM_OK) refuse(status);
}

nb::object SigningService::call(std::size_t operation, const nb::bytes& input, std::uint32_t key,
                                bool block) {
  if (delivers_here()) throw std::runtime_error("sign() in a callback of the signer: use submit()");
  mm_service_request request = request_of(operation, input, key);
  request.here = 1;
  mm_ticket* made = nullptr;
  const auto submit = [&](std::chrono::nanoseconds slice) {
    request.room_ns = static_cast<std::uint64_t>(slice.count());
    const nb::gil_scoped_release free;
    return mm_service_submit(service_.get(), &request, nullptr, nullptr, &made);
  };
  mm_status status = submit(std::chrono::nanoseconds{0});
  if (status == MM_ERR_FULL && block) {
    status = submit_when_room(std::numeric_limits<double>::infinity(), submit);
  }
  if (status != MM_OK) refuse(status);
  const Ticket ticket(made);
  wait_for(made);
  mm_answer answer{};
  if (const mm_status read = mm_ticket_answer(made, &answer); read != MM_OK) throw_call_error(read);
  if (answer.status == MM_OK) return nb::bytes(answer.output.data, answer.output.size);
  const nb::object error = error_of_(static_cast<int>(answer.status), answer.message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

bool SigningService::withdraw(Pending* pending) {
  if (is_forked()) return false;
  if (pending->place != 0) {
    answered_.expect();
    static_cast<void>(waiting_.at(pending->place).future.release());  // to the answer
    waiting_.erase(std::exchange(pending->place, 0));
    answered_.push(pending, false);
    return true;
  }
  return mm_ticket_cancel(pending->ticket) == (pending->arrays == nullptr ? 1 : pending->arrays->count);
}

// ---- answers
// ------------------------------------------------------------------------------------------------

bool SigningService::delivers_here() const { return deliverer_ == PyThread_get_thread_ident(); }

void SigningService::deliver() {
  deliverer_ = PyThread_get_thread_ident();
  for (;;) {
    Pending* list = nullptr;
    std::size_t count = 0;
    {
      const nb::gil_scoped_release free;
      spent_.clear();
      list = answered_.take(kAtOnce, count);
      for (Pending* i = list; i != nullptr; i = i->next) {
        // It was answered; what is left to wait for is the end of the callback that said so.
        if (i->ticket != nullptr) static_cast<void>(mm_ticket_wait(i->ticket, UINT64_MAX));
      }
    }
    // Once it is stopped. Requests that wait for room are refused then, or withdrawn meanwhile.
    if (list == nullptr && waiting_.empty() && answered_.is_idle()) break;
    while (list != nullptr) {
      Pending* const next = list->next;
      settle(nb::steal(reinterpret_cast<PyObject*>(list)));
      list = next;
    }
    answered_.settle(count);
    submit_waiting();
  }
  const nb::gil_scoped_release free;
  static_cast<void>(mm_service_close(service_.get(), 1));
}

/// Submit requests that wait for room. They wait only while the queue is full, and each request that leaves
/// it is answered, after which this is called: none waits for ever.
void SigningService::submit_waiting() {
  while (!waiting_.empty()) {
    Waiting& first = waiting_.begin()->second;
    Pending* const pending = pending_of(first.future);
    const mm_service_request request = request_of(first.operation, first.input, first.key);
    const mm_status status = try_submit(pending, [&] { return submit_one(pending, request); });
    pending->service = this;
    if (status == MM_ERR_FULL) return;
    const nb::object future = std::move(first.future);
    waiting_.erase(std::exchange(pending->place, 0));
    if (status == MM_OK) continue;
    pending->service = nullptr;
    ++refused_;
    finish(future, exception_name_, call_error(status, mm_last_error()));
  }
}

void SigningService::settle(nb::object future) {
  Pending* const pending = pending_of(future);
  mm_answer answer{MM_ITEM_NOT_COMPUTED, 0, {}, ""};
  if (pending->ticket != nullptr) {
    static_cast<void>(mm_ticket_answer(pending->ticket, &answer));
    spent_.emplace_back(std::exchange(pending->ticket, nullptr));
  }
  pending->service = nullptr;
  const std::unique_ptr<const RequestArrays> arrays(std::exchange(pending->arrays, nullptr));
  try {
    if (arrays != nullptr) {
      settle_many(future, *arrays, answer);
    } else if (answer.status == MM_OK) {
      finish(future, result_name_, nb::bytes(answer.output.data, answer.output.size));
    } else if (answer.status == MM_ITEM_NOT_COMPUTED) {
      end_withdrawn(future);
    } else {
      finish(future, exception_name_, error_of_(static_cast<int>(answer.status), answer.message));
    }
  } catch (nb::python_error& error) {  // of a callback, after all of them were called
    if (error.matches(PyExc_SystemExit)) return;
    error.restore();
    PyErr_WriteUnraisable(future.ptr());
  }
}

void SigningService::settle_many(nb::handle future, const RequestArrays& arrays, const mm_answer& answer) {
  if (answer.status != MM_OK && answer.status != MM_ERR_ITEMS) {
    finish(future, exception_name_, error_of_(static_cast<int>(answer.status), answer.message));
  } else if (arrays.none_computed()) {
    end_withdrawn(future);
  } else {
    const auto [result, error] = nb::cast<std::pair<nb::object, nb::object>>(arrays.finish());
    error.is_none() ? finish(future, result_name_, result) : finish(future, exception_name_, error);
  }
}

/// Give a future its result or exception, unless someone else has. One that has no condition yet is known to
/// nobody who waits for it, and has no callbacks.
void SigningService::finish(nb::handle future, nb::handle name, nb::handle value) {
  const auto untouched = [&] { return nb::getattr(future, condition_name_).is_none(); };
  if (untouched()) {
    set(future, name, value);  // which may collect garbage, and so let others run
    if (untouched()) return set(future, state_name_, finished_state_);
  }
  const bool fails = name.is(exception_name_);
  nb::getattr(future, "_settle")(fails ? nb::none() : nb::borrow(value),
                                 fails ? nb::borrow(value) : nb::none());
}

void SigningService::end_withdrawn(nb::handle future) {
  try {
    nb::getattr(future, "_end_withdrawn")();
  } catch (nb::python_error& error) {
    raised_ = nb::borrow(error.value());
  }
}

void SigningService::stop(bool drain) {
  if (is_forked()) return;
  const nb::gil_scoped_release free;
  static_cast<void>(mm_service_stop(service_.get(), drain ? 1 : 0));
  answered_.stop();
}

nb::dict SigningService::statistics() const {
  mm_service_statistics all{};
  all.struct_size = sizeof all;
  const mm_status status = mm_service_get_statistics(service_.get(), &all);
  if (is_forked()) {
    throw std::runtime_error("the signer belongs to the process that this one was forked off from");
  }
  if (status != MM_OK) throw_call_error(status);
  nb::dict found;
  found["accepted"] = all.accepted;
  found["signed"] = all.computed;
  found["failed"] = all.failed;
  found["cancelled"] = all.cancelled;
  found["refused"] = refused_;
  found["waiting"] = all.waiting;
  found["batches"] = all.batches;
  nb::dict sizes;
  for (std::size_t i = 0; i < std::size(all.batch_sizes); ++i) {
    if (all.batch_sizes[i] != 0) sizes[nb::int_(std::uint64_t{1} << i)] = all.batch_sizes[i];
  }
  found["batch_sizes"] = sizes;
  found["latency"] = quantiles(all.answered);
  found["queued"] = quantiles(all.queued);
  found["computing"] = quantiles(all.computing);
  return found;
}

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

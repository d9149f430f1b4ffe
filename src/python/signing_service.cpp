// SPDX-License-Identifier: Apache-2.0
#include "python/signing_service.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "python/call.hpp"
#include "python/ecc.hpp"
#include "python/gil.hpp"
#include "python/rsa.hpp"

namespace manymod::python {
namespace {

using Clock = std::chrono::steady_clock;

/// Between two looks at signals, such as Ctrl-C, of a thread that waits.
constexpr std::chrono::milliseconds kSlice{50};

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
  spent_.reserve(kAtOnce);
}

SigningService::~SigningService() {
  if (is_forked()) {  // the parent's: a thread that is gone may hold their locks
    static_cast<void>(service_.release());
    new std::vector<nb::object>(std::move(kept_));
    new std::map<std::uint64_t, Waiting>(std::move(waiting_));
    return;
  }
  const ReleasedGil free;
  service_.reset();
}

/// Add an operation by add_operation(number), and keep what it computes with. @return the number
template <class Add>
std::size_t SigningService::add(nb::handle kept, const Add& add_operation) {
  std::size_t operation = 0;
  mm_status status = MM_OK;
  {
    const ReleasedGil free;
    status = add_operation(operation);
  }
  if (status != MM_OK) throw_call_error(status);
  kept_.push_back(nb::borrow(kept));
  return operation;
}

std::size_t SigningService::add_rsa(nb::handle ring, int op, nb::handle padding) {
  mm_rsa_ring* const of = ring_of(ring);
  const mm_rsa_padding& how = padding_of(padding);
  return add(ring, [&](std::size_t& operation) {
    return mm_service_add_rsa(service_.get(), of, static_cast<mm_rsa_op>(op), &how, &operation);
  });
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
  mm_ecc_plan* const of = plan_of(plan);
  return add(plan, [&](std::size_t& operation) {
    return mm_service_add_ecc(service_.get(), of, &pattern, &operation);
  });
}

// ---- requests ------------------------------------------------------------------------------------------

nb::object SigningService::make_future() const {
  auto* const type = reinterpret_cast<PyTypeObject*>(future_type_.ptr());
  PyObject* const made = PyType_GenericAlloc(type, 0);
  if (made == nullptr) throw nb::python_error();
  nb::object future = nb::steal(made);
  // What Job.__init__ does. The members that an answer changes are there from now on: changing them allocates
  // nothing, so that no garbage collection, and no other thread, comes in between.
  set_attribute(future, process_name_, process_number_);
  set_attribute(future, result_name_, nb::none());
  set_attribute(future, state_name_, pending_state_);
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
  Py_INCREF(&pending->ob_base);
  answered_.expect();
  const mm_status status = submit();
  if (status == MM_OK) return status;
  answered_.settle(1);
  pending->service = nullptr;
  Py_DECREF(&pending->ob_base);
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
        const ReleasedGil free;
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
      const ReleasedGil free;
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
    const ReleasedGil free;
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
  if (answer.status == MM_OK) return bytes_of(answer.output);
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
    end_refused(future, status, mm_last_error());
  }
}

}  // namespace manymod::python

// SPDX-License-Identifier: Apache-2.0
// The side of a signing service on which answers become results of futures.
#include <nanobind/stl/pair.h>

#include <exception>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "python/call.hpp"
#include "python/gil.hpp"
#include "python/signing_service.hpp"

namespace manymod::python {
namespace {

nb::tuple quantiles(const mm_service_times& times) {
  return nb::make_tuple(times.p50, times.p95, times.p99, times.max);
}

}  // namespace

bool SigningService::delivers_here() const { return deliverer_ == PyThread_get_thread_ident(); }

void SigningService::deliver() {
  deliverer_ = PyThread_get_thread_ident();
  for (;;) {
    Pending* list = nullptr;
    std::size_t count = 0;
    {
      const ReleasedGil free;
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
  const ReleasedGil free;
  static_cast<void>(mm_service_close(service_.get(), 1));
}

void SigningService::settle(const nb::object& future) noexcept {
  Pending* const pending = pending_of(future);
  mm_answer answer{MM_ITEM_NOT_COMPUTED, 0, {}, ""};
  if (pending->ticket != nullptr) {
    static_cast<void>(mm_ticket_answer(pending->ticket, &answer));
    spent_.emplace_back(std::exchange(pending->ticket, nullptr));
  }
  pending->service = nullptr;
  const std::unique_ptr<const RequestArrays> arrays(std::exchange(pending->arrays, nullptr));
  end(future, [&] { give(future, arrays.get(), answer); });
}

void SigningService::give(nb::handle future, const RequestArrays* arrays, const mm_answer& answer) {
  const bool failed = answer.status != MM_OK && answer.status != MM_ITEM_NOT_COMPUTED;
  if (failed && (arrays == nullptr || answer.status != MM_ERR_ITEMS)) {
    finish(future, exception_name_, error_of_(static_cast<int>(answer.status), answer.message));
  } else if (arrays != nullptr) {
    give_answer_of(future, *arrays);
  } else if (answer.status == MM_OK) {
    finish(future, result_name_, bytes_of(answer.output));
  } else {
    end_withdrawn(future);
  }
}

void SigningService::give_answer_of(nb::handle future, const RequestArrays& arrays) {
  if (arrays.none_computed()) return end_withdrawn(future);
  const auto [result, error] = nb::cast<std::pair<nb::object, nb::object>>(arrays.finish());
  error.is_none() ? finish(future, result_name_, result) : finish(future, exception_name_, error);
}

/// End a future by give(). Where that fails before the future has ended, as without memory, the failure ends
/// it; what is raised afterwards comes from a callback, and all of them were called.
template <class Give>
void SigningService::end(nb::handle future, const Give& give) noexcept {
  try {
    give();
  } catch (nb::python_error& error) {
    if (!has_ended(future)) return end_by(future, error.value());
    if (error.matches(PyExc_SystemExit)) return;  // as of a thread's function
    error.restore();
    PyErr_WriteUnraisable(future.ptr());
  } catch (const std::exception&) {
    PyErr_NoMemory();
    const nb::python_error error;
    if (!has_ended(future)) end_by(future, error.value());
  }
}

void SigningService::end_by(nb::handle future, nb::handle exception) noexcept {
  constexpr int kAttempts = 100;  // which need hardly any memory
  for (int i = 0; i < kAttempts && !has_ended(future); ++i) {
    try {
      finish(future, exception_name_, exception);
    } catch (const std::exception&) {  // as above
    }
  }
}

void SigningService::end_withdrawn(nb::handle future) {
  try {
    nb::getattr(future, "_end_withdrawn")();
  } catch (nb::python_error& error) {
    if (!has_ended(future)) throw;
    raised_ = nb::borrow(error.value());
  }
}

void SigningService::end_refused(nb::handle future, mm_status status, const std::string& message) noexcept {
  end(future, [&] { finish(future, exception_name_, call_error(status, message)); });
}

/// Give a future its result or exception, unless someone else has. One that has no condition yet is known to
/// nobody who waits for it, and has no callbacks.
void SigningService::finish(nb::handle future, nb::handle name, nb::handle value) {
  const auto untouched = [&] { return nb::getattr(future, condition_name_).is_none(); };
  if (untouched()) {
    set_attribute(future, name, value);  // which may collect garbage, and so let others run
    if (untouched()) return set_attribute(future, state_name_, finished_state_);
  }
  const bool fails = name.is(exception_name_);
  nb::getattr(future, "_settle")(fails ? nb::none() : nb::borrow(value),
                                 fails ? nb::borrow(value) : nb::none());
}

bool SigningService::has_ended(nb::handle future) const {
  const nb::object state = nb::steal(PyObject_GetAttr(future.ptr(), state_name_.ptr()));
  const auto is = [&](const char* name) { return PyUnicode_CompareWithASCIIString(state.ptr(), name) == 0; };
  return !is("PENDING") && !is("RUNNING");
}

void SigningService::stop(bool drain) {
  if (is_forked()) return;
  const ReleasedGil free;
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

}  // namespace manymod::python

// SPDX-License-Identifier: Apache-2.0
// A service of service.h whose answers become the results of Python futures.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/library_thread.hpp"
#include "manymod/service.h"
#include "python/answered.hpp"
#include "python/pending.hpp"

namespace manymod::python {

/// As bytes. @throws nb::python_error
inline nb::object bytes_of(const mm_bytes& bytes) {
  PyObject* const made = PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data),
                                                   static_cast<Py_ssize_t>(bytes.size));
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

/// @throws nb::python_error
inline void set_attribute(nb::handle object, nb::handle name, nb::handle value) {
  if (PyObject_SetAttr(object.ptr(), name.ptr(), value.ptr()) != 0) throw nb::python_error();
}

/// Limits of a service; times in seconds.
struct SigningLimits {
  double deadline;
  std::size_t max_batch, max_queue, max_waiters;
  unsigned max_concurrent;
};

/// All functions are called with the GIL, which guards the members but for `answered_`. Threads of the
/// service never take it: they leave their answers to the Python thread that runs deliver().
class SigningService {
 public:
  /// `future_type`: a class derived from PendingAnswer, with the members of asynchronous.Job.
  /// `error_of`: (status, message) -> the exception of a request with that answer.
  SigningService(const SigningLimits& limits, nb::handle future_type, nb::handle error_of);
  ~SigningService();
  SigningService(const SigningService&) = delete;
  SigningService& operator=(const SigningService&) = delete;

  /// Add operations, see mm_service_add_*. @return their number
  std::size_t add_rsa(nb::handle ring, int op, nb::handle padding);
  std::size_t add_ecc(nb::handle plan, int op, nb::handle scheme, nb::handle curves, nb::handle secrets,
                      nb::handle context, nb::handle context_offsets);

  /// A future of the result of a request. `room`: seconds to wait for room; not on the thread of deliver().
  nb::object submit(std::size_t operation, const nb::bytes& input, std::uint32_t key, double room);
  /// The same, for a caller that cannot wait: without room the request waits among at most `max_waiters`
  /// others until there is some.
  nb::object submit_later(std::size_t operation, nb::bytes input, std::uint32_t key);
  /// A future of what `arrays` lead to.
  nb::object submit_many(std::size_t operation, std::unique_ptr<RequestArrays> arrays, double room);
  /// The result of a request, which an idle service computes on this thread. Signals are handled meanwhile.
  nb::object call(std::size_t operation, const nb::bytes& input, std::uint32_t key, bool block);
  /// Take back what has not begun. @return whether that is all of it
  bool withdraw(Pending* pending);

  /// Hand out answers until the service is stopped and all of them are; the body of a Python thread.
  void deliver();
  /// Accept nothing more.
  void stop(bool drain);
  /// Whether this is the thread of deliver(), which must not wait for answers.
  [[nodiscard]] bool delivers_here() const;
  /// What a callback of a request raised that stop() has cancelled, or None; only once.
  nb::object take_raised() { return std::exchange(raised_, nb::none()); }
  [[nodiscard]] nb::dict statistics() const;

 private:
  struct Waiting {
    nb::object future;
    std::size_t operation;
    nb::bytes input;
    std::uint32_t key;
  };
  struct Destroy {
    void operator()(mm_service* service) const { mm_service_destroy(service); }
  };

  [[nodiscard]] bool is_forked() const { return process_ != process_id(); }
  [[nodiscard]] nb::object make_future() const;
  template <class Add>
  std::size_t add(nb::handle kept, const Add& add_operation);
  template <class Submit>
  mm_status try_submit(Pending* pending, const Submit& submit);
  template <class Submit>
  void accept(nb::handle future, double room, const Submit& submit);
  template <class Submit>
  mm_status submit_when_room(double room, const Submit& submit);
  mm_status submit_one(Pending* pending, const mm_service_request& request);
  [[noreturn]] void refuse(mm_status status);
  void wait_for(mm_ticket* ticket);
  void submit_waiting();
  void settle(const nb::object& future) noexcept;
  void give(nb::handle future, const RequestArrays* arrays, const mm_answer& answer);
  void give_answer_of(nb::handle future, const RequestArrays& arrays);
  template <class Give>
  void end(nb::handle future, const Give& give) noexcept;
  void end_by(nb::handle future, nb::handle exception) noexcept;
  void end_withdrawn(nb::handle future);
  void end_refused(nb::handle future, mm_status status, const std::string& message) noexcept;
  void finish(nb::handle future, nb::handle name, nb::handle value);
  [[nodiscard]] bool has_ended(nb::handle future) const;

  const long process_ = process_id();
  const nb::object future_type_, error_of_;
  const nb::object process_number_, pending_state_, finished_state_;
  const nb::object process_name_, state_name_, result_name_, exception_name_, condition_name_;
  const std::size_t max_waiters_;
  std::vector<nb::object> kept_;  ///< rings and plans of the operations
  std::unique_ptr<mm_service, Destroy> service_;
  Answered answered_;
  std::map<std::uint64_t, Waiting> waiting_;  ///< for room, in the order of their arrival
  std::uint64_t places_ = 0;                  ///< that were given
  /// Answers that are handed out before another thread may have the GIL.
  static constexpr std::size_t kAtOnce = 1024;
  std::vector<Ticket> spent_;               ///< at most kAtOnce, to be destroyed without the GIL
  std::optional<unsigned long> deliverer_;  ///< the thread of deliver()
  std::uint64_t refused_ = 0;
  nb::object raised_ = nb::none();
};

}  // namespace manymod::python

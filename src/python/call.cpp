// SPDX-License-Identifier: Apache-2.0
#include "python/call.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>

#include "manymod/manymod.h"
#include "python/buffer.hpp"
#include "python/device_limbs.hpp"
#include "python/list_call.hpp"
#include "python/watch.hpp"

namespace manymod::python {
namespace {

/// `limbs` as a DeviceLimbs if they are in device memory, which has no signs.
std::optional<DeviceLimbs> device_limbs_in(nb::handle limbs, nb::handle negative, const char* what) {
  if (!nb::isinstance<DeviceLimbs>(limbs)) return std::nullopt;
  if (!negative.is_none()) {
    throw nb::value_error((std::string(what) + ": limbs in GPU memory have no signs").c_str());
  }
  return nb::cast<DeviceLimbs>(limbs);
}

/// One operand: an array with its signs, or none.
class Operand {
 public:
  Operand(nb::handle limbs, nb::handle negative, const char* what) {
    if (limbs.is_none()) return;
    device_limbs_ = device_limbs_in(limbs, negative, what);
    if (device_limbs_) return;
    array_.emplace(limbs, Access::read, what);
    signs_.emplace(negative, Access::read, array_->count(), what);
  }
  [[nodiscard]] mm_view view() const {
    if (device_limbs_) {
      return {device_limbs_->data(), device_limbs_->count(), device_limbs_->width(), device_limbs_->stride(),
              nullptr};
    }
    if (!array_) return mm_view{};
    return {array_->row(0), array_->count(), array_->width(), array_->stride(), signs_->data()};
  }
  [[nodiscard]] const std::optional<DeviceLimbs>& device_limbs() const { return device_limbs_; }

 private:
  std::optional<DeviceLimbs> device_limbs_;
  std::optional<LimbArray> array_;
  std::optional<ByteVector> signs_;
};

/// The arrays of the results and their signs.
class Result {
 public:
  Result(nb::handle limbs, nb::handle negative, std::size_t count)
      : device_limbs_(device_limbs_in(limbs, negative, "result")) {
    if (!device_limbs_) {
      array_.emplace(limbs, Access::write, "result");
      signs_.emplace(negative, Access::write, array_->count(), "result_negative");
    } else if (!device_limbs_->writable()) {
      throw nb::value_error("result is read-only");
    }
    if (result().count != count) throw nb::value_error("result does not have one row for each item");
  }
  [[nodiscard]] mm_result result() const {
    if (device_limbs_) {
      return {device_limbs_->data(), device_limbs_->count(), device_limbs_->width(), device_limbs_->stride(),
              nullptr};
    }
    return {array_->row(0), array_->count(), array_->width(), array_->stride(), signs_->data()};
  }
  [[nodiscard]] const std::optional<DeviceLimbs>& device_limbs() const { return device_limbs_; }

 private:
  std::optional<DeviceLimbs> device_limbs_;
  std::optional<LimbArray> array_;
  std::optional<ByteVector> signs_;
};

/// The arrays of one call, which stay alive and exported while it runs.
class Call {
 public:
  Call(std::size_t count, std::size_t terms, nb::handle x, nb::handle x_negative, nb::handle y,
       nb::handle y_negative, nb::handle z, nb::handle z_negative, nb::handle modulus,
       nb::handle modulus_negative, nb::handle result, nb::handle result_negative, nb::handle status)
      : x_(x, x_negative, "x"),
        y_(y, y_negative, "y"),
        z_(z, z_negative, "z"),
        modulus_(modulus, modulus_negative, "modulus"),
        result_(result, result_negative, count),
        status_(status, Access::write, count, "status") {
    call_.struct_size = sizeof call_;
    call_.count = count;
    call_.terms = terms;
    call_.x = x_.view();
    call_.y = y_.view();
    call_.z = z_.view();
    call_.modulus = modulus_.view();
    call_.result = result_.result();
    call_.item_status = status_.data();
    place(MM_ON_DEVICE_X, x_.device_limbs());
    place(MM_ON_DEVICE_Y, y_.device_limbs());
    place(MM_ON_DEVICE_Z, z_.device_limbs());
    place(MM_ON_DEVICE_MODULUS, modulus_.device_limbs());
    place(MM_ON_DEVICE_RESULT, result_.device_limbs());
  }

  /// Run the call with the GIL released. @return MM_OK or MM_ERR_ITEMS; any other status throws
  template <typename Run>
  int run(nb::handle progress, std::size_t first, std::size_t total, Run&& run_call) {
    Watch watch{progress.is_none() ? nullptr : progress.ptr(), first, total, nullptr};
    call_.progress = on_progress;
    call_.progress_user = &watch;
    const mm_status status = run_watched(watch, [&] { return run_call(&call_); });
    if (status != MM_OK && status != MM_ERR_ITEMS) throw_call_error(status);
    return status;
  }

 private:
  void place(mm_on_device array, const std::optional<DeviceLimbs>& limbs) {
    if (!limbs) return;
    if (call_.on_device != 0 && call_.device_index != limbs->device_index()) {
      throw nb::value_error("arrays of one call are on different GPUs");
    }
    call_.on_device |= static_cast<unsigned>(array);
    call_.device_index = limbs->device_index();
  }

  Operand x_, y_, z_, modulus_;
  Result result_;
  ByteVector status_;
  mm_call call_{};
};

/// Owns an mm_plan.
class Plan {
 public:
  Plan(int op, int timing, int modulus_kind, std::size_t modulus_bits,
       const std::optional<std::string>& device, const std::optional<std::string>& variant, unsigned threads)
      : op_(static_cast<mm_op>(op)), modulus_bits_(modulus_bits) {
    mm_plan_options options{};
    options.struct_size = sizeof options;
    options.op = op_;
    options.timing = static_cast<mm_timing>(timing);
    options.modulus_kind = static_cast<mm_modulus_kind>(modulus_kind);
    options.modulus_bits = modulus_bits;
    options.device = text_or_null(device);
    options.variant = text_or_null(variant);
    options.threads = threads;
    mm_plan* plan = nullptr;
    if (const mm_status status = mm_plan_create(&options, &plan); status != MM_OK) throw_call_error(status);
    plan_.reset(plan);
  }

  [[nodiscard]] const char* variant() const { return mm_plan_variant(plan_.get()); }
  [[nodiscard]] const char* variant_for(std::size_t items) const {
    return mm_plan_variant_for(plan_.get(), items);
  }

  int run(std::size_t count, std::size_t terms, nb::handle x, nb::handle x_negative, nb::handle y,
          nb::handle y_negative, nb::handle modulus, nb::handle modulus_negative, nb::handle result,
          nb::handle result_negative, nb::handle status, nb::handle progress, std::size_t first,
          std::size_t total, nb::handle z, nb::handle z_negative) {
    Call call(count, terms, x, x_negative, y, y_negative, z, z_negative, modulus, modulus_negative, result,
              result_negative, status);
    return call.run(progress, first, total, [this](const mm_call* c) { return mm_plan_run(plan_.get(), c); });
  }

  /// Compute items [0, count) of lists, `block` items at a time, whose limbs stay in the caches. Operands are
  /// ListOperand's arguments. @return the list of results, and MM_OK or MM_ERR_ITEMS
  nb::tuple run_lists(std::size_t count, std::size_t block, const nb::tuple& operands,
                      const nb::tuple& modulus, bool signed_result, bool mpz, nb::handle status,
                      nb::handle progress) {
    ListCall call(count, block, operands, modulus, signed_result, mpz, status,
                  ListSums::of(op_, modulus_bits_, operands, modulus));
    return call.run(progress, [this](const mm_call* c) { return mm_plan_run(plan_.get(), c); });
  }

 private:
  struct Destroy {
    void operator()(mm_plan* plan) const { mm_plan_destroy(plan); }
  };
  mm_op op_;
  std::size_t modulus_bits_;
  std::unique_ptr<mm_plan, Destroy> plan_;
};

/// Owns an mm_fixed_base.
class FixedBase {
 public:
  FixedBase(nb::handle base, nb::handle base_negative, nb::handle modulus, nb::handle modulus_negative,
            int timing, std::size_t exponent_bits, const std::optional<std::string>& device,
            const std::optional<std::string>& variant, unsigned threads) {
    const Operand base_operand(base, base_negative, "base");
    const Operand modulus_operand(modulus, modulus_negative, "modulus");
    if (base_operand.device_limbs() || modulus_operand.device_limbs()) {
      throw nb::value_error("base and modulus must be in the host's memory");
    }
    mm_fixed_base_options options{};
    options.struct_size = sizeof options;
    options.timing = static_cast<mm_timing>(timing);
    options.exponent_bits = exponent_bits;
    options.device = text_or_null(device);
    options.variant = text_or_null(variant);
    options.threads = threads;
    const mm_view base_view = base_operand.view();
    const mm_view modulus_view = modulus_operand.view();
    mm_fixed_base* fixed_base = nullptr;
    Watch watch;  // handles signals only
    options.progress = on_progress;
    options.progress_user = &watch;
    const mm_status status = run_watched(
        watch, [&] { return mm_fixed_base_create(&options, &base_view, &modulus_view, &fixed_base); });
    if (status != MM_OK) throw_call_error(status);
    fixed_base_.reset(fixed_base);
  }

  [[nodiscard]] const char* variant() const { return mm_fixed_base_variant(fixed_base_.get()); }
  [[nodiscard]] const char* variant_for(std::size_t exponents) const {
    return mm_fixed_base_variant_for(fixed_base_.get(), exponents);
  }

  int run(std::size_t count, nb::handle y, nb::handle y_negative, nb::handle result,
          nb::handle result_negative, nb::handle status, nb::handle progress, std::size_t first,
          std::size_t total) {
    Call call(count, 0, nb::none(), nb::none(), y, y_negative, nb::none(), nb::none(), nb::none(), nb::none(),
              result, result_negative, status);
    return call.run(progress, first, total,
                    [this](const mm_call* c) { return mm_fixed_base_powmod(fixed_base_.get(), c); });
  }

 private:
  struct Destroy {
    void operator()(mm_fixed_base* fixed_base) const { mm_fixed_base_destroy(fixed_base); }
  };
  std::unique_ptr<mm_fixed_base, Destroy> fixed_base_;
};

}  // namespace

nb::str readable(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

nb::object call_error(int status, const std::string& message) {
  return nb::module_::import_("manymod.errors").attr("_call_error")(status, readable(message));
}

void throw_call_error(int status) {
  const std::string detail = mm_last_error();
  throw_call_error(status, detail.empty() ? mm_status_message(static_cast<mm_status>(status)) : detail);
}

void throw_call_error(int status, const std::string& message) {
  const nb::object error = call_error(status, message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void bind_call(nb::module_& module) {
  nb::class_<Plan>(module, "Plan")
      .def(nb::init<int, int, int, std::size_t, const std::optional<std::string>&,
                    const std::optional<std::string>&, unsigned>(),
           nb::arg("op"), nb::arg("timing"), nb::arg("modulus_kind"), nb::arg("modulus_bits"),
           nb::arg("device").none(), nb::arg("variant").none(), nb::arg("threads"))
      .def_prop_ro("variant", &Plan::variant)
      .def("variant_for", &Plan::variant_for, nb::arg("items"))
      .def("run", &Plan::run, nb::arg("count"), nb::arg("terms"), nb::arg("x").none(),
           nb::arg("x_negative").none(), nb::arg("y").none(), nb::arg("y_negative").none(),
           nb::arg("modulus"), nb::arg("modulus_negative").none(), nb::arg("result"),
           nb::arg("result_negative").none(), nb::arg("status"), nb::arg("progress").none(), nb::arg("first"),
           nb::arg("total"), nb::arg("z").none() = nb::none(), nb::arg("z_negative").none() = nb::none())
      .def("run_lists", &Plan::run_lists, nb::arg("count"), nb::arg("block"), nb::arg("operands"),
           nb::arg("modulus"), nb::arg("signed_result"), nb::arg("mpz"), nb::arg("status"),
           nb::arg("progress").none());
  nb::class_<FixedBase>(module, "FixedBase")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, int, std::size_t,
                    const std::optional<std::string>&, const std::optional<std::string>&, unsigned>(),
           nb::arg("base"), nb::arg("base_negative").none(), nb::arg("modulus"),
           nb::arg("modulus_negative").none(), nb::arg("timing"), nb::arg("exponent_bits"),
           nb::arg("device").none(), nb::arg("variant").none(), nb::arg("threads"))
      .def_prop_ro("variant", &FixedBase::variant)
      .def("variant_for", &FixedBase::variant_for, nb::arg("exponents"))
      .def("run", &FixedBase::run, nb::arg("count"), nb::arg("y"), nb::arg("y_negative").none(),
           nb::arg("result"), nb::arg("result_negative").none(), nb::arg("status"),
           nb::arg("progress").none(), nb::arg("first"), nb::arg("total"));
}

}  // namespace manymod::python

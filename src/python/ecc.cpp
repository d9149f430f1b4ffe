// SPDX-License-Identifier: Apache-2.0
#include "python/ecc.hpp"

#include "manymod/ecc.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/buffer.hpp"
#include "python/bytes_items.hpp"
#include "python/call.hpp"
#include "python/gil.hpp"
#include "python/watch.hpp"

namespace manymod::python {
namespace {

/// A copy that Python code can zero.
nb::bytearray copied(const mm_bytes& bytes) { return nb::bytearray(bytes.data, bytes.size); }

/// A named curve, or one that it owns.
class EccCurve {
 public:
  static std::optional<EccCurve> find(const std::string& name) {
    const mm_ecc_curve* curve = mm_ecc_curve_find(name.c_str());
    if (curve == nullptr) return std::nullopt;
    return EccCurve(curve, nullptr);
  }

  static std::vector<EccCurve> named() {
    std::vector<EccCurve> curves;
    while (const mm_ecc_curve* curve = mm_ecc_curve_at(curves.size())) curves.push_back({curve, nullptr});
    return curves;
  }

  static EccCurve named(const mm_ecc_curve* curve) { return {curve, nullptr}; }

  /// Numbers are big-endian bytes.
  static EccCurve create(int form, nb::handle p, nb::handle a, nb::handle b, nb::handle x, nb::handle y,
                         nb::handle n, nb::handle cofactor) {
    const std::array<BytesView, 7> given{{BytesView(p), BytesView(a), BytesView(b), BytesView(x),
                                          BytesView(y), BytesView(n), BytesView(cofactor)}};
    mm_ecc_curve_numbers numbers{};
    numbers.struct_size = sizeof numbers;
    numbers.form = static_cast<mm_ecc_form>(form);
    const std::array places{&numbers.p, &numbers.a, &numbers.b,       &numbers.x,
                            &numbers.y, &numbers.n, &numbers.cofactor};
    for (std::size_t i = 0; i < given.size(); ++i) *places[i] = given[i].bytes();
    mm_ecc_curve* curve = nullptr;
    mm_status status = MM_OK;
    {
      const ReleasedGil free;
      status = mm_ecc_curve_create(&numbers, &curve);
    }
    if (status != MM_OK) throw_call_error(status);
    return {curve, std::shared_ptr<mm_ecc_curve>(curve, mm_ecc_curve_destroy)};
  }

  [[nodiscard]] mm_ecc_curve_info info() const {
    mm_ecc_curve_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_ecc_curve_get_info(curve_, &info); status != MM_OK) {
      throw_call_error(status);
    }
    return info;
  }

  [[nodiscard]] const mm_ecc_curve* get() const { return curve_; }

 private:
  EccCurve(const mm_ecc_curve* curve, std::shared_ptr<mm_ecc_curve> owned)
      : curve_(curve), owned_(std::move(owned)) {}

  const mm_ecc_curve* curve_;
  std::shared_ptr<mm_ecc_curve> owned_;
};

/// Owns an mm_ecc_key.
class EccKey {
 public:
  EccKey(nb::handle encoded, nb::handle password, bool public_only) {
    const BytesView text(encoded);
    std::optional<BytesView> password_view;
    mm_ecc_decode_options options{};
    options.struct_size = sizeof options;
    options.public_only = public_only ? 1 : 0;
    if (!password.is_none()) options.password = password_view.emplace(password).bytes();
    mm_ecc_key* key = nullptr;
    mm_status status = MM_OK;
    {
      const ReleasedGil free;
      status = mm_ecc_key_decode(text.bytes(), &options, &key);
    }
    if (status != MM_OK) throw_call_error(status);
    key_.reset(key);
  }

  [[nodiscard]] mm_ecc_key_info info() const {
    mm_ecc_key_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_ecc_key_get_info(key_.get(), &info); status != MM_OK) {
      throw_call_error(status);
    }
    return info;
  }

 private:
  struct Destroy {
    void operator()(mm_ecc_key* key) const { mm_ecc_key_destroy(key); }
  };
  std::unique_ptr<mm_ecc_key, Destroy> key_;
};

/// The members of a call that choose how it computes, and not on what.
struct EccScheme {
  EccScheme(int scheme, int hash, bool prehashed, int nonces, int policy, int signature_format,
            int point_format, int low_s, bool no_check, std::size_t key_bytes, bool responder, bool confirm) {
    call.struct_size = sizeof call;
    call.scheme = static_cast<mm_ecc_scheme>(scheme);
    call.hash = static_cast<mm_hash>(hash);
    call.prehashed = prehashed ? 1 : 0;
    call.nonces = static_cast<mm_ecc_nonces>(nonces);
    call.policy = static_cast<mm_ecc_policy>(policy);
    call.signature_format = static_cast<mm_ecc_signature_format>(signature_format);
    call.point_format = static_cast<mm_ecc_point_format>(point_format);
    call.low_s = low_s;
    call.no_check = no_check ? 1 : 0;
    call.key_bytes = key_bytes;
    call.responder = responder ? 1 : 0;
    call.confirm = confirm ? 1 : 0;
  }
  mm_ecc_call call{};
};

/// The byte strings that a call reads, in the order of EccPlan.run.
constexpr std::array kInputs{&mm_ecc_call::secret,  &mm_ecc_call::point,       &mm_ecc_call::second,
                             &mm_ecc_call::message, &mm_ecc_call::signature,   &mm_ecc_call::nonce,
                             &mm_ecc_call::context, &mm_ecc_call::peer_context};

class EccRing;

/// Owns an mm_ecc_plan.
class EccPlan {
 public:
  EccPlan(const std::vector<const EccCurve*>& curves, const std::optional<std::string>& device,
          const std::optional<std::string>& variant, unsigned threads) {
    if (std::find(curves.begin(), curves.end(), nullptr) != curves.end()) {
      throw nb::type_error("a curve is None");
    }
    std::vector<const mm_ecc_curve*> pointers(curves.size());
    std::transform(curves.begin(), curves.end(), pointers.begin(),
                   [](const EccCurve* curve) { return curve->get(); });
    mm_ecc_plan_options options{};
    options.struct_size = sizeof options;
    options.device = text_or_null(device);
    options.variant = text_or_null(variant);
    options.threads = threads;
    mm_ecc_plan* plan = nullptr;
    mm_status status = MM_OK;
    {
      const ReleasedGil free;
      status = mm_ecc_plan_create(pointers.data(), pointers.size(), &options, &plan);
    }
    if (status != MM_OK) throw_call_error(status);
    plan_.reset(plan);
  }

  [[nodiscard]] mm_ecc_plan* get() const { return plan_.get(); }

  [[nodiscard]] const char* variant(std::size_t curve) const {
    return mm_ecc_plan_variant(plan_.get(), curve);
  }

  /// Run an operation. Each of `inputs` is None, or what BytesItems takes: items, offsets, and their name in
  /// messages. The library checks the items that they describe. `index`: of the items' curves, or if `ring`
  /// is not None, of their keys in that EccRing.
  /// @return MM_OK or MM_ERR_ITEMS; any other status throws
  int run(int op, const EccScheme& scheme, std::size_t count, nb::handle index, const EccRing* ring,
          const nb::tuple& inputs, nb::handle output, nb::handle sizes, nb::handle ok, nb::handle status,
          nb::handle progress) {
    if (inputs.size() != kInputs.size()) throw nb::value_error("inputs: wrong number");
    const Vector<std::uint32_t> indices(index, Access::read, count, "index");
    mm_ecc_call call = scheme.call;
    call.op = static_cast<mm_ecc_op>(op);
    call.count = count;
    (ring == nullptr ? call.curve : call.key) = indices.data();
    call.ring = pointer_of(ring);
    std::array<std::unique_ptr<BytesItems>, kInputs.size()> items;
    for (std::size_t i = 0; i < kInputs.size(); ++i) {
      if (nb::handle(inputs[i]).is_none()) continue;
      const auto input = nb::cast<nb::tuple>(inputs[i]);
      if (input.size() != 3) throw nb::value_error("inputs: must be items, offsets and a name");
      const auto name = nb::cast<std::string>(input[2]);
      items[i] = std::make_unique<BytesItems>(input[0], input[1], name.c_str());
      call.*kInputs[i] = items[i]->view();
    }
    const ByteVector statuses(status, Access::write, count, "status");
    call.item_status = statuses.data();
    const ByteVector answers(ok, Access::write, op == MM_ECC_VERIFY_ALL ? 1 : count, "ok");
    call.ok = answers.data();
    std::optional<ByteArray> rows;
    std::optional<Vector<std::size_t>> lengths;
    if (!output.is_none()) {
      const std::size_t results = op == MM_ECC_SUM ? 1 : count;
      rows.emplace(output, Access::write, "output");
      lengths.emplace(sizes, Access::write, results, "sizes");
      if (rows->count() != results || (results > 1 && rows->row(1) != rows->row(0) + rows->width())) {
        throw nb::value_error("output: must be contiguous, with one row for each result");
      }
      call.output = {results == 0 ? nullptr : rows->row(0), results, rows->width(), lengths->data()};
    }
    return run_call(call, progress);
  }

 private:
  struct Destroy {
    void operator()(mm_ecc_plan* plan) const { mm_ecc_plan_destroy(plan); }
  };

  /// Null for null.
  static const mm_ecc_ring* pointer_of(const EccRing* ring);

  int run_call(mm_ecc_call& call, nb::handle progress) {
    Watch watch{progress.is_none() ? nullptr : progress.ptr(), 0, call.count, nullptr};
    call.progress = on_progress;
    call.progress_user = &watch;
    const mm_status status = run_watched(watch, [&] { return mm_ecc_run(plan_.get(), &call); });
    if (status != MM_OK && status != MM_ERR_ITEMS) throw_call_error(status);
    return status;
  }

  std::unique_ptr<mm_ecc_plan, Destroy> plan_;
};

/// Owns an mm_ecc_ring.
class EccRing {
 public:
  /// Keys that are none are in the ring too. `secrets`: as BytesItems takes them.
  EccRing(const EccPlan& plan, nb::handle secrets, nb::handle curve) {
    const BytesItems items(secrets, nb::none(), "secrets");
    mm_ecc_ring_keys keys{};
    keys.struct_size = sizeof keys;
    keys.secret = items.view();
    keys.count = keys.secret.count;
    const Vector<std::uint32_t> curves(curve, Access::read, keys.count, "curve");
    keys.curve = curves.data();
    mm_ecc_ring* ring = nullptr;
    mm_status status = MM_OK;
    {
      const ReleasedGil free;
      status = mm_ecc_ring_create(plan.get(), &keys, &ring);
    }
    ring_.reset(ring);
    if (status != MM_OK && status != MM_ERR_ITEMS) throw_call_error(status);
  }

  [[nodiscard]] const mm_ecc_ring* get() const { return ring_.get(); }

 private:
  struct Destroy {
    void operator()(mm_ecc_ring* ring) const { mm_ecc_ring_destroy(ring); }
  };
  std::unique_ptr<mm_ecc_ring, Destroy> ring_;
};

const mm_ecc_ring* EccPlan::pointer_of(const EccRing* ring) {
  return ring == nullptr ? nullptr : ring->get();
}

nb::list variant_names() {
  nb::list names;
  for (std::size_t i = 0; mm_ecc_variant_at(i) != nullptr; ++i) names.append(nb::str(mm_ecc_variant_at(i)));
  return names;
}

void bind_curve(nb::module_& module) {
  nb::class_<EccCurve>(module, "EccCurve")
      .def_static("find", &EccCurve::find, nb::arg("name"))
      .def_static("named", nb::overload_cast<>(&EccCurve::named))
      .def_static("create", &EccCurve::create, nb::arg("form"), nb::arg("p"), nb::arg("a"), nb::arg("b"),
                  nb::arg("x"), nb::arg("y"), nb::arg("n"), nb::arg("cofactor"))
      .def_prop_ro("name", [](const EccCurve& curve) { return curve.info().name; })
      .def_prop_ro("form", [](const EccCurve& curve) { return static_cast<int>(curve.info().form); })
      .def_prop_ro("field_bits", [](const EccCurve& curve) { return curve.info().field_bits; })
      .def_prop_ro("order_bits", [](const EccCurve& curve) { return curve.info().order_bits; })
      .def_prop_ro("coordinate_bytes", [](const EccCurve& curve) { return curve.info().coordinate_bytes; })
      .def_prop_ro("scalar_bytes", [](const EccCurve& curve) { return curve.info().scalar_bytes; })
      .def_prop_ro("secret_bytes", [](const EccCurve& curve) { return curve.info().secret_bytes; })
      .def_prop_ro("public_bytes", [](const EccCurve& curve) { return curve.info().public_bytes; })
      .def_prop_ro("signature_bytes", [](const EccCurve& curve) { return curve.info().signature_bytes; })
      .def(
          "usable",
          [](const EccCurve& curve, const std::string& variant) {
            return mm_ecc_variant_usable(variant.c_str(), curve.get()) != 0;
          },
          nb::arg("variant"));
}

void bind_plan(nb::module_& module) {
  nb::class_<EccScheme>(module, "EccScheme")
      .def(nb::init<int, int, bool, int, int, int, int, int, bool, std::size_t, bool, bool>(),
           nb::arg("scheme"), nb::arg("hash"), nb::arg("prehashed"), nb::arg("nonces"), nb::arg("policy"),
           nb::arg("signature_format"), nb::arg("point_format"), nb::arg("low_s"), nb::arg("no_check"),
           nb::arg("key_bytes"), nb::arg("responder"), nb::arg("confirm"));
  nb::class_<EccPlan>(module, "EccPlan")
      .def(nb::init<const std::vector<const EccCurve*>&, const std::optional<std::string>&,
                    const std::optional<std::string>&, unsigned>(),
           nb::arg("curves"), nb::arg("device").none(), nb::arg("variant").none(), nb::arg("threads"))
      .def("variant", &EccPlan::variant, nb::arg("curve"))
      .def("run", &EccPlan::run, nb::arg("op"), nb::arg("scheme"), nb::arg("count"), nb::arg("index").none(),
           nb::arg("ring").none(), nb::arg("inputs"), nb::arg("output").none(), nb::arg("sizes").none(),
           nb::arg("ok").none(), nb::arg("status"), nb::arg("progress").none());
  nb::class_<EccRing>(module, "EccRing")
      .def(nb::init<const EccPlan&, nb::handle, nb::handle>(), nb::arg("plan"), nb::arg("secrets"),
           nb::arg("curve"));
}

}  // namespace

mm_ecc_plan* plan_of(nb::handle plan) { return object_of<EccPlan>(plan, "EccPlan").get(); }

const mm_ecc_call& scheme_of(nb::handle scheme) { return object_of<EccScheme>(scheme, "EccScheme").call; }

void bind_ecc(nb::module_& module) {
  bind_curve(module);
  nb::class_<EccKey>(module, "EccKey")
      .def(nb::init<nb::handle, nb::handle, bool>(), nb::arg("encoded"), nb::arg("password").none(),
           nb::arg("public_only"))
      .def_prop_ro("curve", [](const EccKey& key) { return EccCurve::named(key.info().curve); })
      .def_prop_ro("secret", [](const EccKey& key) { return copied(key.info().secret); })
      .def_prop_ro("public_bytes", [](const EccKey& key) { return copied(key.info().public_bytes); });
  bind_plan(module);
  module.def("ecc_supported", [] { return mm_ecc_supported() != 0; });
  module.def("ecc_variants", &variant_names);
}

}  // namespace manymod::python

// SPDX-License-Identifier: Apache-2.0
#include "python/rsa.hpp"

#include "manymod/rsa.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/read_once.hpp"
#include "python/buffer.hpp"
#include "python/bytes_items.hpp"
#include "python/call.hpp"
#include "python/gil.hpp"
#include "python/pyint.hpp"
#include "python/watch.hpp"
#include "repr/wipe.hpp"

namespace manymod::python {
namespace {

/// A Python int as big-endian bytes, zeroed on destruction. No bytes for None.
class SecretNumber {
 public:
  SecretNumber(nb::handle value, const char* name) {
    if (value.is_none()) return;
    if (!PyLong_Check(value.ptr())) throw nb::type_error((std::string(name) + " must be an int").c_str());
    std::vector<Limb> limbs(int_extent(value.ptr()).bits / kLimbBits + 1);
    bool negative = false;
    const bool fits = read_int(value.ptr(), limbs.data(), limbs.size(), &negative);
    bytes_.reserve(limbs.size() * sizeof(Limb));
    for (std::size_t i = limbs.size(); i-- > 0;) {
      for (std::size_t shift = kLimbBits; shift > 0; shift -= 8) {
        bytes_.push_back(static_cast<std::uint8_t>(limbs[i] >> (shift - 8)));
      }
    }
    wipe(limbs);
    if (fits && !negative) return;
    wipe_bytes(bytes_.data(), bytes_.size());
    throw nb::value_error((std::string(name) + " is negative").c_str());
  }
  ~SecretNumber() { wipe_bytes(bytes_.data(), bytes_.size()); }
  SecretNumber(const SecretNumber&) = delete;
  SecretNumber& operator=(const SecretNumber&) = delete;

  [[nodiscard]] mm_bytes bytes() const { return {bytes_.data(), bytes_.size()}; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// A prime besides p and q: (prime, exponent, coefficient), of which the last two may be None.
struct SecretPrime {
  explicit SecretPrime(const nb::tuple& given)
      : prime(given[0], "a prime"),
        exponent(given[1], "an exponent"),
        coefficient(given[2], "a coefficient") {}
  SecretNumber prime, exponent, coefficient;
};

/// Fields of an mm_rsa_pss_limits.
using PssLimits = std::tuple<int, int, int, int>;

/// Owns an mm_rsa_key.
class RsaKey {
 public:
  static RsaKey from_numbers(nb::handle n, nb::handle e, nb::handle d, nb::handle p, nb::handle q,
                             nb::handle dp, nb::handle dq, nb::handle qinv,
                             const std::vector<nb::tuple>& others, const PssLimits& pss, unsigned checks,
                             std::size_t max_exponent_bits) {
    const std::array<SecretNumber, 8> given{
        {{n, "n"}, {e, "e"}, {d, "d"}, {p, "p"}, {q, "q"}, {dp, "dp"}, {dq, "dq"}, {qinv, "qinv"}}};
    mm_rsa_numbers numbers{};
    numbers.struct_size = sizeof numbers;
    const std::array places{&numbers.n, &numbers.e,  &numbers.d,  &numbers.p,
                            &numbers.q, &numbers.dp, &numbers.dq, &numbers.qinv};
    for (std::size_t i = 0; i < given.size(); ++i) *places[i] = given[i].bytes();
    const std::deque<SecretPrime> other_numbers(others.begin(), others.end());
    std::vector<mm_rsa_prime> other_primes;
    for (const SecretPrime& other : other_numbers) {
      other_primes.push_back({other.prime.bytes(), other.exponent.bytes(), other.coefficient.bytes()});
    }
    numbers.other_primes = other_primes.data();
    numbers.other_prime_count = other_primes.size();
    numbers.pss = {std::get<0>(pss), static_cast<mm_hash>(std::get<1>(pss)),
                   static_cast<mm_hash>(std::get<2>(pss)), std::get<3>(pss)};
    numbers.checks = checks;
    numbers.max_exponent_bits = max_exponent_bits;
    const auto [key, status] =
        without_gil([&](mm_rsa_key** created) { return mm_rsa_key_create(&numbers, created); });
    return made(key, status);
  }

  /// A key; or, if none could be read, why: the reason, the message, and the part of the encoding that it is
  /// about by the indices of its first byte and of the one behind it.
  static nb::object decode(nb::handle encoded, nb::handle password, unsigned checks,
                           std::size_t max_exponent_bits, std::size_t kind) {
    const BytesView text(encoded);
    std::optional<BytesView> password_view;
    mm_rsa_decode_options options{};
    options.struct_size = sizeof options;
    options.checks = checks;
    options.max_exponent_bits = max_exponent_bits;
    options.kind = kind;
    if (!password.is_none()) options.password = password_view.emplace(password).bytes();
    mm_rsa_unread unread{};
    options.unread = &unread;
    const auto make = [&](mm_rsa_key** key) { return mm_rsa_key_decode(text.bytes(), &options, key); };
    const auto [key, status] = without_gil(make);
    if (status != MM_OK && unread.reason != MM_RSA_UNREAD_NONE) {
      const auto begin = unread.part.size == 0 ? 0 : unread.part.data - text.bytes().data;
      return nb::make_tuple(static_cast<int>(unread.reason), readable(mm_last_error()), begin,
                            begin + static_cast<std::ptrdiff_t>(unread.part.size));
    }
    return nb::cast(made(key, status));
  }

  [[nodiscard]] mm_rsa_key_info info() const {
    mm_rsa_key_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_rsa_key_get_info(key_.get(), &info); status != MM_OK) {
      throw_call_error(status);
    }
    return info;
  }

  [[nodiscard]] PssLimits pss() const {
    const mm_rsa_pss_limits limits = info().pss;
    return {limits.only, limits.hash, limits.mgf_hash, limits.least_salt};
  }

  /// n and e as big-endian bytes.
  [[nodiscard]] std::pair<nb::bytes, nb::bytes> public_numbers() const {
    const mm_rsa_key_info sizes = info();
    std::vector<std::uint8_t> n(sizes.modulus_bytes);
    std::vector<std::uint8_t> e(sizes.exponent_bytes);
    if (const mm_status status = mm_rsa_key_get_public(key_.get(), n.data(), e.data()); status != MM_OK) {
      throw_call_error(status);
    }
    return {nb::bytes(n.data(), n.size()), nb::bytes(e.data(), e.size())};
  }

  [[nodiscard]] const mm_rsa_key* get() const { return key_.get(); }

 private:
  struct Destroy {
    void operator()(mm_rsa_key* key) const { mm_rsa_key_destroy(key); }
  };

  explicit RsaKey(mm_rsa_key* key) : key_(key) {}

  template <typename Make>
  static std::pair<mm_rsa_key*, mm_status> without_gil(Make&& make) {
    const ReleasedGil free;
    mm_rsa_key* key = nullptr;
    const mm_status status = make(&key);
    return {key, status};
  }

  static RsaKey made(mm_rsa_key* key, mm_status status) {
    if (status != MM_OK) throw_call_error(status);
    return RsaKey(key);
  }

  std::unique_ptr<mm_rsa_key, Destroy> key_;
};

/// Name of the parameter of the Python function that holds an operation's input.
const char* input_name(int op) {
  switch (op) {
    case MM_RSA_PUBLIC:
    case MM_RSA_PRIVATE:
      return "numbers";
    case MM_RSA_DECRYPT:
      return "ciphertexts";
    default:
      return "messages";
  }
}

/// The padding of a call, with ownership of its label.
class RsaPadding {
 public:
  RsaPadding(int scheme, int hash, int mgf_hash, int salt_length, bool prehashed, nb::bytes label)
      : label_(std::move(label)) {
    padding_.scheme = static_cast<mm_rsa_scheme>(scheme);
    padding_.hash = static_cast<mm_hash>(hash);
    padding_.mgf_hash = static_cast<mm_hash>(mgf_hash);
    padding_.salt_length = salt_length;
    padding_.prehashed = prehashed ? 1 : 0;
    padding_.label = {static_cast<const std::uint8_t*>(label_.data()), label_.size()};
  }
  [[nodiscard]] const mm_rsa_padding& get() const { return padding_; }

 private:
  nb::bytes label_;
  mm_rsa_padding padding_{};
};

/// Owns an mm_rsa_ring.
class RsaRing {
 public:
  RsaRing(const std::vector<const RsaKey*>& keys, const std::optional<std::string>& device,
          const std::optional<std::string>& variant, unsigned threads, bool blinding) {
    if (std::find(keys.begin(), keys.end(), nullptr) != keys.end()) throw nb::type_error("a key is None");
    std::vector<const mm_rsa_key*> pointers(keys.size());
    std::transform(keys.begin(), keys.end(), pointers.begin(), [](const RsaKey* key) { return key->get(); });
    mm_rsa_ring_options options{};
    options.struct_size = sizeof options;
    options.device = text_or_null(device);
    options.variant = text_or_null(variant);
    options.threads = threads;
    options.blinding = blinding ? MM_RSA_BLINDING_ON : MM_RSA_BLINDING_OFF;
    mm_rsa_ring* ring = nullptr;
    const mm_status status = mm_rsa_ring_create(&options, pointers.data(), pointers.size(), &ring);
    if (status != MM_OK) throw_call_error(status);
    ring_.reset(ring);
  }

  [[nodiscard]] mm_rsa_ring* get() const { return ring_.get(); }

  [[nodiscard]] mm_rsa_ring_info info() const {
    mm_rsa_ring_info info{};
    info.struct_size = sizeof info;
    if (const mm_status status = mm_rsa_ring_get_info(ring_.get(), &info); status != MM_OK) {
      throw_call_error(status);
    }
    return info;
  }

  [[nodiscard]] const char* variant(std::size_t key, bool private_operation, std::size_t items) const {
    return mm_rsa_ring_variant(ring_.get(), key, private_operation ? 1 : 0, items);
  }

  /// Run an operation whose results are bytes. The library checks the items that the arrays describe.
  int run(int op, const RsaPadding& padding, std::size_t count, nb::handle keys, nb::handle input,
          nb::handle input_offsets, nb::handle output, nb::handle sizes, nb::handle status,
          nb::handle progress) {
    const Vector<std::uint32_t> indices(keys, Access::read, count, "keys");
    const BytesItems items(input, input_offsets, input_name(op));
    const ByteArray rows(output, Access::write, "output");
    const Vector<std::size_t> lengths(sizes, Access::write, count, "sizes");
    const ByteVector statuses(status, Access::write, count, "status");
    if (rows.count() != count || (count > 1 && rows.row(1) != rows.row(0) + rows.width())) {
      throw nb::value_error("output: must be contiguous, with one row for each item");
    }
    mm_rsa_call call = call_of(op, padding, count, indices, items);
    call.output = {count == 0 ? nullptr : rows.row(0), count, rows.width(), lengths.data()};
    call.item_status = statuses.data();
    return run_call(call, progress);
  }

  int verify(const RsaPadding& padding, std::size_t count, nb::handle keys, nb::handle input,
             nb::handle input_offsets, nb::handle signature, nb::handle signature_offsets, nb::handle valid,
             nb::handle status, nb::handle progress, bool left_pad) {
    const Vector<std::uint32_t> indices(keys, Access::read, count, "keys");
    const BytesItems items(input, input_offsets, input_name(MM_RSA_VERIFY));
    const BytesItems signatures(signature, signature_offsets, "signatures");
    const ByteVector answers(valid, Access::write, count, "valid");
    const ByteVector statuses(status, Access::write, count, "status");
    mm_rsa_call call = call_of(MM_RSA_VERIFY, padding, count, indices, items);
    call.signature = signatures.view();
    call.valid = answers.data();
    call.left_pad_signatures = left_pad ? 1 : 0;
    call.item_status = statuses.data();
    return run_call(call, progress);
  }

 private:
  struct Destroy {
    void operator()(mm_rsa_ring* ring) const { mm_rsa_ring_destroy(ring); }
  };

  static mm_rsa_call call_of(int op, const RsaPadding& padding, std::size_t count,
                             const Vector<std::uint32_t>& keys, const BytesItems& items) {
    mm_rsa_call call{};
    call.struct_size = sizeof call;
    call.op = static_cast<mm_rsa_op>(op);
    call.padding = padding.get();
    call.count = count;
    call.key = keys.data();
    call.input = items.view();
    return call;
  }

  /// Run the call. @return MM_OK or MM_ERR_ITEMS; any other status throws
  int run_call(mm_rsa_call& call, nb::handle progress) {
    Watch watch{progress.is_none() ? nullptr : progress.ptr(), 0, call.count, nullptr};
    call.progress = on_progress;
    call.progress_user = &watch;
    const mm_status status = run_watched(watch, [&] { return mm_rsa_run(ring_.get(), &call); });
    if (status != MM_OK && status != MM_ERR_ITEMS) throw_call_error(status);
    return status;
  }

  std::unique_ptr<mm_rsa_ring, Destroy> ring_;
};

/// A list of bytes objects: the first sizes[i] bytes of each row i.
nb::object rows_to_bytes(nb::handle rows, nb::handle sizes) {
  const ByteArray array(rows, Access::read, "rows");
  const Vector<std::size_t> lengths(sizes, Access::read, array.count(), "sizes");
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(array.count())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < array.count(); ++i) {
    const std::size_t size = read_once(lengths.data()[i]);
    if (size > array.width()) throw nb::value_error("sizes: wider than the rows");
    PyObject* item =
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(array.row(i)), static_cast<Py_ssize_t>(size));
    if (item == nullptr) throw nb::python_error();
    NB_LIST_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), item);
  }
  return list;
}

void bind_key(nb::module_& module) {
  nb::class_<RsaKey>(module, "RsaKey")
      .def_static("from_numbers", &RsaKey::from_numbers, nb::arg("n"), nb::arg("e"), nb::arg("d").none(),
                  nb::arg("p").none(), nb::arg("q").none(), nb::arg("dp").none(), nb::arg("dq").none(),
                  nb::arg("qinv").none(), nb::arg("others"), nb::arg("pss"), nb::arg("checks"),
                  nb::arg("max_exponent_bits"))
      .def_static("decode", &RsaKey::decode, nb::arg("encoded"), nb::arg("password").none(),
                  nb::arg("checks"), nb::arg("max_exponent_bits"), nb::arg("kind"))
      .def_prop_ro("modulus_bits", [](const RsaKey& key) { return key.info().modulus_bits; })
      .def_prop_ro("modulus_bytes", [](const RsaKey& key) { return key.info().modulus_bytes; })
      .def_prop_ro("is_private", [](const RsaKey& key) { return key.info().is_private != 0; })
      .def_prop_ro("primes", [](const RsaKey& key) { return key.info().primes; })
      .def_prop_ro("pss", &RsaKey::pss)
      .def("public_numbers", &RsaKey::public_numbers);
}

void bind_ring(nb::module_& module) {
  nb::class_<RsaPadding>(module, "RsaPadding")
      .def(nb::init<int, int, int, int, bool, nb::bytes>(), nb::arg("scheme"), nb::arg("hash"),
           nb::arg("mgf_hash"), nb::arg("salt_length"), nb::arg("prehashed"), nb::arg("label"));
  nb::class_<RsaRing>(module, "RsaRing")
      .def(nb::init<const std::vector<const RsaKey*>&, const std::optional<std::string>&,
                    const std::optional<std::string>&, unsigned, bool>(),
           nb::arg("keys"), nb::arg("device").none(), nb::arg("variant").none(), nb::arg("threads"),
           nb::arg("blinding"))
      .def_prop_ro("max_modulus_bytes", [](const RsaRing& ring) { return ring.info().max_modulus_bytes; })
      .def_prop_ro("private_items", [](const RsaRing& ring) { return ring.info().private_items; })
      .def_prop_ro("recomputed", [](const RsaRing& ring) { return ring.info().recomputed; })
      .def("variant", &RsaRing::variant, nb::arg("key"), nb::arg("private_operation"), nb::arg("items"))
      .def("run", &RsaRing::run, nb::arg("op"), nb::arg("padding"), nb::arg("count"), nb::arg("keys").none(),
           nb::arg("input"), nb::arg("input_offsets").none(), nb::arg("output"), nb::arg("sizes").none(),
           nb::arg("status"), nb::arg("progress").none())
      .def("verify", &RsaRing::verify, nb::arg("padding"), nb::arg("count"), nb::arg("keys").none(),
           nb::arg("input"), nb::arg("input_offsets").none(), nb::arg("signature"),
           nb::arg("signature_offsets").none(), nb::arg("valid"), nb::arg("status"),
           nb::arg("progress").none(), nb::arg("left_pad"));
}

}  // namespace

mm_rsa_ring* ring_of(nb::handle ring) { return object_of<RsaRing>(ring, "RsaRing").get(); }

const mm_rsa_padding& padding_of(nb::handle padding) {
  return object_of<RsaPadding>(padding, "RsaPadding").get();
}

void bind_rsa(nb::module_& module) {
  bind_key(module);
  bind_ring(module);
  module.def("rsa_supported", [] { return mm_rsa_supported() != 0; });
  module.def("hash_size", [](int hash) { return mm_hash_size(static_cast<mm_hash>(hash)); }, nb::arg("hash"));
  module.def("taken_items", &taken_items, nb::arg("items"));
  module.def("rows_to_bytes", &rows_to_bytes, nb::arg("rows"), nb::arg("sizes"));
}

}  // namespace manymod::python

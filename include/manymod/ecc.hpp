// SPDX-License-Identifier: Apache-2.0
/**
 * @file ecc.hpp
 * @brief C++20 wrapper of ecc.h: RAII, containers of bytes, exceptions. Header only; it links to the C
 * library alone. ecc.h documents the semantics, timing and statuses.
 *
 *     manymod::ecc::Plan plan(manymod::ecc::Curve("P-256"));
 *     auto keys = plan.public_keys(secrets);
 *     auto signatures = plan.sign(secrets, messages);
 *     std::vector<bool> good = plan.verify(keys, messages, signatures);
 *
 * What the classes lack is reached by get() and the functions of the C ABI: lists of curves and variants, the
 * length of results, and progress of calls that are not asynchronous.
 */
#ifndef MANYMOD_ECC_HPP
#define MANYMOD_ECC_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manymod/bytes.hpp"
#include "manymod/calls.hpp"
#include "manymod/ecc.h"

namespace manymod {
inline namespace wrapper {
namespace ecc {

using wrapper::Bytes;

/// The numbers of a curve, unsigned and big-endian, see mm_ecc_curve_numbers.
struct Numbers {
  mm_ecc_form form = MM_ECC_WEIERSTRASS;
  std::span<const std::uint8_t> p, a, b, x, y, n, cofactor{};
};

/// A curve: a named one, or one of the caller's own. Immutable; copies share it.
class Curve {
 public:
  /// The curve that mm_ecc_curve_find knows by `name`.
  /// @throws Error with MM_ERR_ARGUMENT if there is none
  explicit Curve(const std::string& name) : curve_(mm_ecc_curve_find(name.c_str()), [](const auto*) {}) {
    if (!curve_) throw Error(MM_ERR_ARGUMENT, "manymod::ecc::Curve: there is no curve " + name);
  }
  /// A curve of these `numbers`. @throws Error as mm_ecc_curve_create
  explicit Curve(const Numbers& numbers) {
    using wrapper::detail::view_of;
    mm_ecc_curve_numbers given{};
    given.struct_size = sizeof given;
    given.form = numbers.form;
    given.p = view_of(numbers.p);
    given.a = view_of(numbers.a);
    given.b = view_of(numbers.b);
    given.x = view_of(numbers.x);
    given.y = view_of(numbers.y);
    given.n = view_of(numbers.n);
    given.cofactor = view_of(numbers.cofactor);
    mm_ecc_curve* curve = nullptr;
    check(mm_ecc_curve_create(&given, &curve));
    curve_ =
        std::shared_ptr<const mm_ecc_curve>(curve, [curve](const auto*) { mm_ecc_curve_destroy(curve); });
  }
  /// A curve that something else owns, such as that of a key: `named` must outlive all copies.
  explicit Curve(const mm_ecc_curve* named) : curve_(named, [](const auto*) {}) {}

  /// Name, form and sizes.
  [[nodiscard]] mm_ecc_curve_info info() const {
    mm_ecc_curve_info info{};
    info.struct_size = sizeof info;
    check(mm_ecc_curve_get_info(curve_.get(), &info));
    return info;
  }
  /// The curve of the C ABI; it remains owned by this object.
  [[nodiscard]] const mm_ecc_curve* get() const noexcept { return curve_.get(); }

 private:
  std::shared_ptr<const mm_ecc_curve> curve_;
};

/// A key from PEM or DER. Immutable; its private numbers are zeroed on destruction.
class Key {
 public:
  /// @param encoded the key
  /// @param password of an encrypted key; a view with data() == nullptr means no password
  /// @param public_only as in mm_ecc_decode_options
  /// @throws Error with MM_ERR_KEY if there is no usable key in it, else as mm_ecc_key_decode
  explicit Key(std::string_view encoded, std::string_view password = {}, bool public_only = false)
      : Key(wrapper::detail::bytes_of(encoded), password, public_only) {}
  /// The same of bytes, as which DER is at hand.
  explicit Key(std::span<const std::uint8_t> encoded, std::string_view password = {},
               bool public_only = false) {
    mm_ecc_decode_options options{};
    options.struct_size = sizeof options;
    options.password = wrapper::detail::view_of(password);
    options.public_only = public_only ? 1 : 0;
    mm_ecc_key* key = nullptr;
    check(mm_ecc_key_decode(wrapper::detail::view_of(encoded), &options, &key));
    key_.reset(key);
  }
  /// Its curve and bytes, which live as long as the key.
  [[nodiscard]] mm_ecc_key_info info() const {
    mm_ecc_key_info info{};
    info.struct_size = sizeof info;
    check(mm_ecc_key_get_info(key_.get(), &info));
    return info;
  }
  /// Its curve alone, which lives longer than the key.
  [[nodiscard]] Curve curve() const { return Curve(info().curve); }
  /// A copy of its private number, as Operands::secrets take it; empty for a public key.
  [[nodiscard]] Bytes secret() const { return wrapper::detail::copy_of(info().secret); }
  /// A copy of its public key, as Operands::points take it.
  [[nodiscard]] Bytes public_key() const { return wrapper::detail::copy_of(info().public_bytes); }
  /// The key of the C ABI; it remains owned by this object.
  [[nodiscard]] const mm_ecc_key* get() const noexcept { return key_.get(); }

 private:
  struct Destroy {
    void operator()(mm_ecc_key* key) const { mm_ecc_key_destroy(key); }
  };
  std::unique_ptr<mm_ecc_key, Destroy> key_;
};

/// What items have: one string for each item, one for all items, or none where the operation takes none. The
/// strings must outlive the call.
struct Operands {
  std::span<const Bytes> secrets{}, points{}, seconds{}, messages{}, signatures{}, nonces{}, contexts{},
      peer_contexts{};
  std::span<const std::uint32_t> curves{};  ///< index of each item's curve in the plan; empty: curve 0
  const mm_ecc_ring* ring = nullptr;        ///< Ring::get(), in the place of secrets and curves
  std::span<const std::uint32_t> keys{};    ///< index of each item's key in the ring; empty: key 0
};

/// The choices of mm_ecc_call.
struct Options {
  mm_ecc_scheme scheme = MM_ECC_DEFAULT;
  mm_hash hash = MM_HASH_NONE;
  bool prehashed = false;
  mm_ecc_nonces nonces = MM_ECC_NONCE_DETERMINISTIC;
  mm_ecc_policy policy = MM_ECC_RFC8032;
  mm_ecc_signature_format signature_format = MM_ECC_RAW;
  mm_ecc_point_format point_format = MM_ECC_UNCOMPRESSED;
  int low_s = 0;
  bool no_check = false;
  std::size_t key_bytes = 0;  ///< MM_ECC_SM2_EXCHANGE, as are those below
  bool responder = false;
  bool confirm = false;
};

namespace detail {

using wrapper::detail::Items;
using wrapper::detail::OutputRows;

inline mm_bytes_view view_of_items(const Items& items) {
  mm_bytes_view view = items.view();
  return view.count == 0 ? mm_bytes_view{} : view;
}

/// An mm_ecc_call without its results, and the arrays that it needs. It cannot be moved, as the call points
/// into it.
class OwnedCall {
 public:
  OwnedCall(mm_ecc_op op, std::size_t count, const Operands& operands, const Options& options,
            Progress progress)
      : secrets_(operands.secrets),
        points_(operands.points),
        seconds_(operands.seconds),
        messages_(operands.messages),
        signatures_(operands.signatures),
        nonces_(operands.nonces),
        contexts_(operands.contexts),
        peer_contexts_(operands.peer_contexts),
        outcome_(count, std::move(progress)) {
    wrapper::detail::require(operands.curves.empty() || operands.curves.size() == count,
                             "manymod::ecc::Plan: one curve index for each item is needed");
    wrapper::detail::require(operands.keys.empty() || operands.keys.size() == count,
                             "manymod::ecc::Plan: one key index for each item is needed");
    call_.struct_size = sizeof call_;
    call_.op = op;
    call_.count = count;
    call_.curve = operands.curves.empty() ? nullptr : operands.curves.data();
    call_.ring = operands.ring;
    call_.key = operands.keys.empty() ? nullptr : operands.keys.data();
    call_.secret = view_of_items(secrets_);
    call_.point = view_of_items(points_);
    call_.second = view_of_items(seconds_);
    call_.message = view_of_items(messages_);
    call_.signature = view_of_items(signatures_);
    call_.nonce = view_of_items(nonces_);
    call_.context = view_of_items(contexts_);
    call_.peer_context = view_of_items(peer_contexts_);
    set_options(options);
    outcome_.connect(call_);
  }
  OwnedCall(const OwnedCall&) = delete;
  OwnedCall& operator=(const OwnedCall&) = delete;

  [[nodiscard]] const mm_ecc_call* get() const noexcept { return &call_; }

 protected:
  ~OwnedCall() = default;
  [[nodiscard]] mm_ecc_call& call() noexcept { return call_; }

  /// Throw for a failed call, or hand out the item statuses.
  void finish_items(mm_status status, std::vector<mm_status>* statuses) const {
    outcome_.finish(status, statuses);
  }

 private:
  Items secrets_, points_, seconds_, messages_, signatures_, nonces_, contexts_, peer_contexts_;
  wrapper::detail::CallOutcome outcome_;
  mm_ecc_call call_{};

  void set_options(const Options& options) {
    call_.scheme = options.scheme;
    call_.hash = options.hash;
    call_.prehashed = options.prehashed ? 1 : 0;
    call_.nonces = options.nonces;
    call_.policy = options.policy;
    call_.signature_format = options.signature_format;
    call_.point_format = options.point_format;
    call_.low_s = options.low_s;
    call_.no_check = options.no_check ? 1 : 0;
    call_.key_bytes = options.key_bytes;
    call_.responder = options.responder ? 1 : 0;
    call_.confirm = options.confirm ? 1 : 0;
  }
};

/// A call whose results are byte strings of at most `stride` bytes.
class BytesCall final : public OwnedCall {
 public:
  BytesCall(mm_ecc_op op, std::size_t count, const Operands& operands, const Options& options,
            std::size_t stride, Progress progress)
      : OwnedCall(op, count, operands, options, std::move(progress)),
        output_(op == MM_ECC_SUM ? 1 : count, stride) {
    call().output = output_.result();
  }

  /// The results of the call, which returned `status`.
  std::vector<Bytes> finish(mm_status status, std::vector<mm_status>* statuses) {
    finish_items(status, statuses);
    return output_.rows();
  }

 private:
  OutputRows output_;
};

/// A verification.
class VerifyCall final : public OwnedCall {
 public:
  VerifyCall(mm_ecc_op op, std::size_t count, const Operands& operands, const Options& options,
             Progress progress)
      : OwnedCall(op, count, operands, options, std::move(progress)),
        ok_(op == MM_ECC_VERIFY_ALL ? 1 : count) {
    call().ok = ok_.data();
  }

  /// The verdicts of the call, which returned `status`.
  std::vector<bool> finish(mm_status status, std::vector<mm_status>* statuses) {
    finish_items(status, statuses);
    return {ok_.begin(), ok_.end()};
  }

 private:
  std::vector<std::uint8_t> ok_;
};

/// Submits calls on a plan.
struct Submitter {
  mm_ecc_plan* plan;
  mm_status operator()(const mm_ecc_call* call, mm_done_fn done, void* user, mm_job** job) const {
    return mm_ecc_submit(plan, call, done, user, job);
  }
};

}  // namespace detail

/// An asynchronous call whose results are byte strings, as manymod::Job.
using Job = wrapper::detail::BasicJob<detail::BytesCall>;
/// An asynchronous verification.
using VerifyJob = wrapper::detail::BasicJob<detail::VerifyCall>;

/// Owns an mm_ecc_plan: curves on a device. Several threads may run calls on one plan.
///
/// In all calls `options` has the choices of mm_ecc_call. An item without a result is empty and has a status
/// in *statuses; if `statuses` is NULL the call throws Error with MM_ERR_ITEMS instead. `progress` of an
/// asynchronous call is called on the job's thread, and its plan and operands must remain unchanged until it
/// has ended.
/// @throws Error as mm_ecc_run, with MM_ERR_ARGUMENT also if there is not one curve or key index for each
/// item
class Plan {
 public:
  /// A plan for `curves`, which may be destroyed before it, on the device of `placement`.
  /// @throws Error as mm_ecc_plan_create
  explicit Plan(std::span<const Curve> curves, const Placement& placement = {}) {
    mm_ecc_plan_options options{};
    options.struct_size = sizeof options;
    options.device = wrapper::detail::or_null(placement.device);
    options.variant = wrapper::detail::or_null(placement.variant);
    options.threads = placement.threads;
    std::vector<const mm_ecc_curve*> pointers(curves.size());
    std::transform(curves.begin(), curves.end(), pointers.begin(),
                   [](const Curve& curve) { return curve.get(); });
    mm_ecc_plan* plan = nullptr;
    check(mm_ecc_plan_create(pointers.data(), pointers.size(), &options, &plan));
    plan_.reset(plan);
    for (const Curve& curve : curves) longest_ = std::max(longest_, longest_result(curve.info()));
  }
  /// A plan for one `curve`.
  explicit Plan(const Curve& curve, const Placement& placement = {})
      : Plan(std::span(&curve, 1), placement) {}

  /// Any operation `op` on `count` items of `operands` whose results are byte strings.
  [[nodiscard]] std::vector<Bytes> run(mm_ecc_op op, std::size_t count, const Operands& operands,
                                       const Options& options = {},
                                       std::vector<mm_status>* statuses = nullptr) {
    detail::BytesCall call(op, count, operands, options, longest(options), {});
    return call.finish(mm_ecc_run(plan_.get(), call.get()), statuses);
  }
  /// Verdicts on `count` items of `operands`, where `op` is MM_ECC_VERIFY; of MM_ECC_VERIFY_ALL one.
  [[nodiscard]] std::vector<bool> run_verification(mm_ecc_op op, std::size_t count, const Operands& operands,
                                                   const Options& options = {},
                                                   std::vector<mm_status>* statuses = nullptr) {
    detail::VerifyCall call(op, count, operands, options, {});
    return call.finish(mm_ecc_run(plan_.get(), call.get()), statuses);
  }

  /// Public keys of `secrets` on curve 0. Timing: constant-time.
  [[nodiscard]] std::vector<Bytes> public_keys(std::span<const Bytes> secrets, const Options& options = {}) {
    Operands operands;
    operands.secrets = secrets;
    return run(MM_ECC_PUBLIC_KEY, secrets.size(), operands, options);
  }
  /// Signatures of `messages` by `secrets`, keys on curve 0: one for each message, or one for all. Timing:
  /// constant-time in the keys.
  [[nodiscard]] std::vector<Bytes> sign(std::span<const Bytes> secrets, std::span<const Bytes> messages,
                                        const Options& options = {}) {
    Operands operands;
    operands.secrets = secrets;
    operands.messages = messages;
    return run(MM_ECC_SIGN, messages.size(), operands, options);
  }
  /// Keys of SM2 key exchanges (GB/T 32918.3), the plan's curve 0 being SM2: options.key_bytes bytes, and
  /// with options.confirm two digests of 32 bytes behind them: that which the responder sends and that which
  /// the initiator sends. Timing: constant-time in the keys.
  /// @param operands secrets; nonces, the own ephemeral private keys, one for each item; points and seconds,
  /// the other sides' public keys and ephemeral public keys; contexts and peer_contexts, the ids
  /// @param options key_bytes, confirm and responder
  /// @param statuses as in run()
  [[nodiscard]] std::vector<Bytes> sm2_exchange(const Operands& operands, Options options,
                                                std::vector<mm_status>* statuses = nullptr) {
    options.nonces = MM_ECC_NONCE_GIVEN;
    return run(MM_ECC_SM2_EXCHANGE, operands.nonces.size(), operands, options, statuses);
  }
  /// Whether each of `signatures` of `messages` by `keys` on curve 0 is valid. Timing: variable-time.
  [[nodiscard]] std::vector<bool> verify(std::span<const Bytes> keys, std::span<const Bytes> messages,
                                         std::span<const Bytes> signatures, const Options& options = {},
                                         std::vector<mm_status>* statuses = nullptr) {
    Operands operands;
    operands.points = keys;
    operands.messages = messages;
    operands.signatures = signatures;
    return run_verification(MM_ECC_VERIFY, messages.size(), operands, options, statuses);
  }

  /// run() with `op`, `count` and `operands` as an asynchronous call. @throws Error as mm_ecc_submit
  [[nodiscard]] Job submit(mm_ecc_op op, std::size_t count, const Operands& operands,
                           const Options& options = {}, Progress progress = {}) {
    return Job(detail::Submitter{plan_.get()},
               std::make_shared<detail::BytesCall>(op, count, operands, options, longest(options),
                                                   std::move(progress)));
  }
  /// run_verification() with `op`, `count` and `operands` as an asynchronous call. @throws Error as
  /// mm_ecc_submit
  [[nodiscard]] VerifyJob submit_verification(mm_ecc_op op, std::size_t count, const Operands& operands,
                                              const Options& options = {}, Progress progress = {}) {
    return VerifyJob(detail::Submitter{plan_.get()},
                     std::make_shared<detail::VerifyCall>(op, count, operands, options, std::move(progress)));
  }

  /// The variant that computes curve number `curve`, see mm_ecc_plan_variant.
  [[nodiscard]] std::string variant(std::size_t curve = 0) const {
    return mm_ecc_plan_variant(plan_.get(), curve);
  }
  /// The plan of the C ABI; it remains owned by this object.
  [[nodiscard]] mm_ecc_plan* get() const noexcept { return plan_.get(); }

 private:
  struct Destroy {
    void operator()(mm_ecc_plan* plan) const { mm_ecc_plan_destroy(plan); }
  };

  /// Of any operation: a point, a digest, or a signature, which DER makes longer by at most 9 bytes.
  static std::size_t longest_result(const mm_ecc_curve_info& info) {
    constexpr std::size_t kDigest = 64;
    return std::max({info.public_bytes, kDigest, info.signature_bytes + 9});
  }

  /// With the key and the digests of a key exchange, if there is one.
  [[nodiscard]] std::size_t longest(const Options& options) const {
    constexpr std::size_t kConfirmation = 2 * std::size_t{32};
    return std::max(longest_, options.key_bytes + (options.confirm ? kConfirmation : 0));
  }

  std::unique_ptr<mm_ecc_plan, Destroy> plan_;
  std::size_t longest_ = 0;  ///< result of operations but key exchanges
};

/// Owns an mm_ecc_ring: private keys whose signatures take less time. Immutable; several calls may use it at
/// once, on any plan of the same curves.
class Ring {
 public:
  /// A ring of `secrets`, which are copied. `curves`: index of each key's curve in `plan`, empty: curve 0. If
  /// some keys are none, they have a status in *statuses, and so have items that name them.
  /// @throws Error as mm_ecc_ring_create, with MM_ERR_ITEMS only if `statuses` is NULL; with MM_ERR_ARGUMENT
  /// also if there is not one curve index for each key
  Ring(const Plan& plan, std::span<const Bytes> secrets, std::span<const std::uint32_t> curves = {},
       std::vector<mm_status>* statuses = nullptr) {
    wrapper::detail::require(curves.empty() || curves.size() == secrets.size(),
                             "manymod::ecc::Ring: one curve index for each key is needed");
    const detail::Items items(secrets);
    std::vector<std::uint8_t> status(secrets.size());
    mm_ecc_ring_keys keys{};
    keys.struct_size = sizeof keys;
    keys.count = secrets.size();
    keys.curve = curves.empty() ? nullptr : curves.data();
    keys.secret = detail::view_of_items(items);
    keys.item_status = status.data();
    mm_ecc_ring* ring = nullptr;
    const mm_status made = mm_ecc_ring_create(plan.get(), &keys, &ring);
    ring_.reset(ring);
    wrapper::detail::hand_out(made, status, statuses);
  }

  /// The ring of the C ABI; it remains owned by this object.
  [[nodiscard]] const mm_ecc_ring* get() const noexcept { return ring_.get(); }

 private:
  struct Destroy {
    void operator()(mm_ecc_ring* ring) const { mm_ecc_ring_destroy(ring); }
  };
  std::unique_ptr<mm_ecc_ring, Destroy> ring_;
};

}  // namespace ecc
}  // namespace wrapper
}  // namespace manymod

#endif

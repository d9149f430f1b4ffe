// SPDX-License-Identifier: Apache-2.0
// Argument checks of a call on curves, performed before anything is computed or written.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "abi/enum_value.hpp"
#include "abi/written_ranges.hpp"
#include "core/status_error.hpp"
#include "crypto/hash.hpp"
#include "ecc/call.hpp"
#include "ecc/plan.hpp"
#include "ecc/ring.hpp"
#include "exec/executor.hpp"

namespace manymod::ecc {
namespace {

[[noreturn]] void reject(const std::string& reason) { throw StatusError(MM_ERR_ARGUMENT, reason); }

/// A member's value, checked to be at most `last`.
template <class Enum>
Enum checked_enum(const Enum& member, long long last, const char* name) {
  const long long value = enum_value(member);
  if (value >= 0 && value <= last) return member;
  reject(std::string(name) + " is " + std::to_string(value) + ", which it cannot be");
}

/// What an operation reads and writes.
enum Use : unsigned {
  kSecret = 1U << 0,
  kPoint = 1U << 1,
  kSecond = 1U << 2,
  kMessage = 1U << 3,
  kSignature = 1U << 4,
  kNonce = 1U << 5,
  kContext = 1U << 6,
  kHash = 1U << 7,
  kPolicy = 1U << 8,
  kLowS = 1U << 9,
  kPointFormat = 1U << 10,
  kVerdict = 1U << 11,
  kSignatureFormat = 1U << 12,
  kKeyExchange = 1U << 13,
  kRing = 1U << 14,
};

unsigned uses_of_signatures(Task task) {
  const bool own = task.scheme == MM_ECC_DEFAULT;
  const bool numbers = own || task.scheme == MM_ECC_ECDSA || task.scheme == MM_ECC_SM2DSA;
  unsigned uses = kMessage;
  if (numbers) uses |= kHash | kSignatureFormat;
  if (own || task.scheme == MM_ECC_ECDSA) uses |= kLowS;
  if (own || task.scheme == MM_ECC_EDDSA || task.scheme == MM_ECC_SM2DSA) uses |= kContext;
  if (task.op == MM_ECC_SIGN) return uses | kSecret | kNonce | kRing;
  if (own || task.scheme == MM_ECC_EDDSA) uses |= kPolicy;
  return uses | kPoint | kSignature | kVerdict;
}

unsigned uses_of(Task task) {
  switch (task.op) {
    case MM_ECC_PUBLIC_KEY:
      return kSecret | kPointFormat;
    case MM_ECC_SIGN:
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
      return uses_of_signatures(task);
    case MM_ECC_RECOVER:
      return kMessage | kSignature | kHash | kLowS | kSignatureFormat | kPointFormat;
    case MM_ECC_EXCHANGE:
      return kSecret | kPoint | kHash | kRing;
    case MM_ECC_MULTIPLY:
      return kSecret | kPoint | kPointFormat;
    case MM_ECC_ADD:
      return kPoint | kSecond | kPointFormat;
    case MM_ECC_POINT:
      return kPoint | kPointFormat;
    case MM_ECC_SUM:
      return kSecret | kPoint | kPointFormat;
    case MM_ECC_SM2_EXCHANGE:
      return kSecret | kPoint | kSecond | kContext | kKeyExchange | kRing;
  }
  return 0;
}

bool has_scheme(mm_ecc_op op, mm_ecc_scheme scheme) {
  if (scheme == MM_ECC_DEFAULT || is_signature(op) || op == MM_ECC_PUBLIC_KEY) return true;
  if (op == MM_ECC_RECOVER) return scheme == MM_ECC_ECDSA;
  return op == MM_ECC_POINT && scheme == MM_ECC_BIP340;
}

bool is_absent(const mm_bytes_view& view) {
  return view.count == 0 && view.data == nullptr && view.size == 0 && view.stride == 0 &&
         view.offsets == nullptr && view.items == nullptr;
}

enum class Need : std::uint8_t { none, optional, required };

void take(std::optional<ItemsIn>& items, const mm_bytes_view& view, Need need, std::size_t count,
          const char* name) {
  if (need == Need::required || (need == Need::optional && !is_absent(view))) {
    items.emplace(view, count, name);
  } else if (!is_absent(view)) {
    reject(std::string(name) + " is not used by this operation and must be 0");
  }
}

void must_be_zero(bool is_zero, const char* name) {
  if (!is_zero) reject(std::string(name) + " is not used by this operation and must be 0");
}

void take_items(Inputs& inputs, const mm_ecc_call& call, Task task, unsigned uses) {
  const auto need = [uses](unsigned use) { return (uses & use) != 0 ? Need::required : Need::none; };
  const auto may_have = [uses](unsigned use) { return (uses & use) != 0 ? Need::optional : Need::none; };
  const std::size_t n = call.count;
  take(inputs.secret, call.secret, call.ring != nullptr ? Need::none : need(kSecret), n, "secret");
  take(inputs.point, call.point, task.op == MM_ECC_MULTIPLY ? Need::optional : need(kPoint), n, "point");
  take(inputs.second, call.second, need(kSecond), n, "second");
  take(inputs.message, call.message, need(kMessage), n, "message");
  take(inputs.signature, call.signature, need(kSignature), n, "signature");
  const bool given = inputs.nonces == MM_ECC_NONCE_GIVEN;
  take(inputs.nonce, call.nonce, given ? Need::required : Need::none, n, "nonce");
  if (given && task.scheme != MM_ECC_BIP340 && inputs.nonce->is_shared() && n > 1)
    reject("nonce.count is 1: each item needs its own nonce");
  take(inputs.context, call.context, may_have(kContext), n, "context");
  take(inputs.peer_context, call.peer_context, may_have(kKeyExchange), n, "peer_context");
}

mm_hash checked_hash(const mm_ecc_call& call, unsigned uses) {
  if (enum_value(call.hash) == MM_HASH_NONE) return MM_HASH_NONE;
  must_be_zero((uses & kHash) != 0, "hash");
  const crypto::HashFacts* facts = crypto::find_hash(call.hash);
  if (facts == nullptr) reject("hash is " + std::to_string(enum_value(call.hash)) + ", which is not a hash");
  if (facts->extendable) reject("SHAKE is not for curves");
  return facts->hash;
}

mm_ecc_nonces checked_nonces(const mm_ecc_call& call, Task task) {
  const mm_ecc_nonces nonces = checked_enum(call.nonces, MM_ECC_NONCE_GIVEN, "nonces");
  if (task.op == MM_ECC_SM2_EXCHANGE) {
    if (nonces != MM_ECC_NONCE_GIVEN)
      reject("nonces must be MM_ECC_NONCE_GIVEN: `nonce` is the ephemeral key");
  } else if (task.op != MM_ECC_SIGN || task.scheme == MM_ECC_EDDSA) {
    must_be_zero(nonces == MM_ECC_NONCE_DETERMINISTIC, "nonces");
  }
  return nonces;
}

/// The options of SM2's key exchange.
void take_exchange(Inputs& inputs, const mm_ecc_call& call, unsigned uses) {
  constexpr std::size_t kLongestKey = 65536;
  if ((uses & kKeyExchange) == 0) {
    must_be_zero(call.key_bytes == 0, "key_bytes");
    must_be_zero(call.responder == 0, "responder");
    must_be_zero(call.confirm == 0, "confirm");
  } else if (call.key_bytes == 0 || call.key_bytes > kLongestKey) {
    reject("key_bytes is " + std::to_string(call.key_bytes) + ", expected 1 .. 65536");
  }
  inputs.key_bytes = call.key_bytes;
  inputs.responder = call.responder != 0;
  inputs.confirm = call.confirm != 0;
}

mm_ecc_signature_format checked_signature_format(const mm_ecc_call& call, Task task, unsigned uses) {
  const auto format = checked_enum(call.signature_format, MM_ECC_RECOVERABLE, "signature_format");
  if ((uses & kSignatureFormat) == 0) must_be_zero(format == MM_ECC_RAW, "signature_format");
  if (format == MM_ECC_RECOVERABLE && task.scheme == MM_ECC_SM2DSA) {
    reject("signatures of SM2 have no recovery id");
  }
  if (task.op == MM_ECC_RECOVER && format != MM_ECC_RECOVERABLE) {
    reject("signature_format must be MM_ECC_RECOVERABLE: keys are recovered by the recovery id");
  }
  return format;
}

mm_ecc_policy checked_policy(const mm_ecc_call& call, unsigned uses) {
  const mm_ecc_policy policy = checked_enum(call.policy, MM_ECC_ZIP215, "policy");
  if ((uses & kPolicy) == 0) must_be_zero(policy == MM_ECC_RFC8032, "policy");
  return policy;
}

void take_options(Inputs& inputs, const mm_ecc_call& call, Task task, unsigned uses) {
  inputs.hash = checked_hash(call, uses);
  inputs.nonces = checked_nonces(call, task);
  inputs.policy = checked_policy(call, uses);
  inputs.signature_format = checked_signature_format(call, task, uses);
  inputs.point_format = checked_enum(call.point_format, MM_ECC_X_ONLY, "point_format");
  inputs.prehashed = call.prehashed != 0;
  inputs.low_s = call.low_s;
  inputs.check = call.no_check == 0;
  if ((uses & kPointFormat) == 0) must_be_zero(inputs.point_format == MM_ECC_UNCOMPRESSED, "point_format");
  if ((uses & kMessage) == 0) must_be_zero(!inputs.prehashed, "prehashed");
  if (task.scheme == MM_ECC_BIP340) must_be_zero(!inputs.prehashed, "prehashed");
  if ((uses & kLowS) == 0) must_be_zero(inputs.low_s == 0, "low_s");
  if (task.op != MM_ECC_SIGN) must_be_zero(inputs.check, "no_check");
  take_exchange(inputs, call, uses);
}

/// Keys come from a ring or one by one.
void check_ring(const mm_ecc_call& call, unsigned uses) {
  if (call.ring == nullptr) {
    if (call.key != nullptr) reject("key has indices of keys in `ring`, which is NULL");
    return;
  }
  must_be_zero((uses & kRing) != 0, "ring");
  if (!is_absent(call.secret)) reject("secret must be 0: the keys are those of `ring`");
  if (call.curve != nullptr) reject("curve must be NULL: those of the ring's keys are used");
}

/// The indices of the items' curves in a plan. keys: indices of keys in the ring, empty: key 0.
std::vector<std::uint32_t> curves_of(const Ring& ring, std::span<const std::uint32_t> keys,
                                     std::size_t count) {
  std::vector<std::uint32_t> curves(count, ring.curve(0));
  for (std::size_t item = 0; item < keys.size(); ++item) {
    // An item without a key has no curve.
    curves[item] = keys[item] < ring.size() ? ring.curve(keys[item]) : UINT32_MAX;
  }
  return curves;
}

/// The longest result on the curves that `curves` names, or of curve 0 if it is empty.
std::size_t longest_result(const Plan& plan, Task task, const Inputs& inputs,
                           std::span<const std::uint32_t> curves) {
  std::vector<bool> named(plan.size());
  if (curves.empty() && plan.size() != 0) named[0] = true;
  for (const std::uint32_t index : curves) {
    if (index < plan.size()) named[index] = true;
  }
  std::size_t longest = 0;
  for (std::size_t index = 0; index < plan.size(); ++index) {
    if (!named[index]) continue;
    const Curve& curve = plan.curve(index).curve();
    const Task here = on_curve(task, curve);
    if (suits(here, curve, inputs)) longest = std::max(longest, result_bytes(here, curve, inputs));
  }
  return longest;
}

/// Whether an item may have a signature of EdDSA.
bool may_have_eddsa(const Plan& plan, const CheckedCall& checked) {
  const auto has_eddsa = [&](std::size_t index) {
    if (index >= plan.size()) return false;
    const Curve& curve = plan.curve(index).curve();
    return curve.form == MM_ECC_EDWARDS && on_curve(checked.task, curve).scheme == MM_ECC_EDDSA;
  };
  return checked.curves.empty() ? has_eddsa(0) : std::ranges::any_of(checked.curves, has_eddsa);
}

/// One verdict for many Ed25519 signatures is that of many verdicts only with the cofactor in the equation.
void check_batch_policy(const Plan& plan, const CheckedCall& checked) {
  if (checked.task.op != MM_ECC_VERIFY_ALL || checked.inputs.policy == MM_ECC_ZIP215) return;
  if (may_have_eddsa(plan, checked)) reject("MM_ECC_VERIFY_ALL of EdDSA needs the policy MM_ECC_ZIP215");
}

void check_output(const Plan& plan, CheckedCall& checked, WrittenRanges& written) {
  const mm_bytes_result& output = checked.call.output;
  checked.rows = checked.task.op == MM_ECC_SUM ? 1 : checked.call.count;
  if (output.data == nullptr) throw StatusError(MM_ERR_NULL, "output.data is NULL");
  if (output.count != checked.rows) {
    reject("output.count is " + std::to_string(output.count) + ", expected " + std::to_string(checked.rows));
  }
  checked.row_bytes = longest_result(plan, checked.task, checked.inputs, checked.curves);
  if (output.stride < checked.row_bytes) {
    reject("output.stride is " + std::to_string(output.stride) + ", less than the " +
           std::to_string(checked.row_bytes) + " bytes of a result");
  }
  written.add("output", output.data, extent_of(checked.rows, output.stride, checked.row_bytes));
  written.add("output.sizes", output.sizes,
              extent_of(checked.rows, sizeof *output.sizes, sizeof *output.sizes));
}

void check_verdicts(const CheckedCall& checked, WrittenRanges& written) {
  const mm_ecc_call& call = checked.call;
  if (call.ok == nullptr) throw StatusError(MM_ERR_NULL, "ok is NULL");
  must_be_zero(call.output.data == nullptr && call.output.count == 0 && call.output.stride == 0 &&
                   call.output.sizes == nullptr,
               "output");
  written.add("ok", call.ok, checked.task.op == MM_ECC_VERIFY ? call.count : 1);
}

/// All items of a sum have one curve.
void check_one_curve(const CheckedCall& checked) {
  if (std::ranges::adjacent_find(checked.curves, std::ranges::not_equal_to()) != checked.curves.end()) {
    reject("the items of a sum must have one curve");
  }
}

}  // namespace

Task checked_task(const mm_ecc_call& call) {
  const Task task{checked_enum(call.op, MM_ECC_OP_COUNT - 1, "op"),
                  checked_enum(call.scheme, MM_ECC_SM2DSA, "scheme")};
  if (!has_scheme(task.op, task.scheme)) reject("this operation has no such scheme");
  return task;
}

CheckedCall::CheckedCall(const Plan& plan, const mm_ecc_call& given)
    : call(given), task(checked_task(given)) {
  const unsigned uses = uses_of(task);
  check_ring(call, uses);
  take_options(inputs, call, task, uses);
  take_items(inputs, call, task, uses);
  if (call.ring != nullptr) {
    take_ring(plan);
  } else {
    curves = copied_indices(call.curve, call.count);
  }
  if (task.op == MM_ECC_SUM) check_one_curve(*this);
  WrittenRanges written;
  // The keys of a ring are in memory of the library.
  if (call.ring == nullptr) written.keep(inputs.secret);
  for (const auto* items : {&inputs.point, &inputs.second, &inputs.message, &inputs.signature, &inputs.nonce,
                            &inputs.context, &inputs.peer_context}) {
    written.keep(*items);
  }
  if ((uses & kVerdict) != 0) {
    check_verdicts(*this, written);
    check_batch_policy(plan, *this);
  } else {
    must_be_zero(call.ok == nullptr, "ok");
    check_output(plan, *this, written);
  }
  written.add("item_status", call.item_status, call.count);
  copy_shared_secret();
}

void CheckedCall::take_ring(const Plan& plan) {
  const Ring& ring = call.ring->ring;
  ring.require_curves_of(plan);
  const bool all_exist = copy_keys(plan, ring);
  const std::span<std::uint32_t> keys(keys_.get(), keys_ == nullptr ? 0 : call.count);
  if (!all_exist || !ring.is_plain()) curves = curves_of(ring, keys, call.count);
  if (!all_exist) {
    for (std::uint32_t& key : keys) key = key < ring.size() ? key : 0;
  }
  inputs.secret.emplace(ring.keys().secrets(), ring.keys().are_rows(), keys);
  inputs.prepared = &ring.keys();
  inputs.prepared_key = keys;
}

// By several threads where there are many: their pages are new, which takes longer than the copy.
bool CheckedCall::copy_keys(const Plan& plan, const Ring& ring) {
  if (call.key == nullptr) return true;
  constexpr double kIndexNs = 2;
  require_possible(extent_of(call.count, sizeof *call.key, sizeof *call.key), "the array of indices");
  keys_ = std::make_unique_for_overwrite<std::uint32_t[]>(call.count);
  std::atomic<bool> all_exist = true;
  execute_ranges(call.count, kIndexNs, plan.threads(), {},
                 [&](std::size_t begin, std::size_t end, const StopToken&) {
                   bool exist = true;
                   for (std::size_t i = begin; i < end; ++i) {
                     keys_[i] = call.key[i];
                     exist = exist && keys_[i] < ring.size();
                   }
                   if (!exist) all_exist = false;
                 });
  return all_exist;
}

std::uint8_t CheckedCall::key_status(std::size_t item) const {
  return call.ring == nullptr ? static_cast<std::uint8_t>(MM_OK)
                              : call.ring->ring.status(inputs.key_of(item));
}

void CheckedCall::copy_shared_secret() {
  // The keys of a ring are copies.
  if (!inputs.secret || !inputs.secret->is_shared() || call.ring != nullptr) return;
  const ByteSpan given = (*inputs.secret)[0];
  SecretBytes& kept = shared_secret_.emplace(std::vector<std::uint8_t>(given.begin(), given.end()));
  inputs.secret.emplace(mm_bytes_view{1, kept.data(), kept.size(), 0, nullptr, nullptr}, call.count,
                        "secret");
}

std::size_t longest_result(const Plan& plan, const mm_ecc_call& call) {
  const Task task = checked_task(call);
  const unsigned uses = uses_of(task);
  Inputs inputs;
  take_options(inputs, call, task, uses);
  if ((uses & kVerdict) != 0) return 0;
  check_ring(call, uses);
  if (call.ring == nullptr) {
    return longest_result(plan, task, inputs, copied_indices(call.curve, call.count));
  }
  const Ring& ring = call.ring->ring;
  ring.require_curves_of(plan);
  const std::vector<std::uint32_t> keys = copied_indices(call.key, call.count);
  return longest_result(plan, task, inputs, curves_of(ring, keys, call.count));
}

}  // namespace manymod::ecc

// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/rows.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/hash.hpp"
#include "ecc/device_schemes.hpp"
#include "ecc/schemes/numbers.hpp"
#include "ecc/schemes/row_operands.hpp"
#include "ecc/schemes/signatures.hpp"

namespace manymod::ecc {
namespace {

/// Of an item on a thread of the host: copies of its bytes.
constexpr double kCopyNs = 40;

/// The options of a task as those of a call on rows. Nothing where these do not have them.
std::optional<RowCall> row_call(Task task, const Curve& curve, const Inputs& inputs) {
  RowCall call;
  call.result_size = result_bytes(task, curve, inputs);
  call.check = inputs.check && inputs.nonces == MM_ECC_NONCE_DETERMINISTIC;
  call.derives_nonces = inputs.nonces != MM_ECC_NONCE_GIVEN;
  call.recoverable = inputs.signature_format == MM_ECC_RECOVERABLE;
  call.low_s = wants_low_s(curve, inputs.low_s);
  call.point_format = point_format_of(inputs, task);
  const bool is_ecdsa = task.scheme == MM_ECC_ECDSA;
  const bool is_eddsa = task.scheme == MM_ECC_EDDSA && !inputs.prehashed && inputs.policy == MM_ECC_RFC8032;
  const bool usual = !call.derives_nonces || (inputs.nonces == MM_ECC_NONCE_DETERMINISTIC &&
                                              hash_of(inputs, task, curve) == usual_hash(task, curve));
  bool offered = !inputs.context;
  switch (task.op) {
    case MM_ECC_PUBLIC_KEY:
      call.operation = RowOperation::public_key;
      break;
    case MM_ECC_EXCHANGE:
      call.operation = RowOperation::exchange;
      offered = offered && inputs.hash == MM_HASH_NONE;
      break;
    case MM_ECC_SIGN:
      call.operation = RowOperation::sign;
      offered = offered && (is_eddsa || (is_ecdsa && usual && inputs.signature_format != MM_ECC_DER));
      break;
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
      // One verdict for many EdDSA signatures is that of another policy.
      call.operation = RowOperation::verify;
      offered = offered && (is_eddsa || is_ecdsa) && inputs.signature_format == MM_ECC_RAW;
      break;
    default:
      offered = false;
  }
  return offered ? std::optional(call) : std::nullopt;
}

class RowScheme final : public Scheme {
 public:
  RowScheme(const SchemeArguments& arguments, const RowCall& call, std::unique_ptr<Scheme> rest)
      : task_(arguments.task),
        engine_(arguments.engine),
        inputs_(arguments.inputs),
        outputs_(arguments.outputs),
        call_(call),
        rest_(std::move(rest)) {}

  [[nodiscard]] double item_ns() const override {
    const double points = engine_.item_ns(main_operation(task_, curve()));
    const bool signs_eddsa = task_.op == MM_ECC_SIGN && task_.scheme == MM_ECC_EDDSA;
    return points * (call_.check && task_.op == MM_ECC_SIGN ? 2 : 1) * (signs_eddsa ? 2 : 1) + kCopyNs +
           (hashes() ? kDigestNs : 0);
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    if (items.empty()) return;
    RowOperands operands(items);
    RowCall call = call_;
    if (!take_operands(call, operands)) return rest_->compute(items, stop);
    std::vector<std::uint8_t> done(operands.fits().begin(), operands.fits().end());
    call.done = done.data();
    if (operands.in_a_row()) {
      run_in_place(call, items, stop);
    } else {
      run_apart(call, operands, stop);
    }
    settle(items, done, stop);
  }

 private:
  const Task task_;
  const PointEngine& engine_;
  const Inputs& inputs_;
  const Outputs& outputs_;
  const RowCall call_;
  const std::unique_ptr<Scheme> rest_;

  [[nodiscard]] const Curve& curve() const { return engine_.curve(); }
  /// Whether digests are computed here.
  [[nodiscard]] bool hashes() const {
    return is_signature(task_.op) && task_.scheme == MM_ECC_ECDSA && !inputs_.prehashed;
  }

  /// @return false if no item has such operands
  [[nodiscard]] bool take_operands(RowCall& call, RowOperands& operands) const {
    bool taken = true;
    if (inputs_.secret) taken = operands.take(call.secret, *inputs_.secret, secret_bytes(curve()));
    if (taken && inputs_.nonce) taken = operands.take(call.nonce, *inputs_.nonce, curve().scalar_bytes());
    if (taken && inputs_.point) taken = take_points(call, operands);
    if (taken && inputs_.signature) {
      taken = operands.take(call.signature, *inputs_.signature, signature_bytes_of_rows());
    }
    if (taken && inputs_.message) taken = take_messages(call, operands);
    return taken;
  }
  [[nodiscard]] std::size_t signature_bytes_of_rows() const {
    return task_.scheme == MM_ECC_EDDSA ? signature_bytes(curve()) : 2 * curve().scalar_bytes();
  }
  /// In the encoding of the first one.
  [[nodiscard]] bool take_points(RowCall& call, RowOperands& operands) const {
    const std::size_t compressed = point_bytes(curve(), MM_ECC_COMPRESSED);
    const bool is_compressed = (*inputs_.point)[operands.items().front()].size() == compressed;
    return operands.take(call.point, *inputs_.point, is_compressed ? compressed : point_bytes(curve()));
  }
  /// Messages of EdDSA, or the leftmost bytes of digests.
  [[nodiscard]] bool take_messages(RowCall& call, RowOperands& operands) const {
    const ItemsIn& messages = *inputs_.message;
    if (task_.scheme == MM_ECC_EDDSA) {
      return operands.take_any(call.message, call.message_sizes, messages, RowCall::kMostMessage);
    }
    const std::size_t size = hashes() ? crypto::find_hash(hash_of(inputs_, task_, curve()))->size
                                      : messages[operands.items().front()].size();
    const std::size_t used = std::min(size, curve().scalar_bytes());
    if (used == 0 || 8 * used > curve().order_bits) return false;
    if (!hashes()) return operands.take(call.message, messages, size, used);
    hash(operands.room(call.message, used), used, operands.items());
    return true;
  }
  void hash(std::uint8_t* digests, std::size_t used, std::span<const std::size_t> items) const {
    crypto::Hasher hasher(hash_of(inputs_, task_, curve()));
    std::array<std::uint8_t, crypto::kMaxDigest> digest;
    for (std::size_t row = 0; row < items.size(); ++row) {
      hasher.digest(digest, {(*inputs_.message)[items[row]]});
      std::copy_n(digest.data(), used, digests + row * used);
    }
  }

  void run(const RowCall& call, std::size_t count, const StopToken& stop) const {
    engine_.device_schemes()->run(call, {0, count}, stop);
  }
  void run_in_place(RowCall& call, std::span<const std::size_t> items, const StopToken& stop) const {
    const std::size_t first = items.front();
    if (outputs_.data != nullptr) call.result = outputs_.data + first * outputs_.stride;
    call.result_stride = outputs_.stride;
    if (is_verification(task_.op)) call.ok = outputs_.ok + first;
    run(call, items.size(), stop);
  }
  /// With results that are distributed afterwards.
  void run_apart(RowCall& call, RowOperands& operands, const StopToken& stop) const {
    const std::span<const std::size_t> items = operands.items();
    ByteRows results, verdicts;
    call.result = outputs_.data == nullptr ? nullptr : operands.room(results, call.result_size);
    call.result_stride = call.result_size;
    call.ok = is_verification(task_.op) ? operands.room(verdicts, 1) : nullptr;
    run(call, items.size(), stop);
    for (std::size_t row = 0; row < items.size(); ++row) {
      if (call.done[row] == 0) continue;
      if (call.ok != nullptr) outputs_.ok[items[row]] = call.ok[row];
      if (call.result == nullptr) continue;
      std::copy_n(call.result + row * call.result_size, call.result_size,
                  outputs_.data + items[row] * outputs_.stride);
    }
  }

  /// Statuses of the items that were done, and the others.
  void settle(std::span<const std::size_t> items, std::span<const std::uint8_t> done,
              const StopToken& stop) const {
    std::vector<std::size_t> left;
    for (std::size_t row = 0; row < done.size(); ++row) {
      const std::size_t item = items[row];
      if (done[row] == 0) {
        left.push_back(item);
        continue;
      }
      outputs_.status[item] = static_cast<std::uint8_t>(MM_OK);
      if (outputs_.sizes != nullptr) outputs_.sizes[item] = call_.result_size;
    }
    if (!left.empty() && !stop.was_requested()) rest_->compute(left, stop);
  }
};

}  // namespace

std::unique_ptr<Scheme> with_rows(const SchemeArguments& arguments, std::unique_ptr<Scheme> rest) {
  const DeviceSchemes* const device = arguments.engine.device_schemes();
  if (device == nullptr) return rest;
  const std::optional<RowCall> call = row_call(arguments.task, arguments.engine.curve(), arguments.inputs);
  if (!call || !device->offers(*call)) return rest;
  return std::make_unique<RowScheme>(arguments, *call, std::move(rest));
}

}  // namespace manymod::ecc

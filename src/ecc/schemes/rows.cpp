// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/rows.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "crypto/hash.hpp"
#include "ecc/device_schemes.hpp"
#include "ecc/schemes/numbers.hpp"
#include "ecc/schemes/signatures.hpp"

namespace manymod::ecc {
namespace {

/// Of an item on a thread of the host: copies of its bytes.
constexpr double kCopyNs = 40;

/// `rows` from item `first` on.
ByteRows from_item(const ByteRows& rows, std::size_t first) {
  return {rows.data == nullptr ? nullptr : rows.data + first * rows.stride, rows.stride, rows.size};
}

/// Whether the view is of rows of `size` bytes, which `to` then is.
bool take_rows(ByteRows& to, const std::optional<ItemsIn>& items, std::size_t size) {
  const std::optional<ByteRows> rows = items ? items->rows() : std::nullopt;
  if (!rows || rows->size != size) return false;
  to = *rows;
  return true;
}

/// Finds the call on rows that a task is.
class RowCallMaker {
 public:
  RowCallMaker(Task task, const Curve& curve, const Inputs& inputs)
      : task_(task), curve_(curve), inputs_(inputs) {
    call_.result_size = result_bytes(task, curve, inputs);
  }

  /// Without pointers to results. Nothing where operands have another form or options are not for rows.
  [[nodiscard]] std::optional<RowCall> make() {
    return !inputs_.context && take_operation() ? std::optional(call_) : std::nullopt;
  }

 private:
  const Task task_;
  const Curve& curve_;
  const Inputs& inputs_;
  RowCall call_;

  [[nodiscard]] bool take_operation() {
    switch (task_.op) {
      case MM_ECC_PUBLIC_KEY:
        call_.operation = RowOperation::public_key;
        call_.point_format = point_format_of(inputs_, task_);
        return take_secret();
      case MM_ECC_EXCHANGE:
        call_.operation = RowOperation::exchange;
        return inputs_.hash == MM_HASH_NONE && take_secret() && take_point();
      case MM_ECC_SIGN:
        call_.operation = RowOperation::sign;
        return take_secret() && take_signing();
      case MM_ECC_VERIFY:
      case MM_ECC_VERIFY_ALL:
        call_.operation = RowOperation::verify;
        return take_point() && take_verification();
      default:
        return false;
    }
  }

  [[nodiscard]] bool take_secret() { return take_rows(call_.secret, inputs_.secret, secret_bytes(curve_)); }
  [[nodiscard]] bool take_point() {
    return take_rows(call_.point, inputs_.point, point_bytes(curve_)) ||
           (curve_.form == MM_ECC_WEIERSTRASS &&
            take_rows(call_.point, inputs_.point, point_bytes(curve_, MM_ECC_COMPRESSED)));
  }

  [[nodiscard]] bool take_signing() {
    call_.check = inputs_.check && inputs_.nonces == MM_ECC_NONCE_DETERMINISTIC;
    return task_.scheme == MM_ECC_EDDSA ? take_message() : task_.scheme == MM_ECC_ECDSA && take_ecdsa();
  }
  [[nodiscard]] bool take_ecdsa() {
    const bool given = inputs_.nonces == MM_ECC_NONCE_GIVEN;
    const bool derived = inputs_.nonces == MM_ECC_NONCE_DETERMINISTIC &&
                         hash_of(inputs_, task_, curve_) == usual_hash(task_, curve_);
    if (given ? !take_rows(call_.nonce, inputs_.nonce, curve_.scalar_bytes()) : !derived) return false;
    call_.low_s = wants_low_s(curve_, inputs_.low_s);
    call_.recoverable = inputs_.signature_format == MM_ECC_RECOVERABLE;
    return inputs_.signature_format != MM_ECC_DER && take_digest();
  }
  [[nodiscard]] bool take_verification() {
    call_.low_s = wants_low_s(curve_, inputs_.low_s);
    const bool readable = inputs_.signature_format == MM_ECC_RAW &&
                          take_rows(call_.signature, inputs_.signature, signature_bytes(curve_));
    if (task_.scheme == MM_ECC_EDDSA) {
      return readable && inputs_.policy == MM_ECC_RFC8032 && task_.op == MM_ECC_VERIFY && take_message();
    }
    return readable && task_.scheme == MM_ECC_ECDSA && take_digest();
  }

  [[nodiscard]] bool take_message() {
    const std::optional<ByteRows> rows = inputs_.message->rows();
    if (!rows || inputs_.prehashed || rows->size > RowCall::kMostMessage) return false;
    call_.message = *rows;
    return true;
  }

  /// The leftmost bytes of digests, which are rows, or are computed for each range of items.
  [[nodiscard]] bool take_digest() {
    if (inputs_.prehashed) {
      const std::optional<ByteRows> rows = inputs_.message->rows();
      if (!rows) return false;
      call_.message = *rows;
    } else {
      call_.message.size = crypto::find_hash(hash_of(inputs_, task_, curve_))->size;
    }
    call_.message.size = std::min(call_.message.size, curve_.scalar_bytes());
    return call_.message.size != 0 && 8 * call_.message.size <= curve_.order_bits;
  }
};

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
    const double points = engine_.item_ns(main_operation(task_, engine_.curve()));
    const bool signs_eddsa = task_.op == MM_ECC_SIGN && task_.scheme == MM_ECC_EDDSA;
    return points * (call_.check ? 2 : 1) * (signs_eddsa ? 2 : 1) + kCopyNs + (hashes() ? kDigestNs : 0);
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    const bool in_a_row = !items.empty() && items.back() - items.front() + 1 == items.size();
    if (!in_a_row) return rest_->compute(items, stop);
    const std::size_t first = items.front();
    std::vector<std::uint8_t> done(items.size());
    RowCall call = call_from(first);
    call.done = done.data();
    SecretBytes digests(hashes() ? items.size() * call.message.size : 0);
    if (hashes()) {
      hash(digests.data(), items);
      call.message = {digests.data(), call.message.size, call.message.size};
    }
    engine_.device_schemes()->run(call, {0, items.size()}, stop);
    finish_done(first, done);
    if (stop.was_requested()) return;
    if (std::ranges::find(done, std::uint8_t{0}) != done.end()) compute_rest(items, done, stop);
  }

 private:
  const Task task_;
  const PointEngine& engine_;
  const Inputs& inputs_;
  const Outputs& outputs_;
  const RowCall call_;
  const std::unique_ptr<Scheme> rest_;

  /// Whether digests are computed here.
  [[nodiscard]] bool hashes() const {
    return is_signature(task_.op) && task_.scheme == MM_ECC_ECDSA && !inputs_.prehashed;
  }

  [[nodiscard]] RowCall call_from(std::size_t first) const {
    RowCall call = call_;
    for (ByteRows* const rows : {&call.secret, &call.point, &call.message, &call.signature, &call.nonce}) {
      *rows = from_item(*rows, first);
    }
    if (outputs_.data != nullptr) call.result = outputs_.data + first * outputs_.stride;
    call.result_stride = outputs_.stride;
    if (outputs_.ok != nullptr) call.ok = outputs_.ok + first;
    return call;
  }

  void hash(std::uint8_t* digests, std::span<const std::size_t> items) const {
    crypto::Hasher hasher(hash_of(inputs_, task_, engine_.curve()));
    std::array<std::uint8_t, crypto::kMaxDigest> digest;
    for (std::size_t i = 0; i < items.size(); ++i) {
      hasher.digest(digest, {(*inputs_.message)[items[i]]});
      std::copy_n(digest.data(), call_.message.size, digests + i * call_.message.size);
    }
  }

  void finish_done(std::size_t first, std::span<const std::uint8_t> done) const {
    for (std::size_t i = 0; i < done.size(); ++i) {
      std::uint8_t& status = outputs_.status[first + i];
      status = done[i] != 0 ? static_cast<std::uint8_t>(MM_OK) : status;
    }
    if (outputs_.sizes == nullptr) return;
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (done[i] != 0) outputs_.sizes[first + i] = call_.result_size;
    }
  }

  void compute_rest(std::span<const std::size_t> items, std::span<const std::uint8_t> done,
                    const StopToken& stop) const {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (done[i] == 0) left.push_back(items[i]);
    }
    rest_->compute(left, stop);
  }
};

}  // namespace

std::unique_ptr<Scheme> with_rows(const SchemeArguments& arguments, std::unique_ptr<Scheme> rest) {
  const DeviceSchemes* const device = arguments.engine.device_schemes();
  if (device == nullptr) return rest;
  const std::optional<RowCall> call =
      RowCallMaker(arguments.task, arguments.engine.curve(), arguments.inputs).make();
  if (!call || !device->offers(*call)) return rest;
  return std::make_unique<RowScheme>(arguments, *call, std::move(rest));
}

}  // namespace manymod::ecc

// SPDX-License-Identifier: Apache-2.0
#include "ecc/schemes/rows.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "core/read_once.hpp"
#include "crypto/hash.hpp"
#include "crypto/random.hpp"
#include "ecc/device_schemes.hpp"
#include "ecc/schemes/numbers.hpp"
#include "ecc/schemes/prepared_keys.hpp"
#include "ecc/schemes/row_operands.hpp"
#include "ecc/schemes/signatures.hpp"
#include "ecc/schemes/sm2_identity.hpp"

namespace manymod::ecc {
namespace {

/// Nanoseconds of an item on a thread of the host: copies of its bytes; random bytes, and conversions of a
/// signature.
constexpr double kCopyNs = 40, kRandomNs = 60, kConversionNs = 80;

/// Nothing if no call on rows computes the operation.
std::optional<RowOperation> row_operation(mm_ecc_op op) {
  switch (op) {
    case MM_ECC_PUBLIC_KEY:
      return RowOperation::public_key;
    case MM_ECC_EXCHANGE:
      return RowOperation::exchange;
    case MM_ECC_RECOVER:
      return RowOperation::recover;
    case MM_ECC_ADD:
      return RowOperation::add;
    case MM_ECC_SUM:
      return RowOperation::sum;
    case MM_ECC_SIGN:
      return RowOperation::sign;
    case MM_ECC_VERIFY:
    case MM_ECC_VERIFY_ALL:
      return RowOperation::verify;
    default:
      return std::nullopt;
  }
}

/// Whether a task is EdDSA on whole messages, by one of the two policies that rows support.
bool is_eddsa_of_messages(Task task, const Inputs& inputs) {
  return task.scheme == MM_ECC_EDDSA && !inputs.prehashed &&
         (inputs.policy == MM_ECC_RFC8032 || inputs.policy == MM_ECC_ZIP215);
}

/// Whether rows support a task's scheme with the context, hash and signature format of the call.
bool supports_options(Task task, const Curve& curve, const Inputs& inputs) {
  // The id of an SM2 signer is hashed before the public key. Rows take one id for all items.
  const bool has_one_id = task.scheme == MM_ECC_SM2DSA && inputs.context && inputs.context->is_shared();
  if (inputs.context && !has_one_id) return false;
  if (!is_signature(task.op)) return true;
  switch (task.scheme) {
    case MM_ECC_ECDSA:
      if (task.op != MM_ECC_SIGN) return inputs.signature_format != MM_ECC_RECOVERABLE;
      return inputs.nonces == MM_ECC_NONCE_GIVEN || hash_of(inputs, task, curve) == usual_hash(task, curve);
    case MM_ECC_EDDSA:
      return is_eddsa_of_messages(task, inputs);
    case MM_ECC_BIP340:
    case MM_ECC_SM2DSA:
      return true;
    default:
      return false;
  }
}

/// Bytes of an item's result in a row. Signatures in DER leave a device as r and s, and shared secrets before
/// they are hashed: the host makes the results of these.
std::size_t row_result_bytes(Task task, const Curve& curve, const Inputs& inputs) {
  if (task.op == MM_ECC_SUM) return 0;
  if (task.op == MM_ECC_EXCHANGE) return curve.coordinate_bytes();
  if (task.op == MM_ECC_SIGN && inputs.signature_format == MM_ECC_DER) return 2 * curve.scalar_bytes();
  return result_bytes(task, curve, inputs);
}

/// Whether the public keys that signatures of the scheme contain are known.
bool has_prepared_keys(Task task, const Inputs& inputs) {
  const bool has_digests = task.scheme == MM_ECC_SM2DSA && inputs.prehashed;
  return inputs.prepared != nullptr && task.op == MM_ECC_SIGN && task.scheme != MM_ECC_ECDSA && !has_digests;
}

/// The options of a task as those of a call on rows. Nothing if rows do not support them.
std::optional<RowCall> row_call(Task task, const Curve& curve, const Inputs& inputs) {
  const std::optional<RowOperation> operation = row_operation(task.op);
  if (!operation || !supports_options(task, curve, inputs)) return std::nullopt;
  RowCall call;
  call.operation = *operation;
  call.result_size = row_result_bytes(task, curve, inputs);
  call.derives_nonces = inputs.nonces != MM_ECC_NONCE_GIVEN;
  call.recoverable = inputs.signature_format == MM_ECC_RECOVERABLE;
  call.low_s = wants_low_s(curve, inputs.low_s);
  call.point_format = point_format_of(inputs, task);
  call.check =
      inputs.check && (is_eddsa_of_messages(task, inputs) || inputs.nonces == MM_ECC_NONCE_DETERMINISTIC);
  call.scheme = is_signature(task.op) ? task.scheme : MM_ECC_DEFAULT;
  call.prehashed = inputs.prehashed;
  call.prepared = has_prepared_keys(task, inputs);
  call.cofactored = *operation == RowOperation::verify && inputs.policy == MM_ECC_ZIP215;
  return call;
}

/// Whether a task hashes messages for ECDSA.
bool hashes_messages(Task task, const Inputs& inputs) {
  const bool has_digests = is_signature(task.op) || task.op == MM_ECC_RECOVER;
  return has_digests && task.scheme == MM_ECC_ECDSA && !inputs.prehashed;
}

/// Whether the device may hash the messages of a task: it has the hash, and the messages are short, or a list
/// of which any part may be.
bool device_hashes(Task task, const Curve& curve, const Inputs& inputs, const DeviceSchemes& device) {
  if (!hashes_messages(task, inputs) || hash_of(inputs, task, curve) != device.message_hash()) return false;
  const std::optional<ByteRows> rows = inputs.message->rows();
  return !rows || rows->size <= RowCall::kMostMessage;
}

class RowScheme final : public Scheme {
 public:
  RowScheme(const SchemeArguments& arguments, const RowCall& call, std::vector<std::uint8_t> prefix,
            std::unique_ptr<Scheme> rest)
      : task_(arguments.task),
        engine_(arguments.engine),
        inputs_(arguments.inputs),
        outputs_(arguments.outputs),
        call_(call),
        prefix_(std::move(prefix)),
        rest_(std::move(rest)) {}

  [[nodiscard]] double item_ns() const override {
    const double points = engine_.item_ns(main_operation(task_, curve()));
    // Signatures of EdDSA and BIP 340 contain the public key.
    const bool makes_keys = task_.op == MM_ECC_SIGN && task_.scheme != MM_ECC_ECDSA && !call_.prepared;
    return points * (call_.check && task_.op == MM_ECC_SIGN ? 2 : 1) * (makes_keys ? 2 : 1) + kCopyNs +
           (hashes() || hashes_secrets() ? kDigestNs : 0) + (is_hedged() ? kRandomNs : 0) +
           (is_der() || recovers() ? kConversionNs : 0);
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    if (has_one_encoding()) return compute_alike(items, stop);
    std::array<std::vector<std::size_t>, 4> alike;
    for (const std::size_t item : items) {
      const std::size_t first = is_compressed(inputs_.point, item) ? 1 : 0;
      alike[first + (is_compressed(inputs_.second, item) ? 2 : 0)].push_back(item);
    }
    for (const std::vector<std::size_t>& some : alike) compute_alike(some, stop);
  }
  [[nodiscard]] mm_status finish() const override { return rest_->finish(); }

 private:
  static constexpr std::size_t kExtraBytes = NonceGenerator::kMaxExtra;
  static constexpr std::array<std::uint8_t, kExtraBytes> kNoExtra{};

  const Task task_;
  const PointEngine& engine_;
  const Inputs& inputs_;
  const Outputs& outputs_;
  const RowCall call_;
  const std::vector<std::uint8_t> prefix_;  ///< RowCall::prefix
  const std::unique_ptr<Scheme> rest_;

  [[nodiscard]] const Curve& curve() const { return engine_.curve(); }

  /// Whether all points are of one encoding. Those of Weierstrass curves may be compressed or not, item by
  /// item.
  [[nodiscard]] bool has_one_encoding() const {
    const auto are_alike = [](const std::optional<ItemsIn>& points) { return !points || points->rows(); };
    return (are_alike(inputs_.point) && are_alike(inputs_.second)) || is_schnorr() ||
           curve().form != MM_ECC_WEIERSTRASS;
  }
  [[nodiscard]] bool is_compressed(const std::optional<ItemsIn>& points, std::size_t item) const {
    return points && (*points)[item].size() == point_bytes(curve(), MM_ECC_COMPRESSED);
  }
  /// Computes the items whose points are encoded like that of the first item. All others, and items with
  /// wrong operands, are left to the host.
  void compute_alike(std::span<const std::size_t> items, const StopToken& stop) const {
    if (items.empty()) return;
    RowOperands operands(items);
    RowCall call = call_;
    if (!prefix_.empty()) call.prefix = {prefix_.data(), 0, prefix_.size()};
    if (!take_operands(call, operands)) return rest_->compute(items, stop);
    std::vector<std::uint8_t> done(operands.fits().begin(), operands.fits().end());
    call.done = done.data();
    if (task_.op == MM_ECC_SUM) {
      run_sum(call, items.size(), stop);
    } else if (operands.in_a_row() && !hashes_secrets() && !(is_der() && call.result_size != 0)) {
      run_in_place(call, items, stop);
    } else {
      run_apart(call, operands, stop);
    }
    settle(items, done, stop);
  }

  [[nodiscard]] bool recovers() const { return task_.op == MM_ECC_RECOVER; }
  /// Whether all digests of messages are computed here.
  [[nodiscard]] bool hashes() const { return hashes_messages(task_, inputs_) && !call_.hashes; }
  /// Whether digests of shared secrets are computed here.
  [[nodiscard]] bool hashes_secrets() const {
    return task_.op == MM_ECC_EXCHANGE && inputs_.hash != MM_HASH_NONE;
  }

  [[nodiscard]] bool is_schnorr() const { return call_.scheme == MM_ECC_BIP340; }
  [[nodiscard]] bool is_der() const {
    return is_signature(task_.op) && inputs_.signature_format == MM_ECC_DER;
  }
  /// Whether nonces are derived from random bytes as well.
  [[nodiscard]] bool is_hedged() const {
    return task_.op == MM_ECC_SIGN && task_.scheme != MM_ECC_EDDSA && inputs_.nonces == MM_ECC_NONCE_HEDGED;
  }

  /// @return false if no item has such operands
  [[nodiscard]] bool take_operands(RowCall& call, RowOperands& operands) const {
    bool taken = true;
    if (call.prepared) {
      take_prepared_keys(call, operands);
    } else if (inputs_.secret) {
      taken = operands.take(call.secret, *inputs_.secret, secret_bytes(curve()));
    }
    if (taken && inputs_.nonce) {
      // What is given to BIP 340 is the auxiliary randomness.
      taken = operands.take(is_schnorr() ? call.extra : call.nonce, *inputs_.nonce, curve().scalar_bytes());
    }
    if (taken && inputs_.point) taken = take_points(call.point, *inputs_.point, operands);
    if (taken && inputs_.second) taken = take_points(call.second, *inputs_.second, operands);
    if (taken && inputs_.signature) taken = take_signatures(call, operands);
    if (taken && inputs_.message) taken = take_messages(call, operands);
    if (taken && is_hedged()) {
      crypto::private_random_bytes(
          std::span(operands.room(call.extra, kExtraBytes), kExtraBytes * operands.count()));
    }
    if (is_schnorr() && call.extra.data == nullptr) call.extra = {kNoExtra.data(), 0, kExtraBytes};
    return taken;
  }
  void take_prepared_keys(RowCall& call, RowOperands& operands) const {
    const std::size_t size = PreparedKeys::row_bytes(curve());
    ByteRows rows = inputs_.prepared->rows();
    if (inputs_.secret->is_shared()) {
      call.secret = {rows.data + inputs_.key_of(0) * rows.stride, 0, size};
    } else if (operands.in_a_row()) {
      rows.indices = inputs_.prepared_key.data();
      rows.table_size = inputs_.prepared->size();
      rows.size = size;
      call.secret = operands.from_first(rows);
    } else {
      std::uint8_t* to = operands.room(call.secret, size);
      for (const std::size_t item : operands.items()) {
        to = std::copy_n(rows.data + inputs_.key_of(item) * rows.stride, size, to);
      }
    }
  }
  [[nodiscard]] bool take_signatures(RowCall& call, RowOperands& operands) const {
    if (recovers()) return take_recoverable(call, operands);
    if (!is_der()) return operands.take(call.signature, *inputs_.signature, signature_bytes_of_rows());
    Rows numbers(2, curve().scalar_limbs());
    const std::size_t size = curve().scalar_bytes();
    const auto read = [&](std::span<std::uint8_t> row, ByteSpan der) {
      if (!read_der(der, numbers[0], numbers[1])) return false;
      // What is longer than n is no signature.
      const auto fits = [&](std::span<const Limb> x) { return limbs::bit_length_var(x) <= 8 * size; };
      if (!fits(numbers[0]) || !fits(numbers[1])) return false;
      bytes_from_limbs(row.first(size), numbers[0]);
      bytes_from_limbs(row.last(size), numbers[1]);
      return true;
    };
    return operands.take_converted(call.signature, *inputs_.signature, 2 * size, read);
  }
  /// r and s, and the compressed point of the nonce, which follows from r and the recovery id.
  [[nodiscard]] bool take_recoverable(RowCall& call, RowOperands& operands) const {
    const std::size_t size = curve().scalar_bytes(), point = point_bytes(curve(), MM_ECC_COMPRESSED);
    Rows numbers(2, curve().scalar_limbs()), x(1, curve().limbs());
    const auto read = [&](std::span<std::uint8_t> row, ByteSpan signature) {
      if (signature.size() != 2 * size + 1) return false;
      const std::span<std::uint8_t> raw = row.last(2 * size);
      std::copy_n(signature.begin(), raw.size(), raw.begin());
      const std::uint8_t id = read_once(signature[2 * size]);
      limbs_from_bytes(numbers[0], raw.first(size));
      limbs_from_bytes(numbers[1], raw.last(size));
      const bool fits = id <= kMostRecoveryId && nonce_coordinate(x[0], numbers[0], id, curve()) &&
                        !(call.low_s && is_high(numbers[1], curve().n) != 0);
      if (!fits) {
        std::ranges::fill(row, std::uint8_t{0});
        return false;
      }
      row[0] = static_cast<std::uint8_t>(2 + (id & 1));
      bytes_from_limbs(row.subspan(1, point - 1), x[0]);
      return true;
    };
    ByteRows rows;
    const bool taken = operands.take_converted(rows, *inputs_.signature, point + 2 * size, read);
    call.point = {rows.data, rows.stride, point};
    call.signature = {rows.data + point, rows.stride, 2 * size};
    return taken;
  }
  [[nodiscard]] std::size_t signature_bytes_of_rows() const {
    return task_.scheme == MM_ECC_EDDSA ? signature_bytes(curve()) : 2 * curve().scalar_bytes();
  }
  /// In the encoding of the first one.
  [[nodiscard]] bool take_points(ByteRows& to, const ItemsIn& points, RowOperands& operands) const {
    if (is_schnorr()) return operands.take(to, points, point_bytes(curve(), MM_ECC_X_ONLY));
    const std::size_t compressed = point_bytes(curve(), MM_ECC_COMPRESSED);
    const bool are_compressed = points[operands.items().front()].size() == compressed;
    return operands.take(to, points, are_compressed ? compressed : point_bytes(curve()));
  }
  /// Messages that the device hashes, or the leftmost bytes of digests.
  [[nodiscard]] bool take_messages(RowCall& call, RowOperands& operands) const {
    const ItemsIn& messages = *inputs_.message;
    if (task_.scheme == MM_ECC_SM2DSA && inputs_.prehashed) {
      return operands.take(call.message, messages, sizeof(Sm2Digest));
    }
    if (task_.scheme != MM_ECC_ECDSA) {
      return operands.take_any(call.message, call.message_sizes, messages, RowCall::kMostMessage);
    }
    if (inputs_.prehashed) return take_digests(call, operands);
    const auto is_short = [&](std::size_t item) { return messages[item].size() <= RowCall::kMostMessage; };
    call.hashes = call_.hashes && (messages.rows() || std::ranges::all_of(operands.items(), is_short));
    if (call.hashes) {
      return operands.take_any(call.message, call.message_sizes, messages, RowCall::kMostMessage);
    }
    const std::size_t size = crypto::find_hash(hash_of(inputs_, task_, curve()))->size;
    const std::size_t used = std::min(size, curve().scalar_bytes());
    hash(operands.room(call.message, used), used, operands.items());
    return true;
  }
  /// The leftmost bytes of given digests: as many bytes as the longest digest has, and at most as a scalar
  /// has. Shorter digests are padded with zeros in front, which keeps their value. If such a row has more
  /// bits than n, the kernel drops its lowest bits, and shorter digests do not fit.
  [[nodiscard]] bool take_digests(RowCall& call, RowOperands& operands) const {
    const ItemsIn& digests = *inputs_.message;
    const std::optional<ByteRows> rows = digests.rows();
    std::size_t used = rows ? rows->size : 0;
    if (!rows) {
      for (const std::size_t item : operands.items()) used = std::max(used, digests[item].size());
    }
    used = std::min(used, curve().scalar_bytes());
    if (used == 0) return false;
    if (rows) return operands.take(call.message, digests, rows->size, used);
    const bool pads = 8 * used <= curve().order_bits;
    return operands.take_converted(call.message, digests, used, [&](auto row, ByteSpan digest) {
      const std::size_t size = std::min(digest.size(), used);
      if (size < used && !pads) return false;
      std::copy_n(digest.begin(), size, row.last(size).begin());
      return true;
    });
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
  void run_sum(RowCall& call, std::size_t count, const StopToken& stop) const {
    Points part(1, curve().limbs());
    call.sum = part.results(curve());
    run(call, count, stop);
    if (!stop.was_requested()) rest_->add_part(part);
  }
  void run_in_place(RowCall& call, std::span<const std::size_t> items, const StopToken& stop) const {
    const std::size_t first = items.front();
    if (outputs_.data != nullptr) call.result = outputs_.data + first * outputs_.stride;
    call.result_stride = outputs_.stride;
    if (is_verification(task_.op)) call.ok = outputs_.ok + first;
    run(call, items.size(), stop);
    for (std::size_t row = 0; row < items.size() && outputs_.sizes != nullptr; ++row) {
      if (call.done[row] != 0) outputs_.sizes[first + row] = call.result_size;
    }
  }
  /// Computes into separate memory, from which the results are copied to their items afterwards.
  void run_apart(RowCall& call, RowOperands& operands, const StopToken& stop) const {
    const std::span<const std::size_t> items = operands.items();
    ByteRows results, verdicts;
    call.result = outputs_.data == nullptr ? nullptr : operands.room(results, call.result_size);
    call.result_stride = call.result_size;
    call.ok = is_verification(task_.op) ? operands.room(verdicts, 1) : nullptr;
    run(call, items.size(), stop);
    Rows numbers(2, curve().scalar_limbs());
    std::optional<crypto::Hasher> hasher;
    if (hashes_secrets()) hasher.emplace(inputs_.hash);
    for (std::size_t row = 0; row < items.size(); ++row) {
      if (call.done[row] == 0) continue;
      if (call.ok != nullptr) outputs_.ok[items[row]] = call.ok[row];
      if (call.result == nullptr) continue;
      const std::span<const std::uint8_t> result(call.result + row * call.result_size, call.result_size);
      if (is_der()) {
        write_signature(numbers, items[row], result);
      } else if (hasher) {
        hasher->digest(outputs_.result(items[row], hasher->size()), {result});
      } else {
        std::ranges::copy(result, outputs_.result(items[row], result.size()).begin());
      }
    }
  }
  /// DER of r and s. numbers: room for them.
  void write_signature(Rows& numbers, std::size_t item, std::span<const std::uint8_t> raw) const {
    limbs_from_bytes(numbers[0], raw.first(curve().scalar_bytes()));
    limbs_from_bytes(numbers[1], raw.last(curve().scalar_bytes()));
    std::array<std::uint8_t, kMaxDer> der;
    const std::size_t length = write_der(der, numbers[0], numbers[1]);
    std::copy_n(der.begin(), length, outputs_.result(item, length).begin());
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
    }
    if (!left.empty() && !stop.was_requested()) rest_->compute(left, stop);
  }
};

}  // namespace

std::unique_ptr<Scheme> with_rows(const SchemeArguments& arguments, std::unique_ptr<Scheme> rest) {
  const DeviceSchemes* const device = arguments.engine.device_schemes();
  if (device == nullptr) return rest;
  const Curve& curve = arguments.engine.curve();
  std::optional<RowCall> call = row_call(arguments.task, curve, arguments.inputs);
  if (!call || !device->offers(*call)) return rest;
  call->hashes = device_hashes(arguments.task, curve, arguments.inputs, *device);
  std::vector<std::uint8_t> prefix;
  if (call->scheme == MM_ECC_SM2DSA && !call->prehashed) {
    const std::optional<ItemsIn>& ids = arguments.inputs.context;
    prefix = Sm2Identity(curve).before_key(ids ? (*ids)[0] : ByteSpan());
    if (prefix.empty() || prefix.size() > RowCall::kMostPrefix) return rest;
  }
  return std::make_unique<RowScheme>(arguments, *call, std::move(prefix), std::move(rest));
}

}  // namespace manymod::ecc

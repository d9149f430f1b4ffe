// SPDX-License-Identifier: Apache-2.0
// Calls from byte strings to byte strings on the items of a chunk: bytes are copied as they are, and the GPU
// converts and checks them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ecc/device/power_sums.hpp"
#include "ecc/device/queue.hpp"
#include "ecc/device/row_jobs.hpp"
#include "ecc/device_schemes.hpp"

namespace manymod::ecc::device {

/// Strings of whole words, as those.
inline Rows words_of(const Strings& strings) {
  return {reinterpret_cast<const std::uint32_t*>(strings.data),
          static_cast<std::uint32_t>(strings.stride / sizeof(std::uint32_t))};
}

class RowQueue {
 public:
  [[nodiscard]] static bool offers(const CurveKernels& kernels, const Curve& curve, const RowCall& call);
  /// What an item of a call takes.
  [[nodiscard]] static ItemBytes bytes(const Curve& curve, const RowCall& call);

  /// The operands of a chunk on the device. Those that the call does not have are null.
  struct Operands {
    Strings secret, point, second, message, signature, nonce, extra, prefix;
    Rows message_sizes;  ///< as HashJob has them
    std::uint8_t* good = nullptr;
  };
  /// Enqueues their copies.
  static Operands upload(const RowCall& call, Chunk& chunk);

  RowQueue(const DeviceCurve& on_device, const Curve& curve, Chunk& chunk, const Operands& operands)
      : queue_(on_device, chunk, curve.limbs()),
        curve_(curve),
        chunk_(chunk),
        operands_(operands),
        good_(operands.good) {}

  /// Enqueues the work for the chunk's items of a call that is offered.
  void queue(const RowCall& call);
  /// The same for sums (RowOperation::sum), by buckets.
  void add_up(const RowCall& call, const BucketShape& shape, PowerSums& to);
  /// Enqueues PointEngine::lift. On input: decodes(kernels, curve). Clears `good` of items without a point.
  /// The lowest bit of odd[i] is that of the wanted coordinate; on Edwards curves, where decoding gives the
  /// opposite point, its complement.
  void lift(const Rows& given, const Rows& odd, const RowsOut& other);

 private:
  struct Coordinates {
    Rows x, y;
  };
  struct ExpandedKeys {
    Rows scalar;
    Strings prefix;
  };
  /// Signatures of Ed25519: a, k, S, and the encodings of A and R.
  struct EddsaSigning {
    Rows key, challenge, response;
    Strings public_key, commitment;
  };

  Queue queue_;
  const Curve& curve_;
  Chunk& chunk_;
  const Operands operands_;
  std::uint8_t* const good_;  ///< of each item, as jobs of rows have it

  [[nodiscard]] const DeviceCurve& on_device() const { return queue_.curve(); }
  [[nodiscard]] std::uint32_t count() const { return queue_.count(); }
  template <class Job>
  void launch(const char* kernel, const Job& job) const;

  /// Scalars in [1, n). Others are not good.
  [[nodiscard]] Rows scalars(const Strings& from) const;
  /// The leftmost bits of digests, as many as n has.
  [[nodiscard]] Rows digests() const;
  /// Numbers as they are.
  [[nodiscard]] Rows numbers(ReadJob job) const;
  /// Points of SEC 1, compressed or not.
  [[nodiscard]] Coordinates points(const Strings& from);
  /// a + b, or a - b, modulo n.
  [[nodiscard]] Rows sum(const Rows& a, const Rows& b, bool subtracts = false) const;
  [[nodiscard]] Coordinates affine(const PointJob& points) const;
  /// Strings of fields in a row, zeros for items that are not good; results of a call.
  void write(std::uint8_t* to, std::size_t size, std::span<const FieldOut> fields) const;
  void write(const RowCall& call, std::span<const FieldOut> fields) const;
  [[nodiscard]] FieldOut coordinate(const Rows& number) const;
  [[nodiscard]] FieldOut scalar(const Rows& number) const;

  void public_keys(const RowCall& call);
  void write_points(const RowCall& call, const Coordinates& key) const;
  void exchange(const RowCall& call);
  void sign(const RowCall& call);
  void check(const SignJob& signatures);
  Rows combine(const CombineJob& job) const;
  void verify(const RowCall& call);
  void recover(const RowCall& call);
  void ladder(const RowCall& call);

  /// Clears good_ where points are not those of signatures: see SameJob.
  void expect_same(const Coordinates& found, const Rows& r, const std::uint8_t* recovery) const;

  // row_queue_sums.cpp
  void add(const RowCall& call);
  /// Points, or on Edwards curves their opposites.
  [[nodiscard]] Coordinates terms(const RowCall& call, const Strings& from);

  // row_queue_sm2.cpp
  void sm2_sign(const RowCall& call);
  void sm2_check(const SignJob& signatures);
  void sm2_verify(const RowCall& call);
  /// Messages as numbers, for public keys.
  [[nodiscard]] Rows sm2_digests(const RowCall& call, const Coordinates& key) const;

  // row_queue_schnorr.cpp
  void schnorr_sign(const RowCall& call);
  void schnorr_verify(const RowCall& call);
  /// The opposites of numbers whose points have an odd y, and the other ones.
  [[nodiscard]] Rows even(const Rows& numbers, const Rows& y) const;
  /// Bytes of coordinates.
  [[nodiscard]] Strings bytes_of(const Rows& numbers) const;
  /// The hash with a tag of two strings and the messages, or its opposite.
  [[nodiscard]] Rows tagged_hash(std::string_view tag, const Strings& first, const Strings& second,
                                 bool negates = false) const;
  [[nodiscard]] Strings tag_block(std::string_view tag) const;
  /// Clears flags where points have another x, or an odd y.
  void expect_even(const Coordinates& found, const Rows& x, std::uint8_t* flags) const;

  // row_queue_eddsa.cpp
  void queue_eddsa(const RowCall& call);
  void eddsa_public_keys(const RowCall& call);
  void eddsa_sign(const RowCall& call);
  void eddsa_check(const EddsaSigning& x);
  void eddsa_verify(const RowCall& call);
  void write_edwards(const RowCall& call, const Coordinates& point) const;
  /// Opposites of points.
  [[nodiscard]] Coordinates opposites(const RowCall& call, const Strings& from) const;
  /// Encodings of multiples of the generator; of affine points.
  [[nodiscard]] Strings encoded_multiples(const Rows& scalars) const;
  [[nodiscard]] Strings encoded(const PointJob& points) const;
  [[nodiscard]] ExpandedKeys expand_keys() const;
  /// The hash of two strings and the message after them, for each item.
  [[nodiscard]] Rows hash(const Strings& first, const Strings& second) const;
  void expect_equal(const Strings& a, const Strings& b, std::uint8_t* flags) const;
};

template <class Job>
void RowQueue::launch(const char* kernel, const Job& job) const {
  if (job.count == 0) return;
  on_device().device().kernel(kernel).launch(
      queue_.stream(), {(job.count + kPointBlock - 1) / kPointBlock, kPointBlock, 0}, job);
}

}  // namespace manymod::ecc::device

// SPDX-License-Identifier: Apache-2.0
// Enqueues the kernels for calls on byte strings (RowCall). The bytes of a chunk's items are copied as they
// are, and the GPU converts and checks them.
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

/// Strings whose lengths are multiples of 4 bytes, as rows of words.
inline Rows words_of(const Strings& strings) {
  return {reinterpret_cast<const std::uint32_t*>(strings.data),
          static_cast<std::uint32_t>(strings.stride / sizeof(std::uint32_t))};
}

class RowQueue {
 public:
  [[nodiscard]] static bool offers(const CurveKernels& kernels, const Curve& curve, const RowCall& call);
  /// The memory that the items of a call need.
  [[nodiscard]] static ItemBytes bytes(const Curve& curve, const RowCall& call);

  /// The operands of a chunk on the device. Those that the call does not have are null.
  struct Operands {
    Strings secret, point, second, message, signature, nonce, extra, prefix;
    /// Not null: `secret` is a table that has the item's string at this index.
    const std::uint32_t* secret_index = nullptr;
    Rows message_sizes;  ///< as HashJob has them
    std::uint8_t* good = nullptr;
  };
  /// Enqueues the copies of the operands to the device.
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
  /// The coordinates of public keys, as bytes.
  struct KeyBytes {
    Strings x, y;
  };
  /// Signatures of Ed25519: a, k, S, and the encodings of A and R.
  struct EddsaSigning {
    Rows key, challenge, response;
    Strings public_key, commitment;
  };

  Queue queue_;
  const Curve& curve_;
  Chunk& chunk_;
  Operands operands_;
  std::uint8_t* const good_;  ///< of each item, as jobs of rows have it

  [[nodiscard]] const DeviceCurve& on_device() const { return queue_.curve(); }
  [[nodiscard]] std::uint32_t count() const { return queue_.count(); }
  template <class Job>
  void launch(const char* kernel, const Job& job) const;

  /// The items' strings of a table.
  [[nodiscard]] Strings gathered(const Strings& table, const std::uint32_t* index) const;
  /// Numbers in [1, n). Items with another number are not good.
  [[nodiscard]] Rows scalars(const Strings& from) const;
  /// The leftmost bits of digests, as many as n has: of those that are given, or those of messages.
  [[nodiscard]] Rows digests(const RowCall& call) const;
  /// The leftmost bytes of the messages' digests, at most as many as a scalar has.
  [[nodiscard]] Strings hashed_messages() const;
  /// The numbers that a job reads, in new rows.
  [[nodiscard]] Rows numbers(ReadJob job) const;
  /// Points of SEC 1, compressed or not.
  [[nodiscard]] Coordinates points(const Strings& from);
  /// The same number for all items.
  [[nodiscard]] Rows constant(Limb value) const;
  /// a + b, or a - b, modulo n.
  [[nodiscard]] Rows sum(const Rows& a, const Rows& b, bool subtracts = false) const;
  [[nodiscard]] Coordinates affine(const PointJob& points) const;
  /// Writes byte strings of fields (WriteJob); the second function writes the results of a call.
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
  /// The bytes of the public keys of private ones.
  [[nodiscard]] KeyBytes sm2_own_keys(const RowCall& call, const Rows& secrets) const;
  /// The digests of messages for these public keys, as numbers.
  [[nodiscard]] Rows sm2_digests(const KeyBytes& key) const;

  // row_queue_schnorr.cpp
  void schnorr_sign(const RowCall& call);
  void schnorr_verify(const RowCall& call);
  /// The public keys d G of secrets d; their rows follow those of secrets where they are prepared.
  [[nodiscard]] Coordinates own_keys(const RowCall& call, const Rows& secrets) const;
  /// n - k for numbers k whose y is odd, else k (EvenJob).
  [[nodiscard]] Rows even(const Rows& numbers, const Rows& y) const;
  /// Bytes of coordinates.
  [[nodiscard]] Strings bytes_of(const Rows& numbers) const;
  /// The tagged hash of BIP 340 of two strings and the message, as a number modulo n; n minus it if
  /// `negates`.
  [[nodiscard]] Rows tagged_hash(std::string_view tag, const Strings& first, const Strings& second,
                                 bool negates = false) const;
  [[nodiscard]] Strings tag_block(std::string_view tag) const;
  /// One size of strings for all items of the chunk.
  [[nodiscard]] static Rows one_size(Chunk& chunk, std::uint32_t size);
  /// Clears the flags of items whose point has another x than given, or an odd y.
  void expect_even(const Coordinates& found, const Rows& x, std::uint8_t* flags) const;

  // row_queue_eddsa.cpp
  void queue_eddsa(const RowCall& call);
  void eddsa_public_keys(const RowCall& call);
  void eddsa_sign(const RowCall& call);
  void eddsa_check(const RowCall& call, const EddsaSigning& x);
  void eddsa_verify(const RowCall& call);
  void write_edwards(const RowCall& call, const Coordinates& point) const;
  /// The opposites of the points that the strings encode.
  [[nodiscard]] Coordinates opposites(const RowCall& call, const Strings& from) const;
  /// The encodings of multiples of the generator, and of the points of a job.
  [[nodiscard]] Strings encoded_multiples(const Rows& scalars) const;
  [[nodiscard]] Strings encoded(const PointJob& points) const;
  [[nodiscard]] ExpandedKeys expand_keys() const;
  /// The same of operands that are rows of PreparedKeys.
  [[nodiscard]] ExpandedKeys prepared_keys() const;
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

// SPDX-License-Identifier: Apache-2.0
// Calls from byte strings to byte strings on the items of a chunk: bytes are copied as they are, and the GPU
// converts and checks them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ecc/cuda/queue.hpp"
#include "ecc/cuda/row_jobs.hpp"
#include "ecc/device_schemes.hpp"

namespace manymod::ecc::cuda {

class RowQueue {
 public:
  [[nodiscard]] static bool offers(const CurveKernels& kernels, const RowCall& call);
  /// What an item of a call takes.
  [[nodiscard]] static ItemBytes bytes(const Curve& curve, const RowCall& call);

  RowQueue(const DeviceCurve& on_device, const Curve& curve, Chunk& chunk)
      : queue_(on_device, chunk, curve.limbs()), curve_(curve), chunk_(chunk) {}

  /// Enqueues the work for the chunk's items of a call that is offered, copies included.
  void queue(const RowCall& call);

 private:
  struct Coordinates {
    Rows x, y;
  };
  struct Messages {
    Strings strings;
    Rows sizes;  ///< as HashJob has them
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
  std::uint8_t* good_ = nullptr;  ///< of each item, as jobs of rows have it

  [[nodiscard]] const DeviceCurve& on_device() const { return queue_.curve(); }
  [[nodiscard]] std::uint32_t count() const { return queue_.count(); }
  template <class Job>
  void launch(const char* kernel, const Job& job) const;

  /// Scalars in [1, n). Others are not good.
  [[nodiscard]] Rows scalars(const Strings& from, bool is_little_endian = false) const;
  /// Numbers as they are.
  [[nodiscard]] Rows numbers(ReadJob job) const;
  /// Points of SEC 1, compressed or not.
  [[nodiscard]] Coordinates points(const Strings& from);
  [[nodiscard]] Coordinates affine(const PointJob& points) const;
  /// Strings of fields in a row, zeros for items that are not good; results of a call.
  void write(std::uint8_t* to, std::size_t size, std::span<const FieldOut> fields) const;
  void write(const RowCall& call, std::span<const FieldOut> fields) const;
  [[nodiscard]] FieldOut coordinate(const Rows& number) const;
  [[nodiscard]] FieldOut scalar(const Rows& number) const;

  void public_keys(const RowCall& call);
  void exchange(const RowCall& call);
  void sign(const RowCall& call);
  void check(const SignJob& signatures);
  Rows combine(const CombineJob& job) const;
  void verify(const RowCall& call);
  void ladder(const RowCall& call);

  // row_queue_eddsa.cpp
  void queue_eddsa(const RowCall& call);
  void eddsa_public_keys(const RowCall& call);
  void eddsa_sign(const RowCall& call);
  void eddsa_check(const EddsaSigning& x);
  void eddsa_verify(const RowCall& call);
  /// Encodings of multiples of the generator; of affine points.
  [[nodiscard]] Strings encoded_multiples(const Rows& scalars) const;
  [[nodiscard]] Strings encoded(const PointJob& points) const;
  [[nodiscard]] ExpandedKeys expand_keys(const RowCall& call) const;
  [[nodiscard]] Messages upload_messages(const RowCall& call) const;
  [[nodiscard]] Rows hash(const Strings& first, const Strings& second, const Messages& messages) const;
  void expect_equal(const Strings& a, const Strings& b, std::uint8_t* flags) const;
};

template <class Job>
void RowQueue::launch(const char* kernel, const Job& job) const {
  if (job.count == 0) return;
  on_device().device().kernel(kernel).launch(
      queue_.stream(), {(job.count + kPointBlock - 1) / kPointBlock, kPointBlock, 0}, job);
}

}  // namespace manymod::ecc::cuda

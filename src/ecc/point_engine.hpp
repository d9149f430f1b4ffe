// SPDX-License-Identifier: Apache-2.0
// Arithmetic of points of one curve on many items: what a backend implements (scalar64/, lanes/, cuda/) and
// what the schemes are written on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/limb.hpp"
#include "core/operation.hpp"
#include "core/ticker.hpp"
#include "ecc/curve.hpp"

namespace manymod::ecc {

/// Numbers that are read: that of item i is at data + i stride, in little-endian limbs. stride 0: one number
/// for all items.
struct NumberRows {
  const Limb* data = nullptr;
  std::size_t stride = 0;

  [[nodiscard]] const Limb* operator[](std::size_t item) const { return data + item * stride; }
};

/// Affine points that are read, with coordinates below p of curve.limbs() limbs. Montgomery curves have x
/// alone.
struct PointRows {
  NumberRows x, y;
  /// Where not null: nonzero for items that are the point at infinity, whose coordinates are ignored. Edwards
  /// curves have none: their neutral element is (0, 1).
  const std::uint8_t* infinity = nullptr;
};

/// Affine points that are written: curve.limbs() limbs an item, one item after the other, below p.
struct PointResults {
  Limb* x = nullptr;
  Limb* y = nullptr;  ///< may be null where only x is wanted
  /// 1 for the point at infinity, whose coordinates are 0, else 0. Null for Edwards curves.
  std::uint8_t* infinity = nullptr;
};

/// Items begin to end - 1 of the arrays of a call.
struct ItemRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// What an engine is asked for, for estimates of time.
enum class PointOperation : std::uint8_t {
  multiply_base,
  multiply,
  multiply_two,
  ladder,
  add,
  lift,
  check,
  sum,  ///< of a term of many
};

class DeviceSchemes;
class SumComparison;

/// Timing. TimingClass::secret: branches and addresses do not depend on scalars or on points. Otherwise they
/// may, and any exceptional case of a formula must still give the right result. Functions without a timing
/// class are for public data.
///
/// Each function computes the items of a range on the calling thread, and several threads may call at a time,
/// with ranges that are disjoint. It may leave early, with items not computed, once `stop` is requested.
/// Results must not overlap operands.
class PointEngine {
 public:
  explicit PointEngine(const Curve& curve) : curve_(curve) {}
  virtual ~PointEngine() = default;
  PointEngine(const PointEngine&) = delete;
  PointEngine& operator=(const PointEngine&) = delete;

  [[nodiscard]] const Curve& curve() const { return curve_; }

  /// Schemes that it computes as a whole (ecc/device_schemes.hpp); null: none.
  [[nodiscard]] virtual const DeviceSchemes* device_schemes() const { return nullptr; }

  /// Its test of u G + v P = R (ecc/sum_comparison.hpp); null: multiply_two is as fast.
  [[nodiscard]] virtual const SumComparison* comparison() const { return nullptr; }

  /// The name of its variant (ecc/variants.hpp).
  [[nodiscard]] virtual const char* variant() const = 0;
  /// The GPUs that share the items of a call; 0: it computes on the calling thread.
  [[nodiscard]] virtual unsigned gpus() const { return 0; }
  /// @throws StatusError if it computes on GPUs of which this process can use none: because they are lost, or
  /// because it was forked off the process that opened them
  virtual void check_usable() const {}
  /// The engine of the processor that computes what the GPUs have no kernels for; null where this is one.
  [[nodiscard]] virtual const PointEngine* host() const { return nullptr; }
  /// Whether secret scalars go to its GPUs; otherwise host() computes with them.
  [[nodiscard]] virtual bool takes_secrets() const { return true; }
  /// Items computed together, on one GPU; fewer cost as much.
  [[nodiscard]] virtual std::size_t granularity() const = 0;
  /// Items of the shortest chunk for an engine of GPUs, at most granularity(): kernels of several such chunks
  /// run at the same time, or take little longer than those of one chunk with all of their items.
  [[nodiscard]] virtual std::size_t least_chunk() const { return granularity(); }
  /// A rough estimate for one of many items, on one thread or on one whole GPU.
  [[nodiscard]] virtual double item_ns(PointOperation operation) const = 0;

  /// r = k G for scalars 0 <= k < n of curve.scalar_limbs() limbs. Montgomery curves: u alone, in r.x, 0 for
  /// infinity, for k < 2^field_bits.
  virtual void multiply_base(const PointResults& r, const NumberRows& k, ItemRange items, TimingClass timing,
                             const StopToken& stop) const = 0;

  /// r = k P for scalars 0 <= k < n and points of the curve, of any order, other than infinity. Not for
  /// Montgomery curves.
  virtual void multiply(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                        TimingClass timing, const StopToken& stop) const = 0;

  /// r = u G + v P for public scalars 0 <= u, v < n and points other than infinity. Not for Montgomery
  /// curves.
  virtual void multiply_two(const PointResults& r, const NumberRows& u, const NumberRows& v,
                            const PointRows& points, ItemRange items, const StopToken& stop) const = 0;

  /// Montgomery curves only: r = the u coordinate of k (u, v), 0 for infinity, for any u below p, on the
  /// curve or on its twist, and k < 2^(64 curve.limbs()) of curve.limbs() limbs of which the lowest `bits`
  /// bits are read. Constant-time.
  virtual void ladder(Limb* r, const NumberRows& k, const NumberRows& u, unsigned bits, ItemRange items,
                      const StopToken& stop) const = 0;

  /// r = P + Q for any points of the curve, also equal, opposite and infinite ones. Not for Montgomery
  /// curves. Constant-time on curves whose cofactor is not 1.
  virtual void add(const PointResults& r, const PointRows& p, const PointRows& q, ItemRange items) const = 0;

  /// The other coordinate of points: Weierstrass: y for x in `given`; Edwards: x for y. odd[i]: which of
  /// both, by its lowest bit. found[i] = 1, or 0 where the curve has no such point: then r is 0. Where the
  /// coordinate is 0, odd[i] is ignored: RFC 8032 and ZIP 215 differ about it. On input: given < p.
  virtual void lift(Limb* r, std::uint8_t* found, const NumberRows& given, const std::uint8_t* odd,
                    ItemRange items) const = 0;

  /// valid[i] = 1 for points (x, y) with x, y < p that are on the curve, else 0. Items with points.infinity
  /// set are on the curve.
  virtual void check(std::uint8_t* valid, const PointRows& points, ItemRange items) const = 0;

  /// The sum of k_i P_i over the items of the range, as the one point r; public. On input as multiply, and
  /// points may be infinity. Not for Montgomery curves.
  virtual void sum(const PointResults& r, const NumberRows& k, const PointRows& points, ItemRange items,
                   const StopToken& stop) const = 0;

  /// Whether its GPUs compute the operation on this curve at present: they have kernels for it, and one of
  /// them has none that failed. Otherwise host() does.
  [[nodiscard]] virtual bool computes(PointOperation /*operation*/) const { return false; }

 private:
  const Curve& curve_;
};

}  // namespace manymod::ecc

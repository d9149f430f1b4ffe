// SPDX-License-Identifier: Apache-2.0
// The bare arithmetic of points: public keys, multiples, sums, and encodings.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ecc/schemes/edwards_encoding.hpp"
#include "ecc/schemes/encodings.hpp"
#include "ecc/schemes/multiples.hpp"
#include "ecc/schemes/numbers.hpp"

namespace manymod::ecc {
namespace {

// Nanoseconds to read and write a point.
constexpr double kEncodingNs = 100;

/// Nanoseconds to decode a point: those of Edwards curves are always compressed.
double reading_ns(const PointEngine& engine) {
  return engine.item_ns(engine.curve().form == MM_ECC_EDWARDS ? PointOperation::lift : PointOperation::check);
}

/// Points of a block on a Weierstrass or an Edwards curve that are read from encodings.
class PointReader {
 public:
  PointReader(const PointEngine& engine, const ItemsIn& items, const Block& block, bool x_only = false) {
    const std::size_t count = block.size();
    if (engine.curve().form == MM_ECC_EDWARDS) {
      edwards_.emplace(engine, EdwardsReading::canonical, count);
      for (std::size_t row = 0; row < count; ++row) edwards_->read(row, items[block.item(row)]);
      edwards_->lift(count);
    } else {
      sec1_.emplace(engine, x_only ? Sec1Reading::x_only : Sec1Reading::points, count);
      for (std::size_t row = 0; row < count; ++row) sec1_->read(row, items[block.item(row)]);
      sec1_->decode();
    }
    for (std::size_t row = 0; row < count; ++row) {
      if (!valid(row)) block.fail(row, MM_ITEM_ECC_POINT);
    }
  }

  [[nodiscard]] PointRows rows() const { return edwards_ ? edwards_->rows() : sec1_->rows(); }
  [[nodiscard]] bool is_infinity(std::size_t row) const { return !edwards_ && sec1_->is_infinity(row); }

 private:
  std::optional<EdwardsPoints> edwards_;
  std::optional<Sec1Points> sec1_;

  [[nodiscard]] bool valid(std::size_t row) const {
    return edwards_ ? edwards_->valid(row) : sec1_->valid(row);
  }
};

/// Writes points in the encoding of a curve.
class PointWriter {
 public:
  PointWriter(const Curve& curve, mm_ecc_point_format format, const Outputs& outputs)
      : curve_(curve), format_(format), outputs_(outputs) {}

  /// The results of the items of a block without a status, which get MM_OK; but infinity has no x alone.
  void write(const PointRows& points, const Block& block) const {
    for (std::size_t row = 0; row < block.size(); ++row) {
      bool infinite = false;
      note_infinity(points, row, infinite);
      if (infinite && format_ == MM_ECC_X_ONLY) block.fail(row, MM_ITEM_ECC_POINT);
      if (block.succeed(row)) write_one(block.item(row), points.x[row], points.y[row], infinite);
    }
  }

  void write_one(std::size_t item, const Limb* x, const Limb* y, bool infinite) const {
    const std::size_t size = infinite ? 1 : point_bytes(curve_, format_);
    const std::span<std::uint8_t> bytes = outputs_.result(item, size);
    if (infinite) {
      bytes[0] = 0;
    } else if (curve_.form == MM_ECC_EDWARDS) {
      write_edwards_point(curve_, bytes, x, y);
    } else {
      write_sec1(curve_, format_, bytes, {x, curve_.limbs()}, {y, curve_.limbs()});
    }
  }

 private:
  const Curve& curve_;
  mm_ecc_point_format format_;
  const Outputs& outputs_;

  /// infinite = true for infinity, which is public. Not inlined, because the secret-independence tests
  /// suppress findings in this function by its name.
  [[gnu::noinline]] static void note_infinity(const PointRows& points, std::size_t row, bool& infinite) {
    if (points.infinity != nullptr && points.infinity[row] != 0) infinite = true;
  }
};

/// Scalars of any value, in the byte order of the curve's standard.
Rows read_scalars(const Curve& curve, const ItemsIn& items, const Block& block) {
  Rows k(block.size(), curve.scalar_limbs());
  for (std::size_t row = 0; row < block.size(); ++row) {
    const ByteSpan bytes = items[block.item(row)];
    if (bytes.size() != curve.scalar_bytes()) {
      block.fail(row, MM_ITEM_ECC_SECRET);
    } else if (curve.form == MM_ECC_EDWARDS) {
      limbs_from_little_endian(k[row], bytes);
    } else {
      limbs_from_bytes(k[row], bytes);
    }
  }
  return k;
}

/// d G for private keys, k G and k P for scalars.
class Multiplication final : public BlockScheme {
 public:
  explicit Multiplication(const SchemeArguments& arguments)
      : BlockScheme(arguments),
        multiples_(engine_),
        writer_(curve(), point_format_of(inputs_, task_), outputs_) {}

  [[nodiscard]] double item_ns() const override {
    const PointOperation operation = inputs_.point ? PointOperation::multiply : PointOperation::multiply_base;
    return engine_.item_ns(operation) + kEncodingNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    for_blocks(items, engine_, outputs_.status, stop, [&](const Block& block) { multiply(block, stop); });
  }

 private:
  const Multiples multiples_;
  const PointWriter writer_;

  void multiply(const Block& block, const StopToken& stop) const {
    Points result(block.size(), curve().limbs());
    if (task_.op == MM_ECC_PUBLIC_KEY) {
      const Scalars secret(curve(), *inputs_.secret, block, MM_ITEM_ECC_SECRET);
      engine_.multiply_base(result.results(curve()), secret.view(), block.range(), TimingClass::secret, stop);
    } else {
      Rows k = read_scalars(curve(), *inputs_.secret, block);
      if (inputs_.point) {
        multiply_points(result, k, block, stop);
      } else {
        multiples_.of_base(result, k, block.range(), stop);
      }
    }
    if (!stop.was_requested()) writer_.write(result.rows(curve()), block);
  }

  void multiply_points(Points& result, Rows& k, const Block& block, const StopToken& stop) const {
    const PointReader points(engine_, *inputs_.point, block);
    // Multiples of infinity are not computed: their rows hold the generator, and their results are replaced.
    const PointRows rows = points.rows();
    multiples_.of_points(result, k, {rows.x, rows.y}, block.range(), stop);
    for (std::size_t row = 0; row < block.size(); ++row) {
      if (points.is_infinity(row)) result.infinity[row] = 1;
    }
  }
};

/// Sums of two points, and points as they are.
class PublicPoints final : public BlockScheme {
 public:
  explicit PublicPoints(const SchemeArguments& arguments)
      : BlockScheme(arguments), writer_(curve(), inputs_.point_format, outputs_) {}

  [[nodiscard]] double item_ns() const override {
    const double points = task_.op == MM_ECC_ADD ? 2 * reading_ns(engine_) : 0;
    return BlockScheme::item_ns() + points + kEncodingNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    for_blocks(items, engine_, outputs_.status, stop, [&](const Block& block) {
      const PointReader points(engine_, *inputs_.point, block, task_.scheme == MM_ECC_BIP340);
      if (task_.op == MM_ECC_POINT) return writer_.write(points.rows(), block);
      const PointReader second(engine_, *inputs_.second, block);
      Points sum(block.size(), curve().limbs());
      engine_.add(sum.results(curve()), points.rows(), second.rows(), block.range());
      writer_.write(sum.rows(curve()), block);
    });
  }

 private:
  const PointWriter writer_;
};

/// The sum of the multiples of all items.
class Sum final : public BlockScheme {
 public:
  explicit Sum(const SchemeArguments& arguments)
      : BlockScheme(arguments),
        multiples_(engine_),
        writer_(curve(), inputs_.point_format, outputs_),
        total_(1, curve().limbs()) {
    // The neutral element: infinity, or (0, 1) on Edwards curves.
    total_.infinity[0] = 1;
    if (curve().form == MM_ECC_EDWARDS) total_.y[0][0] = 1;
  }

  [[nodiscard]] double item_ns() const override {
    return BlockScheme::item_ns() + reading_ns(engine_) + kEncodingNs;
  }

  void compute(std::span<const std::size_t> items, const StopToken& stop) const override {
    while (!items.empty() && !stop.requested_now()) {
      const std::size_t count = std::min(items.size(), kTogether);
      const Block block(items.first(count), outputs_.status);
      items = items.subspan(count);
      Rows k = read_scalars(curve(), *inputs_.secret, block);
      const PointReader points(engine_, *inputs_.point, block);
      Points part(1, curve().limbs());
      multiples_.sum(part, k, points.rows(), block.range(), stop);
      if (stop.was_requested()) return;
      add(part);
      for (std::size_t row = 0; row < count; ++row) block.succeed(row);
    }
  }

  void add_part(const Points& part) const override { add(part); }
  [[nodiscard]] mm_status finish() const override {
    const bool infinite = curve().form != MM_ECC_EDWARDS && total_.infinity[0] != 0;
    if (infinite && inputs_.point_format == MM_ECC_X_ONLY) return MM_ITEM_ECC_POINT;  // it has no x
    writer_.write_one(0, total_.x.view().data, total_.y.view().data, infinite);
    return MM_OK;
  }

 private:
  /// Items whose numbers are in memory at a time: the more, the fewer additions each.
  static constexpr std::size_t kTogether = std::size_t{1} << 16;

  const Multiples multiples_;
  const PointWriter writer_;
  mutable std::mutex mutex_;
  mutable Points total_;

  void add(const Points& part) const {
    const std::lock_guard lock(mutex_);
    accumulate(engine_, total_, part.rows(curve()), {0, 1});
  }
};

}  // namespace

std::unique_ptr<Scheme> make_multiplication(const SchemeArguments& arguments) {
  return std::make_unique<Multiplication>(arguments);
}

std::unique_ptr<Scheme> make_points(const SchemeArguments& arguments) {
  if (arguments.task.op == MM_ECC_SUM) return std::make_unique<Sum>(arguments);
  return std::make_unique<PublicPoints>(arguments);
}

}  // namespace manymod::ecc

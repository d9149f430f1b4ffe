// SPDX-License-Identifier: Apache-2.0
// The working memory of schemes: items that go through each stage together, and their numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ecc/point_engine.hpp"
#include "ecc/schemes/scheme.hpp"
#include "ecc/schemes/schemes.hpp"
#include "repr/limbs.hpp"
#include "repr/wipe.hpp"

namespace manymod::ecc {

/// Numbers of equal length, one after the other; zeroed on destruction.
class Rows {
 public:
  Rows(std::size_t count, std::size_t limbs) : limbs_(limbs), buffer_(count * limbs) {}

  [[nodiscard]] std::size_t limbs() const { return limbs_; }
  [[nodiscard]] Limb* data() { return buffer_.data(); }
  [[nodiscard]] std::span<Limb> operator[](std::size_t row) {
    return {buffer_.data() + row * limbs_, limbs_};
  }
  [[nodiscard]] std::span<const Limb> operator[](std::size_t row) const {
    return {buffer_.data() + row * limbs_, limbs_};
  }
  [[nodiscard]] NumberRows view() const { return {buffer_.data(), limbs_}; }

 private:
  std::size_t limbs_;
  limbs::Buffer buffer_;
};

/// Affine points of a block; zeroed on destruction.
struct Points {
  Points(std::size_t count, std::size_t limbs) : x(count, limbs), y(count, limbs), infinity(count, 0) {}
  Points(Points&&) = default;
  Points& operator=(Points&&) = default;
  ~Points() { wipe_bytes(infinity.data(), infinity.size()); }

  Rows x, y;
  std::vector<std::uint8_t> infinity;

  [[nodiscard]] PointResults results() { return {x.data(), y.data(), infinity.data()}; }
  /// The same for a curve; Edwards curves have no infinity.
  [[nodiscard]] PointResults results(const Curve& curve) {
    return {x.data(), y.data(), curve.form == MM_ECC_EDWARDS ? nullptr : infinity.data()};
  }
  [[nodiscard]] PointRows rows(const Curve& curve) const {
    return {x.view(), y.view(), curve.form == MM_ECC_EDWARDS ? nullptr : infinity.data()};
  }
};

/// Items that are computed together. Its rows are numbered from 0; row i belongs to item items[i] of the
/// call.
class Block {
 public:
  Block(std::span<const std::size_t> items, std::uint8_t* status) : items_(items), status_(status) {}

  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] std::size_t item(std::size_t row) const { return items_[row]; }
  [[nodiscard]] std::span<const std::size_t> items() const { return items_; }
  [[nodiscard]] ItemRange range() const { return {0, items_.size()}; }

  [[nodiscard]] bool failed(std::size_t row) const { return status(row) != MM_ITEM_NOT_COMPUTED; }
  /// Give the item a status other than MM_OK, unless it has one already. Its row still holds numbers that
  /// every stage accepts.
  void fail(std::size_t row, mm_status status) const {
    if (!failed(row)) status_[items_[row]] = static_cast<std::uint8_t>(status);
  }
  /// The same unless the mask `valid` is set. Statuses are public: the secret-independence tests suppress
  /// findings in this function by its name.
  [[gnu::noinline]] void fail_unless(Limb valid, std::size_t row, mm_status status) const {
    if (valid == 0) fail(row, status);
  }
  /// MM_OK for an item without a status. @return whether it has this one
  bool succeed(std::size_t row) const {
    if (failed(row)) return false;
    status_[items_[row]] = MM_OK;
    return true;
  }

 private:
  std::span<const std::size_t> items_;
  std::uint8_t* status_;  ///< of all items of the call

  [[nodiscard]] int status(std::size_t row) const { return status_[items_[row]]; }
};

/// Items of a block, unless an engine computes more together: enough to share inversions, and few enough for
/// the second-level cache.
inline constexpr std::size_t kBlockItems = 512;

/// Call visit(block) for the items, in blocks of about equal size, of `usual` items or as many as the engine
/// computes together, until a stop is requested.
template <class Visit>
void for_blocks(std::span<const std::size_t> items, const PointEngine& engine, std::uint8_t* status,
                const StopToken& stop, const Visit& visit, std::size_t usual = kBlockItems) {
  const std::size_t lanes = engine.granularity();
  const std::size_t most = std::max(lanes, usual / lanes * lanes);
  while (!items.empty() && !stop.requested_now()) {
    const std::size_t blocks = (items.size() + most - 1) / most;
    const std::size_t even = (items.size() / blocks + lanes - 1) / lanes * lanes;
    const std::span<const std::size_t> taken = items.first(std::min(items.size(), even));
    visit(Block(taken, status));
    items = items.subspan(taken.size());
  }
}

/// A scheme that computes block after block. Results of a block must not be used once a stop was requested.
class BlockScheme : public Scheme {
 public:
  explicit BlockScheme(const SchemeArguments& arguments)
      : task_(arguments.task),
        engine_(arguments.engine),
        inputs_(arguments.inputs),
        outputs_(arguments.outputs) {}

  [[nodiscard]] double item_ns() const override { return engine_.item_ns(main_operation(task_, curve())); }

 protected:
  [[nodiscard]] const Curve& curve() const { return engine_.curve(); }

  const Task task_;
  const PointEngine& engine_;
  const Inputs& inputs_;
  const Outputs& outputs_;
};

}  // namespace manymod::ecc

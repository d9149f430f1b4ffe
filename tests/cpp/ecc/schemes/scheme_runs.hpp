// SPDX-License-Identifier: Apache-2.0
// Schemes without the call layer: byte strings in, byte strings, verdicts and statuses out, on every engine
// that this machine has for a curve.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/cpu_features.hpp"
#include "ecc/lanes/edwards_engine.hpp"
#include "ecc/scalar64/engine.hpp"
#include "ecc/schemes/scheme.hpp"

namespace manymod::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes from_hex(std::string_view hex) {
  Bytes r;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    r.push_back(static_cast<std::uint8_t>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return r;
}

/// scalar64, and the lanes that the machine has, for Ed25519, X25519, Ed448 or X448.
inline std::vector<std::unique_ptr<const ecc::PointEngine>> engines_of(ecc::CurveId id) {
  const ecc::Curve& curve = ecc::named_curve(id);
  std::vector<std::unique_ptr<const ecc::PointEngine>> engines;
  engines.push_back(curve.form == MM_ECC_EDWARDS ? ecc::scalar64::make_edwards(curve)
                                                 : ecc::scalar64::make_montgomery(curve));
  if (!ecc::lanes::offers_edwards_lanes(curve)) return engines;
  for (const auto& backend : ecc::lanes::edwards_lane_backends()) {
    if ((cpu_info().features & backend.needs) == backend.needs)
      engines.push_back(ecc::lanes::make_edwards_lanes(curve, backend));
  }
  return engines;
}

/// Items of one call; each list has one entry an item, or one for all, or is empty.
struct SchemeItems {
  std::vector<Bytes> secret, point, message, signature, context;
  std::vector<Bytes> nonce = {}, second = {};  ///< many lists of items end before them
};

/// How the items of a list are given. pointers: each at an address of its own; shared: equal ones at one
/// address; rows: as arrays, with gaps, if all of them have the length of the first.
enum class Places : std::uint8_t { pointers, shared, rows };

class SchemeRun {
 public:
  SchemeRun(SchemeItems items, std::size_t count, Places places = Places::pointers)
      : items_(std::move(items)), count_(count), kind_(places) {
    set(inputs.secret, items_.secret);
    set(inputs.point, items_.point);
    set(inputs.message, items_.message);
    set(inputs.signature, items_.signature);
    set(inputs.context, items_.context);
    set(inputs.nonce, items_.nonce);
    set(inputs.second, items_.second);
  }

  ecc::Inputs inputs;
  std::vector<std::size_t> chosen;  ///< items that are computed; empty: all
  std::vector<std::uint8_t> ok, status;
  mm_status finished = MM_OK;  ///< of the call as a whole
  std::vector<Bytes> output;   ///< of items that have one

  /// make(engine, inputs, outputs) gives the scheme.
  template <class Make>
  SchemeRun& run(const Make& make) {
    constexpr std::size_t kStride = 176;  // a signature in DER on a curve of 640 bits has up to 169 bytes
    Bytes data(count_ * kStride);
    std::vector<std::size_t> sizes(count_), indices(chosen);
    ok.assign(count_, 2);
    status.assign(count_, static_cast<std::uint8_t>(MM_ITEM_NOT_COMPUTED));
    const ecc::Outputs outputs{data.data(), kStride, sizes.data(), ok.data(), status.data()};
    const std::unique_ptr<ecc::Scheme> scheme = make(inputs, outputs);
    for (std::size_t i = 0; i < count_ && chosen.empty(); ++i) indices.push_back(i);
    scheme->compute(indices, {});
    finished = scheme->finish();
    EXPECT_GT(scheme->item_ns(), 0);
    // As calls do it for items with another status.
    for (std::size_t i = 0; i < count_; ++i) ok[i] = status[i] == MM_OK ? ok[i] : 0;
    output.clear();
    for (std::size_t i = 0; i < count_; ++i) {
      const auto begin = data.begin() + static_cast<std::ptrdiff_t>(i * kStride);
      output.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(sizes[i]));
    }
    return *this;
  }

 private:
  SchemeItems items_;
  std::size_t count_;
  Places kind_;
  std::vector<std::vector<mm_bytes>> places_;
  std::vector<Bytes> arrays_;

  void set(std::optional<ItemsIn>& to, const std::vector<Bytes>& from) {
    if (from.empty()) return;
    if (kind_ == Places::rows) return set_rows(to, from);
    auto& places = places_.emplace_back();
    for (const Bytes& bytes : from) {
      const Bytes& place = kind_ == Places::shared ? *std::ranges::find(from, bytes) : bytes;
      places.push_back({place.data(), place.size()});
    }
    mm_bytes_view view{};
    view.count = from.size();
    view.items = places.data();
    to.emplace(view, count_, "items");
  }
  void set_rows(std::optional<ItemsIn>& to, const std::vector<Bytes>& from) {
    constexpr std::size_t kGap = 3;
    mm_bytes_view view{};
    view.count = from.size();
    view.size = from.front().size();
    view.stride = view.size + kGap;
    Bytes& array = arrays_.emplace_back(view.count * view.stride);
    for (std::size_t i = 0; i < from.size(); ++i) {
      EXPECT_EQ(from[i].size(), view.size);
      std::ranges::copy(from[i], array.begin() + static_cast<std::ptrdiff_t>(i * view.stride));
    }
    view.data = array.data();
    to.emplace(view, count_, "items");
  }
};

}  // namespace manymod::test

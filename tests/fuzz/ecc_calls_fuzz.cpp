// SPDX-License-Identifier: Apache-2.0
// Calls on curves: operations, schemes, views of byte strings and their mistakes, on named curves and on a
// tiny one. Signatures that are made are verified; what one changed bit makes of
// them is not valid.
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/choices.hpp"
#include "manymod/ecc.h"

namespace manymod::fuzz {
namespace {

constexpr std::uint8_t kUntouched = 0xA5;
constexpr std::size_t kStride = 200;
constexpr std::size_t kMostItems = 4;
constexpr const char* kNames[] = {"P-256", "secp256k1", "SM2", "P-521", "Ed25519", "X25519"};
constexpr std::size_t kCurves = std::size(kNames) + 1;  // and a tiny one

template <class T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* object) const { destroy(object); }
};

struct Plan {
  std::array<const mm_ecc_curve*, kCurves> curves{};
  std::array<mm_ecc_curve_info, kCurves> info{};
  std::unique_ptr<mm_ecc_plan, Destroy<mm_ecc_plan, mm_ecc_plan_destroy>> plan;

  Plan() {
    for (std::size_t i = 0; i + 1 < kCurves; ++i) curves[i] = mm_ecc_curve_find(kNames[i]);
    curves.back() = tiny();
    for (std::size_t i = 0; i < kCurves; ++i) {
      info[i].struct_size = sizeof info[i];
      require(mm_ecc_curve_get_info(curves[i], &info[i]) == MM_OK, mm_last_error());
    }
    mm_ecc_plan_options options{};
    options.struct_size = sizeof options;
    options.device = "cpu";
    options.threads = 1;
    mm_ecc_plan* created = nullptr;
    require(mm_ecc_plan_create(curves.data(), kCurves, &options, &created) == MM_OK, mm_last_error());
    plan.reset(created);
  }

  // y^2 = x^3 + 2 x + 11 modulo 103, of 97 points; it lives as long as the program.
  static const mm_ecc_curve* tiny() {
    static const std::uint8_t numbers[] = {103, 2, 11, 1, 23, 97};
    mm_ecc_curve_numbers given{};
    given.struct_size = sizeof given;
    given.p = {&numbers[0], 1};
    given.a = {&numbers[1], 1};
    given.b = {&numbers[2], 1};
    given.x = {&numbers[3], 1};
    given.y = {&numbers[4], 1};
    given.n = {&numbers[5], 1};
    static mm_ecc_curve* curve = nullptr;
    require(mm_ecc_curve_create(&given, &curve) == MM_OK, mm_last_error());
    return curve;
  }
};

const Plan& the_plan() {
  static const Plan plan;
  return plan;
}

// Byte strings in one of the three forms of mm_bytes_view. The arrays are exactly as long as needed.
class Items {
 public:
  Items(Choices& choices, std::vector<Bytes> items) : items_(std::move(items)) {
    view_.count = items_.size();
    if (choices.one_in(2)) {
      for (const Bytes& item : items_) pointers_.push_back({item.data(), item.size()});
      view_.items = pointers_.data();
      return;
    }
    offsets_.push_back(0);
    for (const Bytes& item : items_) {
      data_.insert(data_.end(), item.begin(), item.end());
      offsets_.push_back(static_cast<std::int64_t>(data_.size()));
    }
    view_.data = data_.data();
    view_.offsets = offsets_.data();
  }
  Items(const Items&) = delete;
  Items& operator=(const Items&) = delete;

  const Bytes& operator[](std::size_t i) const { return items_[items_.size() == 1 ? 0 : i]; }
  const mm_bytes_view& view() const { return view_; }

 private:
  std::vector<Bytes> items_;
  std::vector<mm_bytes> pointers_;
  std::vector<std::int64_t> offsets_;
  Bytes data_;
  mm_bytes_view view_{};
};

// A string of about the right length for a purpose, or of any.
Bytes string_of(Choices& choices, std::size_t usual) {
  if (choices.one_in(8)) return choices.bytes(160);
  Bytes bytes = choices.bytes(usual);
  LimbSource source(choices.word());
  while (bytes.size() < usual) bytes.push_back(static_cast<std::uint8_t>(source.limb() >> 8));
  return bytes;
}

struct Call {
  std::size_t count;
  std::vector<std::uint32_t> curves;
  mm_ecc_call call{};
  std::vector<std::unique_ptr<Items>> items;
  Bytes output, ok, statuses;
  std::vector<std::size_t> sizes;

  explicit Call(Choices& choices) : count(1 + choices.below(kMostItems)) {
    for (std::size_t i = 0; i < count; ++i) {
      curves.push_back(static_cast<std::uint32_t>(choices.below(kCurves + (choices.one_in(16) ? 1 : 0))));
    }
    output.assign(count * kStride, kUntouched);
    ok.assign(count, kUntouched);
    statuses.assign(count, kUntouched);
    sizes.assign(count, 0);
    call.struct_size = sizeof call;
    call.count = count;
    call.curve = curves.data();
    call.item_status = statuses.data();
  }

  const mm_ecc_curve_info& info(std::size_t i) const {
    return the_plan().info[curves[i] < kCurves ? curves[i] : 0];
  }

  template <class Make>
  const mm_bytes_view& add(Choices& choices, const Make& make) {
    std::vector<Bytes> strings;
    const std::size_t rows = choices.one_in(6) ? 1 : count;
    for (std::size_t i = 0; i < rows; ++i) strings.push_back(make(info(i)));
    items.push_back(std::make_unique<Items>(choices, std::move(strings)));
    return items.back()->view();
  }

  void give_output(mm_ecc_op op) {
    call.op = op;
    call.output = {output.data(), op == MM_ECC_SUM ? 1 : count, kStride, sizes.data()};
    call.ok = nullptr;
  }
};

void fill_secrets(Call& x, Choices& choices) {
  x.call.secret =
      x.add(choices, [&](const mm_ecc_curve_info& info) { return string_of(choices, info.secret_bytes); });
}

Bytes point_of(Choices& choices, const mm_ecc_curve_info& info) {
  Bytes point = string_of(choices, info.public_bytes);
  const bool shorter = info.form == MM_ECC_WEIERSTRASS && choices.one_in(2);
  if (shorter && point.size() > info.coordinate_bytes) point.resize(1 + info.coordinate_bytes);
  if (!point.empty() && info.form == MM_ECC_WEIERSTRASS && !choices.one_in(8)) {
    point[0] = static_cast<std::uint8_t>(shorter ? 2 + (point[0] & 1) : 4);
  }
  return point;
}

// Outputs of items without a result are zeroed, those with one have their size, and nothing behind the rows
// is written.
void check_outcome(const Call& x, mm_status status) {
  if (status != MM_OK && status != MM_ERR_ITEMS) {
    for (const Bytes* bytes : {&x.output, &x.ok, &x.statuses}) {
      for (const std::uint8_t byte : *bytes) require(byte == kUntouched, "a malformed call has written");
    }
    return;
  }
  for (std::size_t i = 0; i < x.count; ++i) {
    require(x.statuses[i] != MM_ITEM_NOT_COMPUTED, "an item was forgotten");
    const bool has_row = x.call.op != MM_ECC_SUM && x.call.output.data != nullptr;
    if (has_row) require((x.sizes[i] != 0) == (x.statuses[i] == MM_OK), "a result without its status");
    if (x.call.op == MM_ECC_VERIFY)
      require(x.ok[i] <= (x.statuses[i] == MM_OK ? 1 : 0), "a verdict of a bad item");
  }
}

mm_status run(Call& x) {
  const mm_status status = mm_ecc_run(the_plan().plan.get(), &x.call);
  if (!ran_out_of_memory(status == MM_ERR_MEMORY)) check_outcome(x, status);
  return status;
}

// Any operation on any bytes.
void run_anything(Choices& choices) {
  Call x(choices);
  x.give_output(static_cast<mm_ecc_op>(choices.below(MM_ECC_OP_COUNT)));
  x.call.scheme = choices.one_in(2) ? MM_ECC_DEFAULT : static_cast<mm_ecc_scheme>(choices.below(5));
  const mm_ecc_op op = x.call.op;
  const bool verifies = op == MM_ECC_VERIFY || op == MM_ECC_VERIFY_ALL;
  const bool signs = op == MM_ECC_SIGN;
  if (signs || op == MM_ECC_PUBLIC_KEY || op == MM_ECC_EXCHANGE || op == MM_ECC_MULTIPLY ||
      op == MM_ECC_SUM) {
    fill_secrets(x, choices);
  }
  const auto point = [&](const mm_ecc_curve_info& info) { return point_of(choices, info); };
  if (!signs && op != MM_ECC_PUBLIC_KEY && op != MM_ECC_RECOVER) x.call.point = x.add(choices, point);
  if (op == MM_ECC_ADD) x.call.second = x.add(choices, point);
  if (signs || verifies || op == MM_ECC_RECOVER) {
    x.call.message = x.add(choices, [&](const auto&) { return choices.bytes(40); });
    x.call.prehashed = choices.one_in(3) ? 1 : 0;
    x.call.signature_format =
        static_cast<mm_ecc_signature_format>(op == MM_ECC_RECOVER ? 2 : choices.below(3));
  }
  if (verifies || op == MM_ECC_RECOVER) {
    x.call.signature = x.add(choices, [&](const mm_ecc_curve_info& info) {
      return string_of(choices,
                       info.signature_bytes + (x.call.signature_format == MM_ECC_RECOVERABLE ? 1 : 0));
    });
  }
  if (verifies) {
    x.call.output = {};
    x.call.ok = x.ok.data();
    if (op == MM_ECC_VERIFY_ALL) x.call.policy = MM_ECC_ZIP215;
  }
  run(x);
}

// Signs with whatever keys and formats, and verifies what comes out and what one changed bit makes of it.
void sign_and_verify(Choices& choices) {
  Call x(choices);
  fill_secrets(x, choices);
  x.give_output(MM_ECC_PUBLIC_KEY);
  if (run(x) != MM_OK) return;
  std::vector<Bytes> keys, signatures;
  for (std::size_t i = 0; i < x.count; ++i) {
    const auto* row = x.output.data() + i * kStride;
    keys.emplace_back(row, row + x.sizes[i]);
  }
  x.give_output(MM_ECC_SIGN);
  x.call.message = x.add(choices, [&](const auto&) { return choices.bytes(40); });
  x.call.nonces = choices.one_in(3) ? MM_ECC_NONCE_HEDGED : MM_ECC_NONCE_DETERMINISTIC;
  x.call.low_s = static_cast<int>(choices.below(3)) - 1;
  if (run(x) != MM_OK) return;
  for (std::size_t i = 0; i < x.count; ++i) {
    const auto* row = x.output.data() + i * kStride;
    signatures.emplace_back(row, row + x.sizes[i]);
  }
  const bool spoilt = choices.one_in(2);
  const std::size_t which = choices.below(x.count);
  // Tiny orders have signatures that differ in a bit and are both right.
  const bool tells = x.curves[which] + 1 < kCurves;
  if (spoilt) signatures[which][choices.below(signatures[which].size())] ^= 1;
  const Items key_items(choices, keys), signature_items(choices, signatures);
  mm_ecc_call verification{};
  verification.struct_size = sizeof verification;
  verification.op = MM_ECC_VERIFY;
  verification.count = x.count;
  verification.curve = x.curves.data();
  verification.point = key_items.view();
  verification.message = x.call.message;
  verification.signature = signature_items.view();
  verification.low_s = x.call.low_s;
  verification.ok = x.ok.data();
  const mm_status status = mm_ecc_run(the_plan().plan.get(), &verification);
  if (ran_out_of_memory(status == MM_ERR_MEMORY)) return;
  require(status == MM_OK, mm_last_error());
  for (std::size_t i = 0; i < x.count; ++i) {
    const bool is_spoilt = spoilt && i == which;
    if (!is_spoilt) require(x.ok[i] == 1, "a signature of this library is not valid");
    if (is_spoilt && tells) require(x.ok[i] == 0, "a changed signature is valid");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  if (choices.one_in(2)) {
    sign_and_verify(choices);
  } else {
    run_anything(choices);
  }
  return 0;
}

}  // namespace manymod::fuzz

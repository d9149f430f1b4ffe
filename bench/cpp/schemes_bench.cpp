// SPDX-License-Identifier: Apache-2.0
// Schemes as calls compute them, without the call itself: hashes, nonces, encodings and points on one thread.
// Names are variant/curve/operation, and items_per_second counts items with a key and a message of 32 bytes
// each.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ecc/schemes/choice.hpp"
#include "ecc/variants.hpp"

namespace {

namespace ecc = manymod::ecc;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kItems = 4096;
constexpr std::size_t kMessageBytes = 32;
constexpr std::size_t kMaxResult = 160;

struct Case {
  const char* name;
  mm_ecc_op op;
  mm_ecc_policy policy = MM_ECC_RFC8032;
  bool check = true;
  bool one_key = false;
  bool nonces_given = false;
};
constexpr Case kEddsa[] = {
    {"public_key", MM_ECC_PUBLIC_KEY},
    {"sign", MM_ECC_SIGN},
    {"sign_unchecked", MM_ECC_SIGN, MM_ECC_RFC8032, false},
    {"sign_one_key", MM_ECC_SIGN, MM_ECC_RFC8032, true, true},
    {"sign_one_key_unchecked", MM_ECC_SIGN, MM_ECC_RFC8032, false, true},
    {"verify", MM_ECC_VERIFY},
    {"verify_zip215", MM_ECC_VERIFY, MM_ECC_ZIP215},
    {"verify_all", MM_ECC_VERIFY_ALL, MM_ECC_ZIP215},
};
constexpr Case kWeierstrass[] = {
    {"sign", MM_ECC_SIGN},
    {"sign_unchecked", MM_ECC_SIGN, MM_ECC_RFC8032, false},
    {"sign_one_key", MM_ECC_SIGN, MM_ECC_RFC8032, true, true},
    {"sign_bare", MM_ECC_SIGN, MM_ECC_RFC8032, false, false, true},
    {"verify", MM_ECC_VERIFY},
};
constexpr Case kXdh[] = {{"public_key", MM_ECC_PUBLIC_KEY}, {"exchange", MM_ECC_EXCHANGE}};

/// kItems items of `size` bytes each, which differ.
Bytes distinct(std::size_t size) {
  Bytes r(kItems * size);
  for (std::size_t i = 0; i < kItems; ++i) {
    // Not 0, and of big-endian numbers the first byte is.
    for (std::size_t b = 0; b < sizeof i; ++b)
      r[i * size + b + 2] = static_cast<std::uint8_t>((i + 1) >> 8 * b);
  }
  return r;
}

/// The operands and results of an operation on one engine.
class Work {
 public:
  explicit Work(const ecc::PointEngine& engine) : engine_(engine), indices_(kItems) {
    std::iota(indices_.begin(), indices_.end(), std::size_t{0});
    const ecc::Curve& curve = engine.curve();
    size_ = ecc::secret_bytes(curve);
    key_size_ = ecc::point_bytes(curve);
    signature_size_ = ecc::signature_bytes(curve);
    secrets_ = distinct(size_);
    messages_ = distinct(kMessageBytes);
    nonces_ = distinct(curve.scalar_bytes());
    keys_ = results(run({"", MM_ECC_PUBLIC_KEY}), key_size_);
    if (signature_size_ > 0) signatures_ = results(run({"", MM_ECC_SIGN}), signature_size_);
  }

  /// Results, kMaxResult bytes apart.
  Bytes run(const Case& which) {
    ecc::Inputs inputs;
    inputs.policy = which.policy;
    inputs.check = which.check;
    set(inputs.secret, secrets_, size_, which.one_key);
    if (!keys_.empty()) set(inputs.point, keys_, key_size_, false);
    set(inputs.message, messages_, kMessageBytes, false);
    if (!signatures_.empty()) set(inputs.signature, signatures_, signature_size_, false);
    if (which.nonces_given) {
      inputs.nonces = MM_ECC_NONCE_GIVEN;
      set(inputs.nonce, nonces_, engine_.curve().scalar_bytes(), false);
    }
    Bytes output(kItems * kMaxResult), ok(kItems), status(kItems);
    const ecc::Outputs outputs{output.data(), kMaxResult, nullptr, ok.data(), status.data()};
    const std::unique_ptr<ecc::Scheme> scheme = ecc::make_scheme(
        ecc::on_curve({which.op, MM_ECC_DEFAULT}, engine_.curve()), engine_, inputs, outputs);
    scheme->compute(indices_, {});
    failed_ = failed_ || status != Bytes(kItems);
    return output;
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  const ecc::PointEngine& engine_;
  std::vector<std::size_t> indices_;
  std::size_t size_ = 0, key_size_ = 0, signature_size_ = 0;
  Bytes secrets_, messages_, nonces_, keys_, signatures_;
  bool failed_ = false;

  static void set(std::optional<manymod::ItemsIn>& to, const Bytes& from, std::size_t size, bool one) {
    mm_bytes_view view{};
    view.count = one ? 1 : kItems;
    view.data = from.data();
    view.size = size;
    to.emplace(view, kItems, "items");
  }
  static Bytes results(const Bytes& output, std::size_t size) {
    Bytes r;
    for (std::size_t i = 0; i < kItems; ++i) {
      const auto begin = output.begin() + static_cast<std::ptrdiff_t>(i * kMaxResult);
      r.insert(r.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    return r;
  }
};

void measure(benchmark::State& state, const ecc::Variant& variant, const ecc::Curve& curve,
             const Case& which) {
  const auto engine = variant.make(curve, {});
  Work work(*engine);
  for (auto _ : state) work.run(which);
  if (work.failed()) state.SkipWithError("an item has failed");
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kItems));
}

template <std::size_t kCount>
void register_cases(const ecc::Variant& variant, const ecc::Curve& curve, const Case (&cases)[kCount]) {
  for (const Case& which : cases) {
    benchmark::RegisterBenchmark(
        (std::string("schemes/") + variant.name + "/" + curve.name + "/" + which.name).c_str(),
        [&variant, &curve, &which](benchmark::State& state) { measure(state, variant, curve, which); });
  }
}

[[maybe_unused]] const bool registered = [] {
  for (const ecc::Variant& variant : ecc::variants()) {
    for (const ecc::CurveId id : {ecc::CurveId::p256, ecc::CurveId::p384, ecc::CurveId::p521,
                                  ecc::CurveId::secp256k1, ecc::CurveId::sm2, ecc::CurveId::ed25519,
                                  ecc::CurveId::ed448, ecc::CurveId::x25519, ecc::CurveId::x448}) {
      const ecc::Curve& curve = ecc::named_curve(id);
      if (variant.backend != manymod::Backend::cpu || !variant.offers(curve) || !variant.runs_here())
        continue;
      if (curve.form == MM_ECC_WEIERSTRASS) {
        register_cases(variant, curve, kWeierstrass);
      } else if (curve.form == MM_ECC_EDWARDS) {
        register_cases(variant, curve, kEddsa);
      } else {
        register_cases(variant, curve, kXdh);
      }
    }
  }
  return true;
}();

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Malformed calls, items of several curves, forms of input, and asynchronous calls.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "ecc/test_calls.hpp"
#include "support/enum_number.hpp"

namespace manymod::testing {
namespace {

constexpr std::size_t kItems = 3;

struct DestroyPlan {
  void operator()(mm_ecc_plan* plan) const { mm_ecc_plan_destroy(plan); }
};
using PlanPointer = std::unique_ptr<mm_ecc_plan, DestroyPlan>;

PlanPointer make_plan(std::initializer_list<const char*> names, const char* variant = nullptr,
                      const char* device = "cpu", mm_status expected = MM_OK) {
  std::vector<const mm_ecc_curve*> curves;
  for (const char* name : names) curves.push_back(mm_ecc_curve_find(name));
  mm_ecc_plan_options options{};
  options.struct_size = sizeof options;
  options.device = device;
  options.variant = variant;
  mm_ecc_plan* plan = nullptr;
  EXPECT_EQ(mm_ecc_plan_create(curves.data(), curves.size(), &options, &plan), expected) << mm_last_error();
  EXPECT_EQ(plan != nullptr, expected == MM_OK);
  return PlanPointer(plan);
}

/// Calls that sign three messages and verify three signatures, with the data that they point to.
struct Calls {
  std::array<std::uint8_t, kItems * 32> secrets{};
  std::array<std::uint8_t, kItems * 65> keys{};
  std::array<std::uint8_t, kItems * 10> messages{};
  std::array<std::uint8_t, kItems * 64> signatures{};
  std::array<std::uint8_t, kItems * 70> output{};
  std::array<std::uint8_t, kItems> ok{};
  std::array<std::uint8_t, kItems> statuses{};
  std::array<std::size_t, kItems> sizes{};
  mm_ecc_call signing{}, verifying{};

  Calls() {
    for (std::size_t i = 0; i < kItems; ++i) secrets[32 * i + 31] = static_cast<std::uint8_t>(i + 1);
    signing.struct_size = sizeof signing;
    signing.op = MM_ECC_SIGN;
    signing.count = kItems;
    signing.secret = {kItems, secrets.data(), 32, 0, nullptr, nullptr};
    signing.message = {kItems, messages.data(), 10, 0, nullptr, nullptr};
    signing.output = {output.data(), kItems, 64, sizes.data()};
    signing.item_status = statuses.data();
    verifying.struct_size = sizeof verifying;
    verifying.op = MM_ECC_VERIFY;
    verifying.count = kItems;
    verifying.point = {kItems, keys.data(), 65, 0, nullptr, nullptr};
    verifying.message = signing.message;
    verifying.signature = {kItems, signatures.data(), 64, 0, nullptr, nullptr};
    verifying.ok = ok.data();
    verifying.item_status = statuses.data();
  }
};

struct BadCall {
  const char* what;
  std::function<void(Calls&)> spoil;
  mm_status status;
};

void check_bad_calls(std::span<const BadCall> cases, bool verifying) {
  const PlanPointer plan = make_plan({"P-256"});
  for (const BadCall& bad : cases) {
    Calls x;
    x.output.fill(0xee);
    x.ok.fill(0xee);
    x.statuses.fill(0xee);
    bad.spoil(x);
    EXPECT_EQ(mm_ecc_run(plan.get(), verifying ? &x.verifying : &x.signing), bad.status) << bad.what;
    const auto untouched = [](const auto& bytes) {
      return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0xee; });
    };
    EXPECT_TRUE(untouched(x.output) && untouched(x.ok) && untouched(x.statuses)) << bad.what;
  }
}

TEST(EccCalls, MalformedSigningWritesNothing) {
  static const std::int64_t descending[] = {0, 5, 4, 30};
  static const mm_bytes null_item[] = {{nullptr, 3}, {nullptr, 0}, {nullptr, 0}};
  const BadCall cases[] = {
      {"struct size", [](Calls& x) { x.signing.struct_size = 8; }, MM_ERR_ARGUMENT},
      {"op", [](Calls& x) { set_number(x.signing.op, MM_ECC_OP_COUNT); }, MM_ERR_ARGUMENT},
      {"negative op", [](Calls& x) { set_number(x.signing.op, -1); }, MM_ERR_ARGUMENT},
      {"scheme", [](Calls& x) { set_number(x.signing.scheme, 5); }, MM_ERR_ARGUMENT},
      {"hash", [](Calls& x) { set_number(x.signing.hash, MM_HASH_COUNT); }, MM_ERR_ARGUMENT},
      {"SHAKE", [](Calls& x) { x.signing.hash = MM_SHAKE128; }, MM_ERR_ARGUMENT},
      {"nonces", [](Calls& x) { set_number(x.signing.nonces, 3); }, MM_ERR_ARGUMENT},
      {"policy", [](Calls& x) { set_number(x.signing.policy, 3); }, MM_ERR_ARGUMENT},
      {"policy of verification", [](Calls& x) { x.signing.policy = MM_ECC_STRICT; }, MM_ERR_ARGUMENT},
      {"format", [](Calls& x) { set_number(x.signing.signature_format, 3); }, MM_ERR_ARGUMENT},
      {"point format", [](Calls& x) { set_number(x.signing.point_format, 3); }, MM_ERR_ARGUMENT},
      {"no point", [](Calls& x) { x.signing.point_format = MM_ECC_COMPRESSED; }, MM_ERR_ARGUMENT},
      {"no secrets", [](Calls& x) { x.signing.secret = {}; }, MM_ERR_ARGUMENT},
      {"two secrets", [](Calls& x) { x.signing.secret.count = 2; }, MM_ERR_ARGUMENT},
      {"null secrets", [](Calls& x) { x.signing.secret.data = nullptr; }, MM_ERR_NULL},
      {"short stride", [](Calls& x) { x.signing.secret.stride = 31; }, MM_ERR_ARGUMENT},
      {"secrets that wrap around", [](Calls& x) { x.signing.secret.stride = SIZE_MAX; }, MM_ERR_ARGUMENT},
      {"messages larger than any array", [](Calls& x) { x.signing.message.stride = SIZE_MAX / 4 + 1; },
       MM_ERR_ARGUMENT},
      {"descending", [](Calls& x) { x.signing.message.offsets = descending; }, MM_ERR_ARGUMENT},
      {"null item", [](Calls& x) { x.signing.message.items = null_item; }, MM_ERR_NULL},
      {"unused point", [](Calls& x) { x.signing.point = x.signing.secret; }, MM_ERR_ARGUMENT},
      {"unused second", [](Calls& x) { x.signing.second.size = 1; }, MM_ERR_ARGUMENT},
      {"unused signature", [](Calls& x) { x.signing.signature.count = 1; }, MM_ERR_ARGUMENT},
      {"unused nonce", [](Calls& x) { x.signing.nonce = x.signing.secret; }, MM_ERR_ARGUMENT},
      {"missing nonce", [](Calls& x) { x.signing.nonces = MM_ECC_NONCE_GIVEN; }, MM_ERR_ARGUMENT},
      {"one nonce for all",
       [](Calls& x) {
         x.signing.nonces = MM_ECC_NONCE_GIVEN;
         x.signing.nonce = x.signing.secret;
         x.signing.nonce.count = 1;
       },
       MM_ERR_ARGUMENT},
      {"unused ok", [](Calls& x) { x.signing.ok = x.ok.data(); }, MM_ERR_ARGUMENT},
      {"null output", [](Calls& x) { x.signing.output.data = nullptr; }, MM_ERR_NULL},
      {"output count", [](Calls& x) { x.signing.output.count = 2; }, MM_ERR_ARGUMENT},
      {"output stride", [](Calls& x) { x.signing.output.stride = 63; }, MM_ERR_ARGUMENT},
      {"stride for DER", [](Calls& x) { x.signing.signature_format = MM_ECC_DER; }, MM_ERR_ARGUMENT},
      {"huge stride", [](Calls& x) { x.signing.output.stride = SIZE_MAX / 4 + 1; }, MM_ERR_ARGUMENT},
      {"output in messages", [](Calls& x) { x.signing.message.data = x.output.data() + 100; },
       MM_ERR_OVERLAP},
      {"output in secrets", [](Calls& x) { x.signing.secret.data = x.output.data(); }, MM_ERR_OVERLAP},
      {"sizes in messages",
       [](Calls& x) {
         x.signing.message = {kItems, reinterpret_cast<const std::uint8_t*>(x.sizes.data()), 8, 0, nullptr,
                              nullptr};
       },
       MM_ERR_OVERLAP},
      {"statuses in messages", [](Calls& x) { x.signing.message.data = x.statuses.data(); }, MM_ERR_OVERLAP},
      {"sizes in output",
       [](Calls& x) { x.signing.output.data = reinterpret_cast<std::uint8_t*>(x.sizes.data()); },
       MM_ERR_OVERLAP},
      {"statuses in output", [](Calls& x) { x.signing.item_status = x.output.data() + 3 * 64 - 1; },
       MM_ERR_OVERLAP},
      {"statuses in sizes",
       [](Calls& x) { x.signing.item_status = reinterpret_cast<std::uint8_t*>(x.sizes.data()); },
       MM_ERR_OVERLAP},
  };
  check_bad_calls(cases, false);
}

TEST(EccCalls, MalformedVerificationWritesNothing) {
  const BadCall cases[] = {
      {"no signature", [](Calls& x) { x.verifying.signature = {}; }, MM_ERR_ARGUMENT},
      {"no key", [](Calls& x) { x.verifying.point = {}; }, MM_ERR_ARGUMENT},
      {"no ok", [](Calls& x) { x.verifying.ok = nullptr; }, MM_ERR_NULL},
      {"unused output", [](Calls& x) { x.verifying.output = x.signing.output; }, MM_ERR_ARGUMENT},
      {"unused secret", [](Calls& x) { x.verifying.secret = x.signing.secret; }, MM_ERR_ARGUMENT},
      {"unused check", [](Calls& x) { x.verifying.no_check = 1; }, MM_ERR_ARGUMENT},
      {"unused nonces", [](Calls& x) { x.verifying.nonces = MM_ECC_NONCE_HEDGED; }, MM_ERR_ARGUMENT},
      {"ok in signatures", [](Calls& x) { x.verifying.signature.data = x.ok.data(); }, MM_ERR_OVERLAP},
      {"ok in statuses", [](Calls& x) { x.verifying.item_status = x.ok.data() + kItems - 1; },
       MM_ERR_OVERLAP},
      {"no id", [](Calls& x) { x.verifying.op = MM_ECC_RECOVER; }, MM_ERR_ARGUMENT},
      {"low s of BIP 340",
       [](Calls& x) {
         x.verifying.scheme = MM_ECC_BIP340;
         x.verifying.low_s = 1;
       },
       MM_ERR_ARGUMENT},
      {"context of ECDSA",
       [](Calls& x) {
         x.verifying.scheme = MM_ECC_ECDSA;
         x.verifying.context = x.verifying.message;
       },
       MM_ERR_ARGUMENT},
  };
  check_bad_calls(cases, true);
}

TEST(EccCalls, NullsAreErrors) {
  Calls x;
  const PlanPointer plan = make_plan({"P-256"});
  EXPECT_EQ(mm_ecc_run(nullptr, &x.signing), MM_ERR_NULL);
  EXPECT_EQ(mm_ecc_run(plan.get(), nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_ecc_submit(plan.get(), &x.signing, nullptr, nullptr, nullptr), MM_ERR_NULL);
  EXPECT_EQ(mm_ecc_plan_create(nullptr, 1, nullptr, nullptr), MM_ERR_NULL);
  mm_ecc_plan* made = nullptr;
  EXPECT_EQ(mm_ecc_plan_create(nullptr, 0, nullptr, &made), MM_ERR_ARGUMENT);
  EXPECT_STREQ(mm_ecc_plan_variant(nullptr, 0), "");
  EXPECT_STREQ(mm_ecc_plan_variant(plan.get(), 1), "");
  EXPECT_EQ(mm_ecc_curve_find(nullptr), nullptr);
  EXPECT_EQ(mm_ecc_curve_find("P-257"), nullptr);
  mm_ecc_plan_destroy(nullptr);
  mm_ecc_curve_destroy(nullptr);
  mm_ecc_key_destroy(nullptr);
}

TEST(EccCalls, PlansNameTheirVariants) {
  for (std::size_t i = 0; mm_ecc_variant_at(i) != nullptr; ++i) {
    const char* variant = mm_ecc_variant_at(i);
    if (mm_ecc_variant_usable(variant, mm_ecc_curve_find("P-256")) == 0) continue;
    const PlanPointer plan = make_plan({"P-256"}, variant, "auto");
    EXPECT_STREQ(mm_ecc_plan_variant(plan.get(), 0), variant);
  }
  make_plan({"P-256"}, "no-such-variant", "cpu", MM_ERR_UNKNOWN_VARIANT);
  make_plan({"P-256"}, nullptr, "abacus", MM_ERR_UNKNOWN_DEVICE);
  EXPECT_EQ(mm_ecc_variant_usable("no-such-variant", mm_ecc_curve_find("P-256")), 0);
  EXPECT_EQ(mm_ecc_variant_usable(nullptr, mm_ecc_curve_find("P-256")), 0);
  EXPECT_EQ(mm_ecc_variant_usable("scalar64", nullptr), 0);
}

TEST(EccCalls, EmptyCallsDoNothing) {
  const PlanPointer plan = make_plan({"P-256"});
  mm_ecc_call call{};
  call.struct_size = sizeof call;
  call.op = MM_ECC_SIGN;
  EXPECT_EQ(mm_ecc_run(plan.get(), &call), MM_OK);
  set_number(call.op, MM_ECC_OP_COUNT);
  EXPECT_EQ(mm_ecc_run(plan.get(), &call), MM_ERR_ARGUMENT);
  call.op = MM_ECC_RECOVER;
  call.scheme = MM_ECC_BIP340;
  EXPECT_EQ(mm_ecc_run(plan.get(), &call), MM_ERR_ARGUMENT);
  call.scheme = MM_ECC_DEFAULT;
  call.op = MM_ECC_VERIFY_ALL;
  EXPECT_EQ(mm_ecc_run(plan.get(), &call), MM_ERR_NULL);
  std::uint8_t ok = 7;
  call.ok = &ok;
  EXPECT_EQ(mm_ecc_run(plan.get(), &call), MM_OK);
  EXPECT_EQ(ok, 1);
}

TEST(EccCalls, ItemsMayHaveCurvesOfTheirOwn) {
  const char* const names[] = {"P-256", "secp256k1", "P-521", "SM2", "Ed25519", "X25519"};
  std::vector<EccCurve> curves;
  for (const char* name : names) curves.emplace_back(name);
  EccPlan plan(curves, {"cpu", "", 2});
  std::vector<std::uint32_t> index;
  std::vector<Bytes> secrets, messages;
  for (std::uint32_t i = 0; i < 40; ++i) {
    index.push_back(i * 5 % 7);  // 6 names none
    secrets.push_back(small_secret(index.back() < 6 ? curves[index.back()].info().secret_bytes : 32, i + 1));
    messages.push_back(noise(i, i));
  }
  EccOperands operands;
  operands.secrets = secrets;
  operands.curves = index;
  std::vector<mm_status> statuses;
  const std::vector<Bytes> keys = plan.run(MM_ECC_PUBLIC_KEY, index.size(), operands, {}, &statuses);
  operands.messages = messages;
  std::vector<mm_status> sign_statuses;
  const std::vector<Bytes> signatures = plan.run(MM_ECC_SIGN, index.size(), operands, {}, &sign_statuses);
  EccOperands verification;
  verification.points = keys;
  verification.messages = messages;
  verification.signatures = signatures;
  verification.curves = index;
  const std::vector<bool> ok =
      plan.run_verification(MM_ECC_VERIFY, index.size(), verification, {}, &statuses);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const bool signs = index[i] < 5;
    EXPECT_EQ(sign_statuses[i], signs ? MM_OK : MM_ITEM_ECC_CURVE) << i;
    EXPECT_EQ(statuses[i], signs ? MM_OK : MM_ITEM_ECC_CURVE) << i;
    EXPECT_EQ(ok[i], signs) << i;
  }
}

TEST(EccCalls, KeysAndSignaturesThatAreNoneDoNotFailACall) {
  const PlanPointer plan = make_plan({"P-256"});
  Calls x;
  mm_ecc_call keys = x.signing;
  keys.op = MM_ECC_PUBLIC_KEY;
  keys.message = {};
  keys.output = {x.keys.data(), kItems, 65, nullptr};
  ASSERT_EQ(mm_ecc_run(plan.get(), &keys), MM_OK) << mm_last_error();
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.verifying), MM_OK);
  EXPECT_EQ(x.statuses[1], MM_ITEM_ECC_SIGNATURE);
  x.keys[64] = static_cast<std::uint8_t>(x.keys[64] ^ 1);
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.verifying), MM_OK);
  EXPECT_EQ(x.statuses[0], MM_ITEM_ECC_POINT);
  EXPECT_EQ(x.ok[0], 0);
  // A curve that the plan does not have is a defect of the call, not of a signature.
  const std::uint32_t curves[kItems] = {0, 1, 0};
  x.verifying.curve = curves;
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.verifying), MM_ERR_ITEMS);
  EXPECT_EQ(x.statuses[1], MM_ITEM_ECC_CURVE);
}

/// Else a caller may make room for less than a call that is refused seems to need: 2^64 - 11 bytes of a key
/// and 64 of confirmations are 53.
TEST(EccCalls, LengthsAreToldForOptionsOfCallsAlone) {
  const PlanPointer plan = make_plan({"SM2"});
  mm_ecc_call exchange{}, verification{}, signing{};
  for (mm_ecc_call* const call : {&exchange, &verification, &signing}) {
    call->struct_size = sizeof *call;
    call->count = 1;
  }
  exchange.op = MM_ECC_SM2_EXCHANGE;
  exchange.nonces = MM_ECC_NONCE_GIVEN;
  exchange.confirm = 1;
  verification.op = MM_ECC_VERIFY;
  signing.op = MM_ECC_SIGN;
  const auto status = [&](const mm_ecc_call& call, std::size_t expected) {
    std::size_t bytes = 0;
    const mm_status found = mm_ecc_result_bytes(plan.get(), &call, &bytes);
    EXPECT_EQ(bytes, found == MM_OK ? expected : 0);
    return found;
  };
  for (const std::size_t refused : {std::size_t{0}, std::size_t{65537}, SIZE_MAX - 10}) {
    exchange.key_bytes = refused;
    EXPECT_EQ(status(exchange, 0), MM_ERR_ARGUMENT);
  }
  exchange.key_bytes = 65536;
  EXPECT_EQ(status(exchange, 65536 + 64), MM_OK);
  EXPECT_EQ(status(verification, 0), MM_OK);
  verification.nonces = MM_ECC_NONCE_GIVEN;
  EXPECT_EQ(status(verification, 0), MM_ERR_ARGUMENT);
  EXPECT_EQ(status(signing, 64), MM_OK);
  signing.key_bytes = 5;
  EXPECT_EQ(status(signing, 0), MM_ERR_ARGUMENT);
}

TEST(EccCalls, OneVerdictNeedsZip215OnlyForEdDsa) {
  const PlanPointer plan = make_plan({"P-256", "Ed25519"});
  Calls x;
  const std::uint32_t curves[kItems] = {0, 1, 0};
  x.verifying.curve = curves;
  x.verifying.op = MM_ECC_VERIFY_ALL;
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.verifying), MM_ERR_ARGUMENT);
  x.verifying.scheme = MM_ECC_ECDSA;
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.verifying), MM_ERR_ITEMS);
  EXPECT_EQ(x.statuses[1], MM_ITEM_ECC_CURVE);
  EXPECT_EQ(x.ok[0], 0);
}

TEST(EccCalls, MoreItemsThanMemoryCanHoldAreAnErrorOfMemory) {
  const PlanPointer plan = make_plan({"P-256"});
  Calls x;
  x.verifying.op = MM_ECC_VERIFY_ALL;
  x.verifying.count = SIZE_MAX;
  x.verifying.item_status = nullptr;
  for (mm_bytes_view* view : {&x.verifying.point, &x.verifying.message, &x.verifying.signature}) {
    view->count = 1;
  }
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.verifying), MM_ERR_MEMORY);
}

TEST(EccCalls, RowsAreZeroBehindResultsAndWithoutOne) {
  const PlanPointer plan = make_plan({"P-256"});
  Calls x;
  x.output.fill(0xee);
  std::fill_n(x.secrets.begin(), 32, std::uint8_t{0});
  x.signing.output.stride = 70;
  EXPECT_EQ(mm_ecc_run(plan.get(), &x.signing), MM_ERR_ITEMS);
  EXPECT_EQ(x.sizes[0], 0U);
  EXPECT_EQ(x.sizes[1], 64U);
  EXPECT_TRUE(std::all_of(x.output.begin(), x.output.begin() + 64, [](auto byte) { return byte == 0; }));
  // Bytes between the rows are the caller's.
  EXPECT_TRUE(
      std::all_of(x.output.begin() + 64, x.output.begin() + 70, [](auto byte) { return byte == 0xee; }));
}

TEST(EccCalls, JobsGiveTheSame) {
  EccPlan plan = cpu_plan(EccCurve("P-256"), 2);
  const Bytes secret = small_secret(32, 1);
  std::vector<Bytes> messages;
  for (std::size_t i = 0; i < 10; ++i) messages.push_back(noise(20, i));
  EccOperands operands;
  operands.secrets = {&secret, 1};
  operands.messages = messages;
  wrapper::ecc::Job job = plan.submit(MM_ECC_SIGN, messages.size(), operands);
  EXPECT_EQ(job.wait(), plan.sign({&secret, 1}, messages));
}

TEST(EccCalls, JobsCanBeCancelled) {
  // Without cancellation this takes minutes on any machine: progress is reported each tenth of a second only.
  constexpr std::size_t kMany = 1'000'000;
  EccPlan plan = cpu_plan(EccCurve("brainpoolP512r1"), 2);
  const Bytes secret = small_secret(64, 1);
  const Bytes message = noise(20, 0);
  EccOperands operands;
  operands.secrets = {&secret, 1};
  operands.messages = {&message, 1};
  wrapper::ecc::Job job =
      plan.submit(MM_ECC_SIGN, kMany, operands, {}, [](std::size_t, std::size_t) { return false; });
  try {
    job.wait();
    ADD_FAILURE() << "the call was not cancelled";
  } catch (const wrapper::Error& error) {
    EXPECT_EQ(error.status(), MM_ERR_CANCELLED);
  }
}

}  // namespace
}  // namespace manymod::testing

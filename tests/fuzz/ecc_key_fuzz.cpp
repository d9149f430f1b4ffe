// SPDX-License-Identifier: Apache-2.0
// Keys on curves from PEM and DER: an accepted key is one whose public bytes are a point, and those of its
// private key where it has one. The first byte of an input chooses the options.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/choices.hpp"
#include "manymod/ecc.h"

namespace manymod::fuzz {
namespace {

constexpr std::string_view kPassword = "password";  // of the encrypted seeds

struct DestroyKey {
  void operator()(mm_ecc_key* key) const { mm_ecc_key_destroy(key); }
};
struct DestroyPlan {
  void operator()(mm_ecc_plan* plan) const { mm_ecc_plan_destroy(plan); }
};

mm_bytes_view one(const mm_bytes& bytes) { return {1, bytes.data, bytes.size, 0, nullptr, nullptr}; }

// The result of an operation on one item of a curve.
Bytes result_of(mm_ecc_plan* plan, mm_ecc_call call) {
  Bytes output(256);
  std::size_t size = 0;
  call.struct_size = sizeof call;
  call.count = 1;
  call.output = {output.data(), 1, output.size(), &size};
  require(mm_ecc_run(plan, &call) == MM_OK, mm_last_error());
  output.resize(size);
  return output;
}

void check_key(const mm_ecc_key* key) {
  mm_ecc_key_info info{};
  info.struct_size = sizeof info;
  require(mm_ecc_key_get_info(key, &info) == MM_OK, mm_last_error());
  mm_ecc_plan* created = nullptr;
  require(mm_ecc_plan_create(&info.curve, 1, nullptr, &created) == MM_OK, mm_last_error());
  const std::unique_ptr<mm_ecc_plan, DestroyPlan> plan(created);
  mm_ecc_curve_info curve{};
  curve.struct_size = sizeof curve;
  require(mm_ecc_curve_get_info(info.curve, &curve) == MM_OK, mm_last_error());
  require(info.public_bytes.size == curve.public_bytes, "a public key of another size");
  const Bytes point(info.public_bytes.data, info.public_bytes.data + info.public_bytes.size);
  mm_ecc_call call{};
  if (info.secret.size != 0) {
    require(info.secret.size == curve.secret_bytes, "a private key of another size");
    call.op = MM_ECC_PUBLIC_KEY;
    call.secret = one(info.secret);
    require(result_of(plan.get(), call) == point, "a public key that is not the private key's");
  } else if (curve.form == MM_ECC_WEIERSTRASS) {
    call.op = MM_ECC_POINT;
    call.point = one(info.public_bytes);
    require(result_of(plan.get(), call) == point, "a public key that is not read back");
  }
}

void run(Choices& choices) {
  const std::uint8_t flags = choices.byte();
  mm_ecc_decode_options options{};
  options.struct_size = sizeof options;
  options.public_only = flags & 1;
  if ((flags & 2) == 0) {
    options.password = {reinterpret_cast<const std::uint8_t*>(kPassword.data()), kPassword.size()};
  }
  const Bytes encoded = choices.all_the_rest();
  mm_ecc_key* created = nullptr;
  const mm_status status = mm_ecc_key_decode({encoded.data(), encoded.size()}, &options, &created);
  const std::unique_ptr<mm_ecc_key, DestroyKey> key(created);
  require((status == MM_OK) == (created != nullptr), "a key and a failure, or neither");
  const mm_status refusal = encoded.data() == nullptr ? MM_ERR_NULL : MM_ERR_KEY;
  require(status == MM_OK || status == refusal,
          std::string("mm_ecc_key_decode returned ") + mm_status_name(status) + ": " + mm_last_error());
  if (created != nullptr) check_key(created);
}

}  // namespace
}  // namespace manymod::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  manymod::fuzz::Choices choices(data, size);
  manymod::fuzz::run(choices);
  return 0;
}

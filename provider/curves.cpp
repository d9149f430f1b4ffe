// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "per_process.hpp"

namespace manymod::provider {
namespace {

mm_bytes_view view_of(std::span<const std::uint8_t> bytes) {
  mm_bytes_view view{};
  view.count = 1;
  view.data = bytes.data();
  view.size = bytes.size();
  return view;
}

}  // namespace

Placement placement_of(const EngineSettings& settings) {
  Placement placement;
  placement.device = settings.device;
  placement.threads = 1;
  return placement;
}

ecc::Plan& shared_plan(const std::string& curve, const EngineSettings& settings) {
  struct Plans {
    std::mutex mutex;
    std::map<std::pair<std::string, std::string>, std::unique_ptr<ecc::Plan>> plans;
  };
  static auto* const of_process = new PerProcess<Plans>;  // services may use them until the process ends
  Plans& mine = of_process->get([] { return std::make_unique<Plans>(); });
  const std::scoped_lock lock(mine.mutex);
  std::unique_ptr<ecc::Plan>& plan = mine.plans[{curve, settings.device}];
  if (plan == nullptr) {
    plan = std::make_unique<ecc::Plan>(ecc::Curve(mm_ecc_curve_find(curve.c_str())), placement_of(settings));
  }
  return *plan;
}

SecretBytes compute_on_curve(ecc::Plan& plan, mm_ecc_op op, const SecretBytes& secret,
                             const SecretBytes& point) {
  mm_ecc_call call{};
  call.struct_size = sizeof call;
  call.op = op;
  call.count = 1;
  call.secret = view_of(secret.span());
  if (point.size() != 0) call.point = view_of(point.span());
  std::size_t size = 0;
  check(mm_ecc_result_bytes(plan.get(), &call, &size));
  SecretBytes result(size);
  call.output = {result.data(), 1, size, &size};
  check(mm_ecc_run(plan.get(), &call));
  result.shorten(size);
  return result;
}

std::optional<bool> verify_on_curve(ecc::Plan& plan, const Verification& asked) {
  mm_ecc_call call{};
  std::uint8_t valid = 0, status = MM_ITEM_NOT_COMPUTED;
  call.struct_size = sizeof call;
  call.op = MM_ECC_VERIFY;
  call.count = 1;
  call.point = view_of(asked.public_key);
  call.message = view_of(asked.message);
  call.signature = view_of(asked.signature);
  call.scheme = asked.scheme;
  if (asked.scheme == MM_ECC_ECDSA) {
    call.prehashed = 1;
    call.signature_format = MM_ECC_DER;
  }
  call.ok = &valid;
  call.item_status = &status;
  check(mm_ecc_run(plan.get(), &call));
  return status == MM_OK ? std::optional<bool>(valid != 0) : std::nullopt;
}

}  // namespace manymod::provider

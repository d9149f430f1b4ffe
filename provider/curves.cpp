// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "per_process.hpp"

namespace manymod::provider {
namespace {

mm_bytes_view view_of(const SecretBytes& bytes) {
  mm_bytes_view view{};
  if (bytes.size() == 0) return view;
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
  call.secret = view_of(secret);
  call.point = view_of(point);
  std::size_t size = 0;
  check(mm_ecc_result_bytes(plan.get(), &call, &size));
  SecretBytes result(size);
  call.output = {result.data(), 1, size, &size};
  check(mm_ecc_run(plan.get(), &call));
  result.shorten(size);
  return result;
}

}  // namespace manymod::provider

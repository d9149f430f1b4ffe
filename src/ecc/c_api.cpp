// SPDX-License-Identifier: Apache-2.0
// The functions of ecc.h: they check pointers and struct sizes, own the objects and turn exceptions into
// statuses.
#include <memory>
#include <string>
#include <vector>

#include "abi/job.hpp"
#include "abi/last_error.hpp"
#include "abi/required.hpp"
#include "core/published_once.hpp"
#include "crypto/libcrypto.hpp"
#include "ecc/call.hpp"
#include "ecc/curve.hpp"
#include "ecc/curve_checks.hpp"
#include "ecc/gpus_of.hpp"
#include "ecc/key.hpp"
#include "ecc/plan.hpp"
#include "ecc/ring.hpp"
#include "ecc/schemes/choice.hpp"
#include "ecc/variants.hpp"
#include "manymod/ecc.h"

struct mm_ecc_curve {
  std::shared_ptr<const manymod::ecc::Curve> curve;
  bool named = false;
};

struct mm_ecc_key {
  manymod::ecc::Key key;
};

struct mm_ecc_plan {
  manymod::ecc::Plan plan;
};

namespace {

using manymod::required;
using manymod::required_struct;

const std::vector<mm_ecc_curve>& named_curves() {
  static constinit manymod::PublishedForever<std::vector<mm_ecc_curve>> all;
  return *all.get([] {
    auto curves = std::make_unique<std::vector<mm_ecc_curve>>();
    for (const manymod::ecc::Curve& curve : manymod::ecc::named_curves()) {
      // They live as long as the process: nothing to delete.
      curves->push_back({std::shared_ptr<const manymod::ecc::Curve>(&curve, [](const auto*) {}), true});
    }
    return curves;
  });
}

const mm_ecc_curve* curve_with_id(manymod::ecc::CurveId id) {
  return &named_curves()[static_cast<std::size_t>(id)];
}

mm_ecc_curve_info describe(const manymod::ecc::Curve& curve) {
  mm_ecc_curve_info info{};
  info.name = curve.name.c_str();
  info.form = curve.form;
  info.field_bits = curve.field_bits;
  info.order_bits = curve.order_bits;
  info.coordinate_bytes = curve.coordinate_bytes();
  info.scalar_bytes = curve.scalar_bytes();
  info.secret_bytes = manymod::ecc::secret_bytes(curve);
  info.public_bytes = manymod::ecc::point_bytes(curve);
  info.signature_bytes = manymod::ecc::signature_bytes(curve);
  return info;
}

mm_ecc_key_info describe(const manymod::ecc::Key& key) {
  mm_ecc_key_info info{};
  info.curve = curve_with_id(key.curve().id);
  info.secret = {key.secret().data(), key.secret().size()};
  info.public_bytes = {key.public_bytes().data(), key.public_bytes().size()};
  return info;
}

std::vector<std::shared_ptr<const manymod::ecc::Curve>> curves_of(const mm_ecc_curve* const* curves,
                                                                  std::size_t count) {
  if (count != 0) required(curves, "curves");
  std::vector<std::shared_ptr<const manymod::ecc::Curve>> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = required(curves[i], ("curves[" + std::to_string(i) + "]").c_str()).curve;
  }
  return all;
}

}  // namespace

unsigned manymod::ecc::gpus_of(const mm_ecc_plan& plan) { return plan.plan.gpus(); }

extern "C" {

int mm_ecc_supported(void) { return 1; }

const mm_ecc_curve* mm_ecc_curve_find(const char* name) {
  const manymod::ecc::Curve* curve = name == nullptr ? nullptr : manymod::ecc::find_curve(name);
  return curve == nullptr ? nullptr : curve_with_id(curve->id);
}

const mm_ecc_curve* mm_ecc_curve_at(size_t index) {
  return index < named_curves().size() ? &named_curves()[index] : nullptr;
}

mm_status mm_ecc_curve_create(const mm_ecc_curve_numbers* numbers, mm_ecc_curve** curve) {
  if (curve != nullptr) *curve = nullptr;
  return manymod::guarded([&] {
    const manymod::crypto::QuietErrors quiet;
    mm_ecc_curve*& created = required(curve, "curve");
    created = new mm_ecc_curve{std::make_shared<const manymod::ecc::Curve>(
                                   manymod::ecc::make_curve(required_struct(numbers, "numbers"))),
                               false};
    return MM_OK;
  });
}

void mm_ecc_curve_destroy(mm_ecc_curve* curve) {
  if (curve != nullptr && !curve->named) delete curve;
}

mm_status mm_ecc_curve_get_info(const mm_ecc_curve* curve, mm_ecc_curve_info* info) {
  return manymod::guarded([&] {
    mm_ecc_curve_info& out = required(info, "info");
    manymod::struct_to_caller(describe(*required(curve, "curve").curve), out, "info");
    return MM_OK;
  });
}

mm_status mm_ecc_key_decode(mm_bytes encoded, const mm_ecc_decode_options* options, mm_ecc_key** key) {
  if (key != nullptr) *key = nullptr;
  return manymod::guarded([&] {
    mm_ecc_key*& created = required(key, "key");
    const mm_ecc_decode_options chosen =
        options == nullptr ? mm_ecc_decode_options{} : required_struct(options, "options");
    created = new mm_ecc_key{manymod::ecc::key_from_encoding(encoded, chosen)};
    return MM_OK;
  });
}

mm_status mm_ecc_key_get_info(const mm_ecc_key* key, mm_ecc_key_info* info) {
  return manymod::guarded([&] {
    mm_ecc_key_info& out = required(info, "info");
    manymod::struct_to_caller(describe(required(key, "key").key), out, "info");
    return MM_OK;
  });
}

void mm_ecc_key_destroy(mm_ecc_key* key) { delete key; }

mm_status mm_ecc_plan_create(const mm_ecc_curve* const* curves, size_t count,
                             const mm_ecc_plan_options* options, mm_ecc_plan** plan) {
  if (plan != nullptr) *plan = nullptr;
  return manymod::guarded([&] {
    mm_ecc_plan*& created = required(plan, "plan");
    const mm_ecc_plan_options chosen =
        options == nullptr ? mm_ecc_plan_options{} : required_struct(options, "options");
    created = new mm_ecc_plan{{chosen, curves_of(curves, count)}};
    return MM_OK;
  });
}

const char* mm_ecc_plan_variant(const mm_ecc_plan* plan, size_t curve) {
  return plan == nullptr ? "" : plan->plan.variant_name(curve);
}

void mm_ecc_plan_destroy(mm_ecc_plan* plan) { delete plan; }

mm_status mm_ecc_ring_create(mm_ecc_plan* plan, const mm_ecc_ring_keys* keys, mm_ecc_ring** ring) {
  if (ring != nullptr) *ring = nullptr;
  return manymod::guarded([&] {
    const manymod::crypto::QuietErrors quiet;
    mm_ecc_ring*& created = required(ring, "ring");
    const mm_ecc_ring_keys given = required_struct(keys, "keys");
    auto made = std::make_unique<mm_ecc_ring>(required(plan, "plan").plan, given);
    const mm_status status = made->ring.report(given.item_status);
    created = made.release();
    return status;
  });
}

void mm_ecc_ring_destroy(mm_ecc_ring* ring) { delete ring; }

const char* mm_ecc_variant_at(size_t index) {
  const auto all = manymod::ecc::variants();
  return index < all.size() ? all[index].name : nullptr;
}

int mm_ecc_variant_usable(const char* variant, const mm_ecc_curve* curve) {
  const manymod::ecc::Variant* found = variant == nullptr ? nullptr : manymod::ecc::find_variant(variant);
  return found != nullptr && curve != nullptr && found->offers(*curve->curve) && found->runs_here() ? 1 : 0;
}

mm_status mm_ecc_run(mm_ecc_plan* plan, const mm_ecc_call* call) {
  return manymod::guarded([&] {
    const manymod::crypto::QuietErrors quiet;
    return required(plan, "plan").plan.run(required_struct(call, "call"));
  });
}

mm_status mm_ecc_result_bytes(const mm_ecc_plan* plan, const mm_ecc_call* call, size_t* bytes) {
  return manymod::guarded([&] {
    required(bytes, "bytes") =
        manymod::ecc::longest_result(required(plan, "plan").plan, required_struct(call, "call"));
    return MM_OK;
  });
}

mm_status mm_ecc_submit(mm_ecc_plan* plan, const mm_ecc_call* call, mm_done_fn done, void* user,
                        mm_job** job) {
  if (job != nullptr) *job = nullptr;
  return manymod::guarded([&] {
    mm_job*& submitted = required(job, "job");
    const auto run = [&target = required(plan, "plan").plan](const mm_ecc_call& copied) {
      const manymod::crypto::QuietErrors quiet;
      return target.run(copied);
    };
    manymod::submit_call(required_struct(call, "call"), run, {done, user}, submitted);
    return MM_OK;
  });
}

}  // extern "C"

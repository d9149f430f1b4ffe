// SPDX-License-Identifier: Apache-2.0
#include "gpu/engine/resident_engine.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/device_facts.hpp"
#include "engine/store.hpp"

namespace manymod::gpu {
namespace {

// Largest size of the operands that are copied to the host at a time.
constexpr std::size_t kHostedBytes = std::size_t{32} << 20;

/// Some items of a job with all their integers in host memory: item i of `job()` is items[i].
class HostedItems {
 public:
  HostedItems(const Job& from, Items items, std::size_t modulus_limbs, const ResidentArrays& arrays)
      : from_(from),
        items_(items),
        arrays_(arrays),
        job_(from),
        terms_(std::max<std::size_t>(1, from.terms)),
        result_(items.size() * modulus_limbs),
        negative_(items.size()),
        status_(items.size(), ItemStatus::not_computed) {
    bring(from.x, terms_, from.x.width, job_.x, x_);
    bring(from.y, terms_, from.y.width, job_.y, y_);
    bring(from.z, 1, from.z.width, job_.z, z_);
    bring(from.modulus, 1, modulus_limbs, job_.modulus, modulus_);
    job_.result = {result_.data(), items.size(), modulus_limbs, modulus_limbs,
                   from.result.negative == nullptr ? nullptr : negative_.data()};
    job_.status = status_.data();
    job_.facts = nullptr;
  }

  [[nodiscard]] const Job& job() const { return job_; }

  void store_results() {
    if (from_.result.on_device) {
      arrays_.store(from_.result, items_, result_, job_.result.width);
    } else {
      for (std::size_t i = 0; i < items_.size(); ++i) store_result_of(i);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) from_.status[items_[i]] = status_[i];
  }

 private:
  struct Hosted {
    limbs::Buffer limbs;
    std::vector<std::uint8_t> negative;
  };

  const Job& from_;
  Items items_;
  const ResidentArrays& arrays_;
  Job job_;
  std::size_t terms_;
  Hosted x_, y_, z_, modulus_;
  limbs::Buffer result_;
  std::vector<std::uint8_t> negative_;
  std::vector<ItemStatus> status_;

  // Integers that all items share are not copied.
  void bring(const BatchView& view, std::size_t terms, std::size_t width, BatchView& hosted,
             Hosted& storage) const {
    if (view.limbs == nullptr || view.count == 1 || (view.count == terms && !view.on_device)) return;
    if (view.on_device) {
      storage.limbs = arrays_.rows(view, items_, terms, width);
    } else {
      gather(view, terms, width, storage);
    }
    hosted = {storage.limbs.data(), items_.size() * terms, width, width,
              storage.negative.empty() ? nullptr : storage.negative.data()};
  }

  void gather(const BatchView& view, std::size_t terms, std::size_t width, Hosted& storage) const {
    const std::size_t count = items_.size() * terms;
    storage.limbs = limbs::Buffer(count * width);
    if (view.negative != nullptr) storage.negative.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = items_[i / terms] * terms + i % terms;
      std::copy_n(view.limbs + index * view.stride, width, storage.limbs.data() + i * width);
      if (view.negative != nullptr) storage.negative[i] = view.negative[index];
    }
  }

  void store_result_of(std::size_t i) {
    const std::size_t item = items_[i];
    if (status_[i] != ItemStatus::ok) return;
    limbs::copy_extend(from_.result.magnitude(item), job_.result.magnitude(i));
    if (from_.result.negative != nullptr) from_.result.negative[item] = negative_[i];
  }
};

class HostEngine final : public Engine {
 public:
  HostEngine(std::unique_ptr<const Engine> engine, const ResidentArrays& arrays)
      : engine_(std::move(engine)), arrays_(arrays) {}

  [[nodiscard]] bool accepts(const Job& job, std::size_t item) const override {
    if (!job.modulus.on_device) return engine_->accepts(job, item);
    // An engine may read only the parity of the modulus. The count of 2 shows that the items do not share one
    // modulus.
    const Limb parity = modulus_is_odd(job, item) ? 3 : 2;
    Job visible = job;
    visible.modulus = {&parity, 2, 1, 0, nullptr};
    return engine_->accepts(visible, item);
  }

  [[nodiscard]] std::unique_ptr<PreparedModulus> prepare(std::span<const Limb> modulus, Operation op,
                                                         TimingClass timing) const override {
    return engine_->prepare(modulus, op, timing);
  }

  [[nodiscard]] std::unique_ptr<PreparedBase> prepare_base(const BatchView& base,
                                                           std::span<const Limb> modulus,
                                                           std::size_t exponent_bits, TimingClass timing,
                                                           const StopToken& stop) const override {
    return engine_->prepare_base(base, modulus, exponent_bits, timing, stop);
  }

  [[nodiscard]] std::size_t chunk_granularity(const Job& job, std::size_t modulus_limbs) const override {
    return engine_->chunk_granularity(job, modulus_limbs);
  }

  [[nodiscard]] bool joins_rest(const Job& job, std::size_t modulus_limbs) const override {
    return engine_->joins_rest(job, modulus_limbs);
  }

  [[nodiscard]] double item_cost_ns(const Job& job, std::size_t modulus_limbs) const override {
    return engine_->item_cost_ns(job, modulus_limbs);
  }

  void run(const Job& job, Items items, std::size_t modulus_limbs) const override {
    const std::size_t most = items_per_run(job, modulus_limbs);
    for (std::size_t first = 0; first < items.size() && !job.stop.requested(); first += most) {
      run_some(job, items.subspan(first, std::min(most, items.size() - first)), modulus_limbs);
    }
  }

 private:
  std::unique_ptr<const Engine> engine_;
  const ResidentArrays& arrays_;

  // A multiple of the engine's granularity if that fits.
  [[nodiscard]] std::size_t items_per_run(const Job& job, std::size_t modulus_limbs) const {
    const std::size_t terms = std::max<std::size_t>(1, job.terms);
    const std::size_t bytes =
        ((job.x.width + job.y.width) * terms + job.z.width + 2 * modulus_limbs) * sizeof(Limb);
    const std::size_t granule = std::max<std::size_t>(1, engine_->chunk_granularity(job, modulus_limbs));
    const std::size_t granules = kHostedBytes / bytes / granule;
    return granules > 0 ? granules * granule : std::max<std::size_t>(1, kHostedBytes / bytes);
  }

  void run_some(const Job& job, Items items, std::size_t modulus_limbs) const {
    HostedItems hosted(job, items, modulus_limbs, arrays_);
    engine_->run(hosted.job(), Items::run(0, items.size()), modulus_limbs);
    hosted.store_results();
  }
};

}  // namespace

std::unique_ptr<Engine> through_host(std::unique_ptr<const Engine> engine, const ResidentArrays& arrays) {
  return std::make_unique<HostEngine>(std::move(engine), arrays);
}

}  // namespace manymod::gpu

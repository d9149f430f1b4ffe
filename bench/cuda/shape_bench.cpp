// SPDX-License-Identifier: Apache-2.0
#include "shape_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "gpu/program/window_choice.hpp"
#include "modmul/rns/form.hpp"

namespace manymod::bench {
namespace {

// The engine's choice for exponents of these lengths (gpu/engine/engine.cpp).
constexpr unsigned kWindow = 5;
constexpr std::uint32_t kFirstChain = 256;
constexpr std::uint32_t kLongestChain = 20000;
// Fewer blocks have to be faster by so much to be preferred.
constexpr double kWorthwhile = 1.01;

// Eighths of the items that the device works on at a time.
constexpr unsigned kBatchEighths[] = {1, 2, 4, 6, 8, 9, 12, 16, 24, 32};
constexpr Effort kBatchEffort{0.05, 1, 3};

}  // namespace

ShapeBench::ShapeBench(Session& session, const Instances& instances, Checker& checker,
                       const gpu::Technique& technique, const gpu::Shape& shape,
                       const gpu::DeviceBuffer& results)
    : session_(session),
      instances_(instances),
      checker_(checker),
      technique_(technique),
      run_(session.stream, instances, technique, shape, results),
      occupancy_(run_.occupancy()),
      limits_(pipe_limits(technique.name, instances.bits(), instances.one_modulus())) {
  if (occupancy_ == 0) {
    throw cuda::DriverError(cuda::Fault::other, static_cast<int>(session.stream.device().index()),
                            std::string(shape.kernel) + " does not fit a multiprocessor");
  }
}

std::string ShapeBench::title() const {
  const gpu::Shape& shape = run_.shape();
  return std::string(technique_.name) + " " + std::to_string(shape.threads) + "x" +
         std::to_string(shape.per_thread) + ", " + std::to_string(instances_.bits()) + " bits";
}

Json ShapeBench::row(const char* operation) const {
  const gpu::Shape& shape = run_.shape();
  Json r;
  r["operation"] = operation;
  r["bits"] = instances_.bits();
  r["technique"] = technique_.folder;
  r["form"] = technique_.name;
  r["kernel"] = shape.kernel;
  r["threads_per_instance"] = shape.threads;
  r["digits_per_thread"] = shape.per_thread;
  r["moduli"] = instances_.one_modulus() ? "shared" : "each";
  r["words"] = shape.words;
  r["registers"] = run_.kernel().registers();
  r["local_bytes"] = run_.kernel().local_bytes();
  r["occupancy"] = occupancy_;
  return r;
}

void ShapeBench::finish(Json row, const Result& result, Verdict verdict) {
  const double operations = static_cast<double>(result.items) * result.operations;
  // Chains are far longer than their set-up.
  const double rate = operations / std::max(result.timing.median - result.set_up, result.timing.median / 2);
  const unsigned processors = session_.stream.device().properties().multiprocessors;
  const double clocks = processors * result.timing.mhz * 1e6 / rate;
  row["instances"] = result.items;
  row["operations"] = result.operations;
  row["milliseconds"] = result.timing.median * 1e3;
  row["best_milliseconds"] = result.timing.best * 1e3;
  row["repetitions"] = result.timing.repetitions;
  row["mhz"] = result.timing.mhz;
  row["per_second"] = rate;
  row["clocks"] = clocks;
  set_limits(row, result, clocks);
  // Of random moduli fewer than one in a million is to be refused.
  if (const std::size_t refused = run_.refused(result.items); refused > 0) {
    verdict.add_wrong(std::to_string(refused) + " moduli are refused");
  }
  row["checked"] = verdict.checked;
  row["compared"] = verdict.compared;
  row["wrong"] = verdict.wrong;
  if (verdict.wrong > 0) {
    row["wrong_what"] = verdict.what;
    ++session_.wrong;
    std::printf("\nWRONG: %s: %s\n", title().c_str(), verdict.what.c_str());
  }
  session_.rows.push_back(std::move(row));
  session_.mhz.push_back(result.timing.mhz);
  session_.last_rate = rate;
}

void ShapeBench::set_limits(Json& row, const Result& result, double clocks) const {
  row["pipe"] = limits_.front().pipe;
  row["limit_clocks"] = result.limit_clocks.front();
  row["percent_of_limit"] = 100 * result.limit_clocks.front() / clocks;
  Json percents;
  for (std::size_t i = 0; i < limits_.size(); ++i) {
    percents[limits_[i].pipe] = 100 * result.limit_clocks[i] / clocks;
  }
  row["percent_of_pipes"] = percents;
  if (const double bytes = matrix_bytes_per_product() * result.products; bytes > 0) {
    row["matrix_bytes"] = bytes;
    row["matrix_bytes_per_clock"] = bytes / clocks;
  }
}

// What a block reads of its matrices from the second-level cache, by the items that share it; 0 where they
// stay in shared memory.
double ShapeBench::matrix_bytes_per_product() const {
  const gpu::Shape& shape = run_.shape();
  if (std::string_view(technique_.folder) != "rns") return 0;
  const bool resident = shape.block_shared_bytes >= rns::sizes_of(32 * shape.words).words_to_b();
  return resident ? 0 : rns_matrix_bytes(shape.words) * shape.threads / shape.block;
}

std::size_t ShapeBench::threads_of(unsigned blocks) const {
  const gpu::LaunchShape launch = run_.full_launch(blocks);
  return std::size_t{launch.grid} * launch.block;
}

ShapeBench::Choice ShapeBench::choose_blocks(const std::function<Timing(unsigned)>& measure) const {
  Choice choice{occupancy_, {}};
  if (session_.quick) return choice;
  double best = 0;
  for (unsigned blocks = occupancy_; blocks > 0 && blocks + 2 >= occupancy_; --blocks) {
    const double rate = static_cast<double>(run_.groups(blocks)) / measure(blocks).best;
    choice.tried[std::to_string(blocks)] = rate;
    if (rate <= best * kWorthwhile) continue;
    best = rate;
    choice.blocks = blocks;
  }
  return choice;
}

// So long that a launch takes 10 ms, or more where much is made of a modulus first.
std::uint32_t ShapeBench::chain_length() {
  const double usual = session_.quick ? 0.002 : 0.01;
  const double wanted = technique_.constants == nullptr ? usual : 5 * usual;
  run_.load(gpu::repeated_square_program(kFirstChain), threads_of(occupancy_));
  const auto queue = [&] { run_.queue_program(run_.full_launch(occupancy_), run_.groups(occupancy_)); };
  const double steps = kFirstChain * wanted / session_.timer.measure(queue, {0, 1, 1}).best;
  // Odd: Checker::products
  return static_cast<std::uint32_t>(std::clamp<double>(steps, kFirstChain, kLongestChain)) | 1;
}

void ShapeBench::measure_chains() {
  const std::uint32_t steps = chain_length();
  run_.load(gpu::repeated_square_program(steps), threads_of(occupancy_));
  const Choice choice = choose_blocks([&](unsigned blocks) {
    const auto queue = [&] { run_.queue_program(run_.full_launch(blocks), run_.groups(blocks)); };
    return session_.timer.measure(queue, {0, 1, 1});
  });
  measure_chain(false, choice, steps);
  measure_chain(true, choice, steps);
}

Timing ShapeBench::time_chain(bool squares, const Choice& choice, std::uint32_t steps, const Effort& effort) {
  run_.load(squares ? gpu::repeated_square_program(steps) : gpu::repeated_product_program(steps),
            threads_of(choice.blocks));
  const auto queue = [&] { run_.queue_program(run_.full_launch(choice.blocks), run_.groups(choice.blocks)); };
  return session_.timer.measure(queue, effort);
}

// Techniques that make constants of each modulus are timed without that: less a chain of one step.
void ShapeBench::measure_chain(bool squares, const Choice& choice, std::uint32_t steps) {
  const std::size_t items = run_.groups(choice.blocks);
  Timing set_up;
  if (technique_.constants != nullptr) set_up = time_chain(squares, choice, 1, {0.02, 1, 5});
  const Timing timing = time_chain(squares, choice, steps, session_.effort());
  const Words results = run_.results(items);
  const Words& radix_squared = run_.radix_squared();
  const Verdict verdict = squares ? checker_.squares(results, radix_squared, steps)
                                  : checker_.products(results, radix_squared, steps);
  const std::uint32_t counted = technique_.constants == nullptr ? steps : steps - 1;
  Result result{timing, items, static_cast<double>(counted), 1, set_up.median, {}};
  for (const PipeLimit& limit : limits_) result.limit_clocks.push_back(squares ? limit.sqr : limit.mul);
  Json r = row(squares ? "sqr" : "mul");
  if (technique_.constants != nullptr) r["set_up_milliseconds"] = set_up.median * 1e3;
  r["block"] = run_.shape().block;
  r["blocks"] = choice.blocks;
  r["blocks_tried"] = choice.tried;
  finish(std::move(r), result, verdict);
  std::printf("  %s %.1f M/s", squares ? "sqr" : "mul", session_.last_rate * 1e-6);
}

gpu::Program ShapeBench::power_program(unsigned window, bool secret) const {
  return gpu::fixed_window_program(run_.shape().radix_bits, instances_.bits(), window, secret);
}

ShapeBench::Result ShapeBench::power_result(const gpu::Program& program, const Timing& timing,
                                            std::size_t items) const {
  std::uint64_t squarings = 0, multiplications = 0;
  for (const gpu::Step& step : program.steps) {
    squarings += step.squarings;
    multiplications += step.multiplications;
  }
  const auto sqr = static_cast<double>(squarings), mul = static_cast<double>(multiplications);
  Result result{timing, items, 1, sqr + mul, 0, {}};
  for (const PipeLimit& limit : limits_) result.limit_clocks.push_back(sqr * limit.sqr + mul * limit.mul);
  return result;
}

unsigned ShapeBench::engine_window(bool secret) const {
  return gpu::window_bits(run_.shape(), instances_.bits(), secret, run_.groups(occupancy_));
}

// Where secret tables are read whole for each digit, narrow windows are favoured.
std::vector<unsigned> ShapeBench::windows(bool secret) const {
  if (!session_.windows.empty()) return session_.windows;
  if (session_.quick || instances_.bits() > kWidestUsual) return {engine_window(secret)};
  std::vector<unsigned> windows{4, 5};
  if (secret) windows.insert(windows.begin(), 3);
  if (!secret && instances_.bits() >= 1536) windows.push_back(6);
  if (std::ranges::find(windows, engine_window(secret)) == windows.end()) {
    windows.push_back(engine_window(secret));
  }
  return windows;
}

void ShapeBench::queue_power(const gpu::LaunchShape& launch, std::size_t items) const {
  run_.queue_start(items);
  run_.queue_program(launch, items);
}

void ShapeBench::measure_powers() {
  for (const bool secret : {false, true}) {
    run_.load(power_program(kWindow, secret), threads_of(occupancy_));
    const Choice choice = choose_blocks([&](unsigned blocks) {
      const auto queue = [&] { queue_power(run_.full_launch(blocks), run_.groups(blocks)); };
      return session_.timer.measure(queue, {0, 1, 1});
    });
    for (const unsigned window : windows(secret)) measure_power(window, secret, choice);
  }
}

void ShapeBench::measure_power(unsigned window, bool secret, const Choice& choice) {
  const std::size_t items = run_.groups(choice.blocks) * power_waves(instances_.bits());
  const gpu::Program program = power_program(window, secret);
  run_.load(program, threads_of(choice.blocks));
  const Timing start = session_.timer.measure([&] { run_.queue_start(items); }, {0, 1, 1});
  const auto queue = [&] { queue_power(run_.full_launch(choice.blocks), items); };
  const Timing timing = session_.timer.measure(queue, session_.effort());
  const Verdict verdict = checker_.powers(run_.results(items));
  Json r = row("power");
  r["window_bits"] = window;
  r["timing_class"] = secret ? "secret" : "public";
  r["engine_window"] = window == engine_window(secret);
  r["start_milliseconds"] = start.best * 1e3;
  r["block"] = run_.shape().block;
  r["blocks"] = choice.blocks;
  r["blocks_tried"] = choice.tried;
  finish(std::move(r), power_result(program, timing, items), verdict);
  std::printf("  w%u%s %.1f k/s", window, secret ? "s" : "",
              static_cast<double>(items) / timing.median * 1e-3);
}

void ShapeBench::measure_batches() {
  const unsigned window = windows(false).front();
  const gpu::Program program = power_program(window, false);
  const std::size_t wave = run_.groups(occupancy_);
  std::printf("\n%-34s batches", title().c_str());
  for (const unsigned eighths : kBatchEighths) {
    if (eighths > 8 * most_waves(instances_.bits())) continue;
    const std::size_t items = wave * eighths / 8;
    const gpu::LaunchShape launch = run_.launch_for(items);
    run_.load(program, std::size_t{launch.grid} * launch.block);
    const Timing timing = session_.timer.measure([&] { queue_power(launch, items); }, kBatchEffort);
    const Verdict verdict = checker_.powers(run_.results(items));
    Json r = row("batch");
    r["window_bits"] = window;
    r["timing_class"] = "public";
    r["waves"] = eighths / 8.0;
    r["block"] = launch.block;
    r["grid"] = launch.grid;
    finish(std::move(r), power_result(program, timing, items), verdict);
    std::printf("  %zu: %.1f k/s", items, static_cast<double>(items) / timing.median * 1e-3);
  }
}

void ShapeBench::compute_others() {
  const std::size_t items = instances_.count();
  const gpu::LaunchShape launch = run_.launch_for(items);
  run_.load(power_program(kWindow, false), std::size_t{launch.grid} * launch.block);
  queue_power(launch, items);
  if (const Verdict verdict = checker_.powers(run_.results(items)); verdict.wrong > 0) {
    throw std::runtime_error(title() + ": " + verdict.what);
  }
}

void ShapeBench::measure_latency(const std::vector<std::size_t>& batches) {
  const gpu::Program program = power_program(kWindow, true);
  std::printf("%-34s latency", title().c_str());
  for (const std::size_t items : batches) {
    const gpu::LaunchShape launch = run_.launch_for(items);
    run_.load(program, std::size_t{launch.grid} * launch.block);
    const Timing timing = session_.timer.measure([&] { queue_power(launch, items); }, session_.effort());
    const Verdict verdict = checker_.powers(run_.results(items));
    Json r = row("latency");
    r["window_bits"] = kWindow;
    r["timing_class"] = "secret";
    r["block"] = launch.block;
    r["grid"] = launch.grid;
    finish(std::move(r), power_result(program, timing, items), verdict);
    std::printf("  %zu: %.3f ms", items, timing.median * 1e3);
  }
  std::printf("\n");
}

void ShapeBench::measure_sustained(std::size_t items) {
  struct Runs {
    unsigned warm_up, timed;
  };
  const gpu::Program program = power_program(kWindow, true);
  const gpu::LaunchShape launch = run_.launch_for(items);
  std::printf("%-34s sustained", title().c_str());
  for (const Runs runs : {Runs{1, 4}, Runs{100, 20}}) {
    run_.load(program, std::size_t{launch.grid} * launch.block);
    const auto queue = [&] { queue_power(launch, items); };
    const Timing timing = session_.timer.measure_after(queue, runs.warm_up, runs.timed);
    const Verdict verdict = checker_.powers(run_.results(items));
    Json r = row("sustained");
    r["window_bits"] = kWindow;
    r["timing_class"] = "secret";
    r["warm_up_runs"] = runs.warm_up;
    r["block"] = launch.block;
    r["grid"] = launch.grid;
    finish(std::move(r), power_result(program, timing, items), verdict);
    std::printf("  after %u: %.1f k/s", runs.warm_up, static_cast<double>(items) / timing.median * 1e-3);
  }
  std::printf("\n");
}

void ShapeBench::measure_small_grid() {
  constexpr unsigned kBlocks = 64;
  const std::uint32_t steps = session_.quick ? 1001 : 10001;  // odd: Checker::products
  const gpu::LaunchShape launch = run_.launch_of(kBlocks, kSmallGridItems / kBlocks);
  run_.load(gpu::repeated_product_program(steps), kSmallGridItems);
  const auto queue = [&] { run_.queue_program(launch, kSmallGridItems); };
  const Timing timing = session_.timer.measure(queue, session_.effort());
  const Verdict verdict = checker_.products(run_.results(kSmallGridItems), run_.radix_squared(), steps);
  Json r = row("mul_1024");
  r["block"] = launch.block;
  r["grid"] = launch.grid;
  Result result{timing, kSmallGridItems, static_cast<double>(steps), 1, 0, {}};
  for (const PipeLimit& limit : limits_) result.limit_clocks.push_back(limit.mul);
  finish(std::move(r), result, verdict);
}

void ShapeBench::launch_for_profile() {
  constexpr std::uint32_t kSteps = 1000;
  for (const bool squares : {false, true}) {
    run_.load(squares ? gpu::repeated_square_program(kSteps) : gpu::repeated_product_program(kSteps),
              threads_of(occupancy_));
    run_.queue_program(run_.full_launch(occupancy_), run_.groups(occupancy_));
    session_.stream.synchronize();
  }
  run_.load(power_program(engine_window(true), true), threads_of(occupancy_));
  queue_power(run_.full_launch(occupancy_), run_.groups(occupancy_));
  session_.stream.synchronize();
}

}  // namespace manymod::bench

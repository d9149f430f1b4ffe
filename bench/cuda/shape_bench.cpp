// SPDX-License-Identifier: Apache-2.0
#include "shape_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "pipe_limits.hpp"

namespace manymod::bench {
namespace {

// The engine's choice for exponents of these lengths (modmul/device/engine.cpp).
constexpr unsigned kWindow = 5;
constexpr std::uint32_t kFirstChain = 256;
constexpr std::uint32_t kLongestChain = 20000;
// Fewer blocks have to be faster by so much to be preferred.
constexpr double kWorthwhile = 1.01;

// Secret tables are read whole for each digit, which favours narrow windows.
std::vector<unsigned> windows_for(unsigned bits, bool secret, bool quick) {
  if (quick) return {kWindow};
  if (secret) return {3, 4, 5};
  return bits < 1536 ? std::vector<unsigned>{4, 5} : std::vector<unsigned>{4, 5, 6};
}

}  // namespace

ShapeBench::ShapeBench(Session& session, const Instances& instances, Checker& checker,
                       const device::Technique& technique, const device::Shape& shape,
                       const cuda::DeviceBuffer& results)
    : session_(session),
      instances_(instances),
      checker_(checker),
      technique_(technique),
      run_(session.stream, instances, shape, results),
      occupancy_(run_.occupancy()) {
  if (occupancy_ == 0) {
    throw cuda::DriverError(cuda::Fault::other, static_cast<int>(session.stream.device().index()),
                            std::string(shape.kernel) + " does not fit a multiprocessor");
  }
}

std::string ShapeBench::title() const {
  const device::Shape& shape = run_.shape();
  return std::string(technique_.name) + " " + std::to_string(shape.threads) + "x" +
         std::to_string(shape.per_thread) + ", " + std::to_string(instances_.bits()) + " bits";
}

JsonObject ShapeBench::row(const char* operation) const {
  const device::Shape& shape = run_.shape();
  JsonObject r;
  r.set("operation", operation).set("bits", instances_.bits());
  r.set("technique", technique_.folder).set("form", technique_.name).set("kernel", shape.kernel);
  r.set("threads_per_instance", shape.threads).set("digits_per_thread", shape.per_thread);
  r.set("words", shape.words).set("registers", run_.kernel().registers());
  r.set("local_bytes", run_.kernel().local_bytes()).set("occupancy", occupancy_);
  return r;
}

void ShapeBench::finish(JsonObject row, const Result& result, const Verdict& verdict) {
  const double operations = static_cast<double>(result.items) * result.operations;
  const double rate = operations / result.timing.median;
  const unsigned processors = session_.stream.device().properties().multiprocessors;
  const double clocks = processors * result.timing.mhz * 1e6 / rate;
  row.set("instances", result.items).set("operations", result.operations);
  row.set("milliseconds", result.timing.median * 1e3).set("best_milliseconds", result.timing.best * 1e3);
  row.set("repetitions", result.timing.repetitions).set("mhz", result.timing.mhz);
  row.set("per_second", rate).set("clocks", clocks);
  const std::string_view pipe = pipe_limit(technique_.name, instances_.bits()).pipe;
  row.set("pipe", pipe).set("limit_clocks", result.limit_clocks);
  row.set("percent_of_limit", 100 * result.limit_clocks / clocks);
  row.set("checked", verdict.checked).set("compared", verdict.compared);
  row.set("wrong", verdict.wrong);
  if (verdict.wrong > 0) {
    row.set("wrong_what", verdict.what);
    ++session_.wrong;
    std::printf("\nWRONG: %s: %s\n", title().c_str(), verdict.what.c_str());
  }
  session_.rows.push_back(std::move(row));
  session_.mhz.push_back(result.timing.mhz);
}

std::size_t ShapeBench::threads_of(unsigned blocks) const {
  const cuda::LaunchShape launch = run_.full_launch(blocks);
  return std::size_t{launch.grid} * launch.block;
}

ShapeBench::Choice ShapeBench::choose_blocks(const std::function<Timing(unsigned)>& measure) const {
  Choice choice{occupancy_, {}};
  if (session_.quick) return choice;
  double best = 0;
  for (unsigned blocks = occupancy_; blocks > 0 && blocks + 2 >= occupancy_; --blocks) {
    const double rate = static_cast<double>(run_.groups(blocks)) / measure(blocks).best;
    choice.tried.set(std::to_string(blocks), rate);
    if (rate <= best * kWorthwhile) continue;
    best = rate;
    choice.blocks = blocks;
  }
  return choice;
}

// So long that a launch takes 10 ms.
std::uint32_t ShapeBench::chain_length() {
  const double wanted = session_.quick ? 0.002 : 0.01;
  run_.load(device::repeated_square_program(kFirstChain), threads_of(occupancy_));
  const auto queue = [&] { run_.queue_program(run_.full_launch(occupancy_), run_.groups(occupancy_)); };
  const double steps = kFirstChain * wanted / session_.timer.measure(queue, {0, 1, 1}).best;
  return static_cast<std::uint32_t>(std::clamp<double>(steps, kFirstChain, kLongestChain));
}

void ShapeBench::measure_chains() {
  const std::uint32_t steps = chain_length();
  run_.load(device::repeated_square_program(steps), threads_of(occupancy_));
  const Choice choice = choose_blocks([&](unsigned blocks) {
    const auto queue = [&] { run_.queue_program(run_.full_launch(blocks), run_.groups(blocks)); };
    return session_.timer.measure(queue, {0, 1, 1});
  });
  measure_chain(false, choice, steps);
  measure_chain(true, choice, steps);
}

void ShapeBench::measure_chain(bool squares, const Choice& choice, std::uint32_t steps) {
  const std::size_t items = run_.groups(choice.blocks);
  const std::uint32_t radix_bits = run_.shape().radix_bits;
  run_.load(squares ? device::repeated_square_program(steps) : device::repeated_product_program(steps),
            threads_of(choice.blocks));
  const auto queue = [&] { run_.queue_program(run_.full_launch(choice.blocks), items); };
  const Timing timing = session_.timer.measure(queue, session_.effort());
  const std::vector<std::uint32_t> results = run_.results(items);
  const Verdict verdict =
      squares ? checker_.squares(results, radix_bits, steps) : checker_.products(results, radix_bits, steps);
  const PipeLimit limit = pipe_limit(technique_.name, instances_.bits());
  const Result result{timing, items, static_cast<double>(steps), squares ? limit.sqr : limit.mul};
  JsonObject r = row(squares ? "sqr" : "mul");
  r.set("block", run_.shape().block).set("blocks", choice.blocks).set("blocks_tried", choice.tried);
  finish(std::move(r), result, verdict);
  std::printf("  %s %.1f M/s", squares ? "sqr" : "mul",
              static_cast<double>(items) * steps / timing.median * 1e-6);
}

device::Program ShapeBench::power_program(unsigned window, bool secret) const {
  return device::fixed_window_program(run_.shape().radix_bits, instances_.bits(), window, secret);
}

double ShapeBench::power_limit(const device::Program& program) const {
  const PipeLimit limit = pipe_limit(technique_.name, instances_.bits());
  double clocks = 0;
  for (const device::Step& step : program.steps) {
    clocks += step.squarings * limit.sqr + step.multiplications * limit.mul;
  }
  return clocks;
}

void ShapeBench::queue_power(const cuda::LaunchShape& launch, std::size_t items) const {
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
    for (const unsigned window : windows_for(instances_.bits(), secret, session_.quick)) {
      measure_power(window, secret, choice);
    }
  }
}

void ShapeBench::measure_power(unsigned window, bool secret, const Choice& choice) {
  const std::size_t items = run_.groups(choice.blocks) * power_waves(instances_.bits());
  const device::Program program = power_program(window, secret);
  run_.load(program, threads_of(choice.blocks));
  const Timing start = session_.timer.measure([&] { run_.queue_start(items); }, {0, 1, 1});
  const auto queue = [&] { queue_power(run_.full_launch(choice.blocks), items); };
  const Timing timing = session_.timer.measure(queue, session_.effort());
  const Verdict verdict = checker_.powers(run_.results(items));
  JsonObject r = row("power");
  r.set("window_bits", window).set("timing_class", secret ? "secret" : "public");
  r.set("start_milliseconds", start.best * 1e3);
  r.set("block", run_.shape().block).set("blocks", choice.blocks).set("blocks_tried", choice.tried);
  finish(std::move(r), {timing, items, 1, power_limit(program)}, verdict);
  std::printf("  w%u%s %.1f k/s", window, secret ? "s" : "",
              static_cast<double>(items) / timing.median * 1e-3);
}

void ShapeBench::measure_latency(const std::vector<std::size_t>& batches) {
  const device::Program program = power_program(kWindow, true);
  std::printf("%-34s latency", title().c_str());
  for (const std::size_t items : batches) {
    const cuda::LaunchShape launch = run_.launch_for(items);
    run_.load(program, std::size_t{launch.grid} * launch.block);
    const Timing timing = session_.timer.measure([&] { queue_power(launch, items); }, session_.effort());
    const Verdict verdict = checker_.powers(run_.results(items));
    JsonObject r = row("latency");
    r.set("window_bits", kWindow).set("timing_class", "secret");
    r.set("block", launch.block).set("grid", launch.grid);
    finish(std::move(r), {timing, items, 1, power_limit(program)}, verdict);
    std::printf("  %zu: %.3f ms", items, timing.median * 1e3);
  }
  std::printf("\n");
}

void ShapeBench::measure_sustained(std::size_t items) {
  struct Runs {
    unsigned warm_up, timed;
  };
  const device::Program program = power_program(kWindow, true);
  const cuda::LaunchShape launch = run_.launch_for(items);
  std::printf("%-34s sustained", title().c_str());
  for (const Runs runs : {Runs{1, 4}, Runs{100, 20}}) {
    run_.load(program, std::size_t{launch.grid} * launch.block);
    const auto queue = [&] { queue_power(launch, items); };
    const Timing timing = session_.timer.measure_after(queue, runs.warm_up, runs.timed);
    const Verdict verdict = checker_.powers(run_.results(items));
    JsonObject r = row("sustained");
    r.set("window_bits", kWindow).set("timing_class", "secret").set("warm_up_runs", runs.warm_up);
    r.set("block", launch.block).set("grid", launch.grid);
    finish(std::move(r), {timing, items, 1, power_limit(program)}, verdict);
    std::printf("  after %u: %.1f k/s", runs.warm_up, static_cast<double>(items) / timing.median * 1e-3);
  }
  std::printf("\n");
}

void ShapeBench::measure_small_grid() {
  constexpr unsigned kBlocks = 64;
  const std::uint32_t steps = session_.quick ? 1000 : 10000;
  const cuda::LaunchShape launch = run_.launch_of(kBlocks, kSmallGridItems / kBlocks);
  run_.load(device::repeated_product_program(steps), kSmallGridItems);
  const auto queue = [&] { run_.queue_program(launch, kSmallGridItems); };
  const Timing timing = session_.timer.measure(queue, session_.effort());
  const Verdict verdict = checker_.products(run_.results(kSmallGridItems), run_.shape().radix_bits, steps);
  JsonObject r = row("mul_1024");
  r.set("block", launch.block).set("grid", launch.grid);
  const double limit = pipe_limit(technique_.name, instances_.bits()).mul;
  finish(std::move(r), {timing, kSmallGridItems, static_cast<double>(steps), limit}, verdict);
}

void ShapeBench::launch_for_profile() {
  constexpr std::uint32_t kSteps = 1000;
  for (const bool squares : {false, true}) {
    run_.load(squares ? device::repeated_square_program(kSteps) : device::repeated_product_program(kSteps),
              threads_of(occupancy_));
    run_.queue_program(run_.full_launch(occupancy_), run_.groups(occupancy_));
    session_.stream.synchronize();
  }
}

}  // namespace manymod::bench

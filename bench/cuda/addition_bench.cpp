// SPDX-License-Identifier: Apache-2.0
#include "addition_bench.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "addition_job.hpp"

// The compiled additions.cu, put into the program.
asm(".pushsection .rodata, \"a\"\n.balign 64\nmm_bench_additions:\n.incbin \"" MM_BENCH_ADDITIONS
    "\"\n.byte 0\n.popsection");
extern "C" const unsigned char mm_bench_additions[];

namespace manymod::bench {
namespace {

constexpr unsigned kBlock = 128;
constexpr unsigned kPaperBlocks = 64;
constexpr std::size_t kPaperItems = 1024;
constexpr unsigned kWidths[] = {160, 192, 224, 256, 384};

}  // namespace

AdditionBench::AdditionBench(Session& session, const Options& options)
    : session_(session), options_(options) {
  cuda::Device& device = session.stream.device();
  device.call(device.api().module_load_data, &module_, static_cast<const void*>(mm_bench_additions));
}

cuda::Kernel AdditionBench::kernel(const std::string& name) const {
  cuda::Device& device = session_.stream.device();
  cuda::FunctionHandle function = nullptr;
  device.call(device.api().module_get_function, &function, module_, name.c_str());
  return {device, function, name};
}

void AdditionBench::measure(const Instances& instances, const Checker& checker,
                            const gpu::DeviceBuffer& results) {
  if (std::ranges::find(kWidths, instances.bits()) == std::end(kWidths)) return;
#define FORM(name, digit_bits, place) Form{#name, digit_bits, std::string_view(#place) == "InSharedMemory"},
  const Form forms[] = {MM_BENCH_ADDITION_FORMS(FORM)};
#undef FORM
  for (const Form& form : forms) {
    if (options_.wants_technique("fios", std::string("fios.") + form.name)) {
      measure_form(form, instances, checker, results);
    }
  }
}

void AdditionBench::measure_form(const Form& form, const Instances& instances, const Checker& checker,
                                 const gpu::DeviceBuffer& results) {
  const std::string name =
      "bench_add_" + std::string(form.name) + "_" + std::to_string(instances.bits() / 32);
  const cuda::Kernel adding = kernel(name);
  const std::size_t shared =
      form.shared ? std::size_t{3} * instances.bits() / form.digit_bits * sizeof(std::uint32_t) : 0;
  const unsigned occupancy = adding.blocks_per_multiprocessor(kBlock, shared * kBlock);
  const unsigned blocks =
      std::min<unsigned>(occupancy * session_.stream.device().properties().multiprocessors,
                         static_cast<unsigned>(instances.count() / kBlock) - 1);
  Json about;
  about["bits"] = instances.bits();
  about["technique"] = "fios";
  about["form"] = std::string("fios.") + form.name;
  about["kernel"] = name;
  about["registers"] = adding.registers();
  about["local_bytes"] = adding.local_bytes();
  const gpu::LaunchShape full{blocks, kBlock, shared * kBlock};
  const unsigned paper_block = kPaperItems / kPaperBlocks;
  const gpu::LaunchShape paper{kPaperBlocks, paper_block, shared * paper_block};
  std::printf("%-26s", name.c_str());
  for (const Run& run :
       {Run{"add", false, full, std::size_t{blocks} * kBlock},
        Run{"sub", true, full, std::size_t{blocks} * kBlock}, Run{"add_1024", false, paper, kPaperItems},
        Run{"sub_1024", true, paper, kPaperItems}}) {
    measure_run(run, about, adding, instances, checker, results);
  }
  std::printf("\n");
}

void AdditionBench::measure_run(const Run& run, const Json& about, const cuda::Kernel& kernel,
                                const Instances& instances, const Checker& checker,
                                const gpu::DeviceBuffer& results) {
  AdditionJob job{};
  // Below the modulus, which has its top bit set; and the next item's, for another number.
  job.x = instances.factor().on_device.as<std::uint32_t>();
  job.y = job.x + instances.width();
  job.n = instances.modulus().on_device.as<std::uint32_t>();
  job.result = results.as<std::uint32_t>();
  job.width = instances.width();
  job.count = static_cast<std::uint32_t>(run.items);
  job.steps = session_.quick ? 1000 : 10000;
  job.subtract = run.subtract ? 1 : 0;
  session_.stream.set_bytes(results.data(), 0, results.bytes());
  const Timing timing =
      session_.timer.measure([&] { kernel.launch(session_.stream, run.launch, job); }, session_.effort());
  std::vector<std::uint32_t> words(run.items * instances.width());
  session_.stream.copy_to_host(words.data(), results.data(), words.size() * sizeof(std::uint32_t));
  session_.stream.synchronize();
  const Verdict verdict = checker.sums(words, job.steps, run.subtract);
  const double operations = static_cast<double>(run.items) * job.steps;
  Json row;
  row["operation"] = run.operation;
  row.update(about);
  row["block"] = run.launch.block;
  row["grid"] = run.launch.grid;
  row["instances"] = run.items;
  row["operations"] = job.steps;
  row["milliseconds"] = timing.median * 1e3;
  row["repetitions"] = timing.repetitions;
  row["mhz"] = timing.mhz;
  row["per_second"] = operations / timing.median;
  row["checked"] = verdict.checked;
  row["compared"] = verdict.compared;
  row["wrong"] = verdict.wrong;
  if (verdict.wrong > 0) {
    row["wrong_what"] = verdict.what;
    ++session_.wrong;
    std::printf("\nWRONG: %s %s: %s\n", run.operation, kernel.name().c_str(), verdict.what.c_str());
  }
  session_.rows.push_back(std::move(row));
  std::printf("  %s %.2f G/s", run.operation, operations / timing.median * 1e-9);
}

}  // namespace manymod::bench

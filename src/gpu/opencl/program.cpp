// SPDX-License-Identifier: Apache-2.0
#include "gpu/opencl/program.hpp"

#include <algorithm>
#include <string_view>

namespace manymod::opencl {
namespace {

constexpr std::string_view kOwnKernels = "gpu/opencl/kernels/", kOwn = "mm_";
constexpr std::size_t kMostLog = 2000;  // characters of a compiler's messages in an error

// The source of kernel "mm_<rest>"; empty if there is none.
std::string_view own_source(std::string_view name, std::span<const KernelSource> sources) {
  if (!name.starts_with(kOwn)) return {};
  const std::string_view rest = name.substr(kOwn.size());
  for (const KernelSource& source : sources) {
    if (source.name.starts_with(kOwnKernels) && rest.starts_with(source.name.substr(kOwnKernels.size()))) {
      return source.name;
    }
  }
  return {};
}

}  // namespace

/// How one kernel is built.
struct ProgramBuilder::Recipe {
  std::string kernel;
  std::string_view source;
  std::string options;
};

ProgramBuilder::Recipe ProgramBuilder::recipe(const gpu::KernelId& id) const {
  const std::string_view source = id.source.empty() ? own_source(id.name, sources_) : id.source;
  const auto found = std::ranges::find(sources_, source, &KernelSource::name);
  if (found == sources_.end()) throw BuildFailure("this build of manymod has no kernel " + id.name);
  Recipe recipe{id.name, found->text, "-cl-std=CL1.2 -DMM_KERNEL=" + id.name + id.definitions};
  if (device_.is_cpu) recipe.options += " -DMM_ON_CPU=1";
  return recipe;
}

KernelHandle ProgramBuilder::kernel(const gpu::KernelId& id) const {
  const Recipe how = recipe(id);
  const ProgramHandle program = build(how);
  Status status = kSuccess;
  const KernelHandle kernel = api_.create_kernel(program, id.name.c_str(), &status);
  api_.release_program(program);  // a kernel keeps it
  check(api_.create_kernel.name(), status);
  return kernel;
}

ProgramHandle ProgramBuilder::build(const Recipe& recipe) const {
  const Sha256Digest key = key_of(recipe);
  if (const auto binary = cache_.load(key)) {
    if (const ProgramHandle program = from_binary(recipe, *binary)) return program;
    cache_.remove(key);
  }
  const ProgramHandle program = from_source(recipe);
  if (const std::vector<std::uint8_t> binary = binary_of(program); !binary.empty()) cache_.store(key, binary);
  return program;
}

// All that a binary may depend on. Each text is preceded by its length, so that different lists of texts
// never hash alike.
Sha256Digest ProgramBuilder::key_of(const Recipe& recipe) const {
  Sha256Sum hash;
  for (const std::string_view text :
       {std::string_view(device_.platform_name), std::string_view(device_.vendor),
        std::string_view(device_.name), std::string_view(device_.version),
        std::string_view(device_.driver_version), std::string_view(recipe.options), recipe.source}) {
    hash.add(std::to_string(text.size()) + ":");
    hash.add(text);
  }
  return hash.digest();
}

ProgramHandle ProgramBuilder::from_binary(const Recipe& recipe, std::span<const std::uint8_t> binary) const {
  const DeviceHandle device = device_.handle;
  const unsigned char* binaries[] = {binary.data()};
  const std::size_t bytes = binary.size();
  Status taken = kSuccess, status = kSuccess;
  const ProgramHandle program =
      api_.create_program_with_binary(context_, 1, &device, &bytes, binaries, &taken, &status);
  if (status != kSuccess || program == nullptr) return nullptr;
  if (taken == kSuccess &&
      api_.build_program(program, 1, &device, recipe.options.c_str(), nullptr, nullptr) == kSuccess) {
    return program;
  }
  api_.release_program(program);
  return nullptr;
}

std::vector<std::uint8_t> ProgramBuilder::binary_of(ProgramHandle program) const {
  std::size_t bytes = 0;
  if (api_.get_program_info(program, kProgramBinarySizes, sizeof bytes, &bytes, nullptr) != kSuccess)
    return {};
  std::vector<std::uint8_t> binary(bytes);
  std::uint8_t* data = binary.data();
  if (bytes == 0 || api_.get_program_info(program, kProgramBinaries, sizeof data, static_cast<void*>(&data),
                                          nullptr) != kSuccess)
    return {};
  return binary;
}

ProgramHandle ProgramBuilder::from_source(const Recipe& recipe) const {
  const char* const text = recipe.source.data();
  const char* texts[] = {text};
  const std::size_t lengths[] = {recipe.source.size()};
  Status status = kSuccess;
  const ProgramHandle program =
      api_.create_program_with_source(context_, 1, texts, static_cast<const std::size_t*>(lengths), &status);
  check(api_.create_program_with_source.name(), status);
  const DeviceHandle device = device_.handle;
  status = api_.build_program(program, 1, &device, recipe.options.c_str(), nullptr, nullptr);
  if (status == kSuccess) return program;
  const std::string log = log_of(program);
  api_.release_program(program);
  // A compiler that has too little memory now may have enough at the next call.
  if (fault_of(status) == Fault::out_of_memory) check(api_.build_program.name(), status);
  throw BuildFailure("the driver cannot compile " + recipe.kernel + " (" + status_name(status) + "): " + log);
}

std::string ProgramBuilder::log_of(ProgramHandle program) const {
  std::size_t bytes = 0;
  if (api_.get_build_info(program, device_.handle, kBuildLog, 0, nullptr, &bytes) != kSuccess) return {};
  std::string log(bytes, '\0');
  if (api_.get_build_info(program, device_.handle, kBuildLog, bytes, log.data(), nullptr) != kSuccess) {
    return {};
  }
  log.resize(std::min(log.find('\0'), std::min(bytes, kMostLog)));
  return log;
}

}  // namespace manymod::opencl

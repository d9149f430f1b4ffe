// SPDX-License-Identifier: Apache-2.0
// The library ignores its environment variables in a process with privileges of its own. Run as root, the
// program copies itself to a set-user-ID file of another user and runs that, with variables that would make
// its calls fail.
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "manymod/manymod.h"

namespace {

constexpr uid_t kNobody = 65534;

int skip(const char* why) {
  std::printf("skipped: %s\n", why);
  return 0;
}

/// What the set-user-ID copy does: a call that fails if any of the variables is read.
int create_plan() {
  if (getauxval(AT_SECURE) == 0) return skip("the file system ignores set-user-ID bits");
  mm_plan_options options{};
  options.struct_size = sizeof options;
  options.modulus_bits = 256;
  mm_plan* plan = nullptr;
  if (mm_plan_create(&options, &plan) != MM_OK) {
    std::printf("failed: %s\n", mm_last_error());
    return 1;
  }
  mm_plan_destroy(plan);
  mm_device_info cpu{};
  cpu.struct_size = sizeof cpu;
  if (mm_device_get(0, &cpu) != MM_OK ||
      std::string_view(cpu.features).find("MANYMOD_HIDE_CPU") != std::string_view::npos) {
    std::printf("failed: MANYMOD_HIDE_CPU is read\n");
    return 1;
  }
  std::puts("ok");
  return 0;
}

int run_copy(const std::filesystem::path& program) {
  const pid_t child = fork();
  if (child == 0) {
    std::string name = program.string();
    std::string tuning = "MANYMOD_TUNING=/etc/passwd";
    std::string variant = "MANYMOD_VARIANT=none";
    std::string hidden = "MANYMOD_HIDE_CPU=nonsense";
    std::string role = "child";
    char* const arguments[] = {name.data(), role.data(), nullptr};
    char* const environment[] = {tuning.data(), variant.data(), hidden.data(), nullptr};
    execve(name.c_str(), arguments, environment);
    std::_Exit(skip("the copy cannot be run"));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

}  // namespace

int main(int count, char**) {
  if (count > 1) return create_plan();
  if (geteuid() != 0) return skip("only root can make a set-user-ID file of another user");
  std::string folder = (std::filesystem::temp_directory_path() / "manymod-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr || chmod(folder.c_str(), 0755) != 0) return 1;
  const std::filesystem::path program = std::filesystem::path(folder) / "program";
  std::filesystem::copy_file("/proc/self/exe", program);
  int result = 1;
  if (chown(program.c_str(), kNobody, static_cast<gid_t>(-1)) == 0 && chmod(program.c_str(), 04755) == 0) {
    std::fflush(stdout);
    result = run_copy(program);
  }
  std::filesystem::remove_all(folder);
  return result;
}

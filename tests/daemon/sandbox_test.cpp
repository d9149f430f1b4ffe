// SPDX-License-Identifier: Apache-2.0
// The filter of system calls: what it denies, and that all that the daemon does goes on under it.
#include "server/sandbox.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <functional>

#include "daemon/certificates.hpp"
#include "server/access.hpp"

namespace manymod::signd::test {
namespace {

/// How a child in the sandbox ends: the status of waitpid().
int ended(const std::function<int()>& body, const SandboxNeeds& needs = {}) {
  const pid_t child = fork();
  if (child == 0) {
    if (close_sandbox(needs) != Sandbox::closed) _exit(77);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

bool is_there() {
  static const bool there = WEXITSTATUS(ended([] { return 0; })) == 0;
  return there;
}
#define NEEDS_SANDBOX \
  if (!is_there()) GTEST_SKIP() << "no filters of system calls: no libseccomp, sanitizers, or the kernel"

TEST(SigndSandbox, KillsWhatOnlyAttackersDo) {
  NEEDS_SANDBOX;
  const std::vector<std::function<int()>> attacks = {
      [] { return execl("/bin/true", "true", nullptr); }, [] { return fork() >= 0 ? 0 : 1; },
      [] { return static_cast<int>(syscall(SYS_ptrace, 0, 0, 0, 0)); }, [] { return setuid(0); },
      [] { return static_cast<int>(syscall(SYS_process_vm_readv, getppid(), 0, 0, 0, 0, 0)); }};
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const int status = ended(attacks[i]);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << i << ": " << status;
  }
}

TEST(SigndSandbox, DeniesWhatTheDaemonDoesNotNeed) {
  NEEDS_SANDBOX;
  const auto denied = [](const std::function<long()>& call) {
    return ended([&] { return call() == -1 && errno == EPERM ? 0 : 1; }) == 0;
  };
  EXPECT_TRUE(denied([] { return socket(AF_INET, SOCK_STREAM, 0); }));
  EXPECT_TRUE(denied([] { return kill(getppid(), 0); }));
  EXPECT_TRUE(denied([] { return chmod("/", 0777); }));
  EXPECT_TRUE(denied([] { return syscall(SYS_ioctl, 0, 0, 0); }));
  EXPECT_TRUE(denied([] {
    const int both = PROT_READ | PROT_WRITE | PROT_EXEC;
    return mmap(nullptr, 4096, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1L : 0L;
  }));
  EXPECT_EQ(ended([] {
              std::thread([] {}).join();
              return open("/etc/passwd", O_RDONLY) >= 0 ? 0 : 1;
            }),
            0);
}

// The kernel signals the owner of a descriptor when it is ready, whoever that is.
TEST(SigndSandbox, HasNoOtherProcessSignalled) {
  NEEDS_SANDBOX;
  const auto errors = [](int command, long argument) {
    return WEXITSTATUS(ended([&] {
      std::array<int, 2> pipe{};
      if (pipe2(pipe.data(), O_CLOEXEC) != 0) return 255;
      return fcntl(pipe[0], command, argument) < 0 ? errno : 0;
    }));
  };
  EXPECT_EQ(errors(F_SETOWN, getppid()), EPERM);
  EXPECT_EQ(errors(F_SETSIG, SIGKILL), EPERM);
  EXPECT_EQ(errors(F_SETFL, O_ASYNC | O_NONBLOCK), EPERM);
  EXPECT_EQ(errors(F_SETLEASE, F_RDLCK), EPERM);
  EXPECT_EQ(errors(F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(errors(F_GETFL, 0), 0);
  EXPECT_EQ(errors(F_SETFD, FD_CLOEXEC), 0);
  EXPECT_EQ(errors(F_DUPFD_CLOEXEC, 0), 0);
}

/// Bytes that were written become a program: in memory, or in a file of memory. @return a sum of 1 and 2
int executable() {
  constexpr std::size_t kPage = 4096;
  void* const written = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int file = memfd_create("program", 0);
  if (written == MAP_FAILED || ftruncate(file, kPage) != 0) return 4;
  const bool memory = mprotect(written, kPage, PROT_READ | PROT_EXEC) == 0;
  const bool mapped = mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED;
  return (memory ? 1 : 0) + (mapped ? 2 : 0);
}

TEST(SigndSandbox, ExecutesNothingThatWasWritten) {
  NEEDS_SANDBOX;
  EXPECT_EQ(ended(executable), 0);  // 0 is also WEXITSTATUS of a child that was killed
  EXPECT_EQ(WEXITSTATUS(ended(executable, {.modules = true})), 2);
  EXPECT_EQ(WEXITSTATUS(ended(executable, {.drivers = true})), 3);
}

// What resolves names was loaded before: nothing can be any more.
TEST(SigndSandbox, ResolvesNamesThatItMeetsFirst) {
  NEEDS_SANDBOX;
  load_name_services();
  EXPECT_EQ(ended([] {
              AccessNames names;
              names.users = {"daemon", "4711"};
              names.groups = {"bin", "4711"};
              const AccessList list(names);
              Peer peer;
              peer.user = 4711;
              return list.allows(peer) ? 0 : 1;
            }),
            0);
  EXPECT_EQ(ended([] {
              AccessNames names;
              names.users = {"nobody of this name"};
              try {
                const AccessList list(names);
              } catch (const std::runtime_error&) {
                return 0;
              }
              return 1;
            }),
            0);
}

#ifdef MANYMOD_TEST_TOKEN
TEST(SigndSandbox, LoadsLibrariesForTokensAlone) {
  NEEDS_SANDBOX;
  const auto load = [] { return dlopen(MANYMOD_TEST_TOKEN, RTLD_NOW | RTLD_LOCAL) == nullptr ? 1 : 0; };
  EXPECT_EQ(WEXITSTATUS(ended(load)), 1);
  EXPECT_EQ(WEXITSTATUS(ended(load, {.modules = true})), 0);
}

TEST(SigndSandbox, ReloadsKeysOfTokensByModulesThatItHasNotSeen) {
  NEEDS_SANDBOX;
  const Folder folder;
  folder.write("pin", "1234\n");
  setenv("MANYMOD_TEST_TOKEN_OBJECT", "site", 1);
  setenv("MANYMOD_TEST_TOKEN_KEY", folder.at("held.pem").c_str(), 1);
  std::filesystem::copy_file(MANYMOD_TEST_TOKEN, folder.at("other.so"));
  const auto configured = [&](const std::string& key, const std::string& module) {
    folder.write("held.pem", private_pem(test_key(key)));
    configure(folder, {});
    std::ofstream(folder.at("signd.conf"), std::ios::app)
        << "[key.site]\nmodule = " << module << "\ntoken = test token\nobject = site\npin_file = pin\n"
        << "users = *\n";
  };
  configured("rsa", MANYMOD_TEST_TOKEN);
  const Program program(folder);
  Settings settings = settings_of(folder);
  settings.patience = std::chrono::seconds(10);
  Client client(settings);
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  configured("rsa2", folder.at("other.so"));
  program.send(SIGHUP);
  EXPECT_TRUE(
      eventually([&] { return client.call(request_for("rsa2", kPss, kDigest)).status == Status::ok; }));
  unsetenv("MANYMOD_TEST_TOKEN_OBJECT");
  unsetenv("MANYMOD_TEST_TOKEN_KEY");
}

/// The first module that is loaded would need a filter that lets code in.
TEST(SigndSandbox, TakesNoFirstTokenAtAReload) {
  NEEDS_SANDBOX;
  const Folder folder;
  configure(folder, {"rsa"});
  const Program program(folder);
  Settings settings = settings_of(folder);
  settings.patience = std::chrono::seconds(10);
  Client client(settings);
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
  folder.write("pin", "1234\n");
  std::ofstream(folder.at("signd.conf"), std::ios::app)
      << "[key.token]\nmodule = " << MANYMOD_TEST_TOKEN
      << "\ntoken = test token\nobject = site\npin_file = pin\nusers = *\n";
  program.send(SIGHUP);
  const auto failed = [&] { return client.metrics().find("failed_reloads_total 1") != std::string::npos; };
  EXPECT_TRUE(eventually(failed)) << client.metrics();
  EXPECT_EQ(client.call(request_for("rsa", kPss, kDigest)).status, Status::ok);
}
#endif

/// The number in a line of /proc/PID/status.
std::string status_of(pid_t process, const std::string& name) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return "";
}

TEST(SigndSandbox, LetsTheDaemonDoAllItsWork) {
  NEEDS_SANDBOX;
  const Folder folder;
  Authority ca(folder, "ca");
  ca.issue("both", {"both", "IP:127.0.0.1"});
  const unsigned short port = free_port();
  const std::string tcp = "[tcp]\nlisten = 127.0.0.1:" + std::to_string(port) +
                          "\ncertificate = both.pem\nkey = both.key\nca = ca.pem\n";
  const auto configured = [&](const std::vector<std::string>& keys) {
    configure(folder, {},
              "metrics_file = " + folder.at("metrics") + "\ninterval_s = 1\nobserver_peers = *\n" + tcp);
    for (const std::string& name : keys) {
      folder.write(name + ".pem", private_pem(test_key(name)));
      std::ofstream(folder.at("signd.conf"), std::ios::app)
          << key_section(name, "peers = *\nusers = root, *\ngroups = root");
    }
  };
  configured({"rsa", "p256", "x25519", "ed25519"});
  Program program(folder);
  Settings remote = remote_settings(folder, "tcp://127.0.0.1:" + std::to_string(port), "both");
  remote.patience = std::chrono::seconds(10);
  Settings local = settings_of(folder);
  local.patience = std::chrono::seconds(10);
  for (const Settings& settings : {local, remote}) {
    Client client(settings);
    const auto status = [&](const std::string& key, const Scheme& scheme, const Bytes& input) {
      return client.call(request_for(key, scheme, input)).status;
    };
    EXPECT_EQ(status("rsa", kPss, kDigest), Status::ok);
    EXPECT_EQ(status("p256", {Operation::sign_ecdsa, MM_SHA256}, kDigest), Status::ok);
    EXPECT_EQ(status("ed25519", {Operation::sign_eddsa}, kDigest), Status::ok);
    EXPECT_EQ(status("x25519", {Operation::exchange}, Bytes(32, 9)), Status::ok);
    EXPECT_EQ(client.keys().size(), 4U);
    EXPECT_NE(client.metrics().find("answers_total{status=\"ok\"}"), std::string::npos);
  }
  EXPECT_EQ(status_of(program.process(), "Seccomp"), "2");
  configured({"rsa", "rsa2"});
  program.send(SIGHUP);
  Client client(local);
  EXPECT_TRUE(
      eventually([&] { return client.call(request_for("rsa2", kPss, kDigest)).status == Status::ok; }));
  EXPECT_EQ(Client(remote).call(request_for("rsa2", kPss, kDigest)).status, Status::ok);
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder.at("metrics")); }));
  EXPECT_EQ(program.end(SIGTERM), 0);
}

}  // namespace
}  // namespace manymod::signd::test

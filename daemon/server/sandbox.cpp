// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox.hpp"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <memory>

namespace manymod::signd {
namespace {

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

using Conditions = std::initializer_list<scmp_arg_cmp>;
// Conditions on an argument, by its number.
scmp_arg_cmp is_equal(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp has_bits(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

/// Builds a filter. System calls that the architecture does not have are ignored.
class Filter {
 public:
  Filter() : filter_(seccomp_init(SCMP_ACT_ERRNO(EPERM))) { good_ = filter_ != nullptr; }

  void allow(std::initializer_list<const char*> calls) { add_all(SCMP_ACT_ALLOW, calls); }
  void kill(std::initializer_list<const char*> calls) { add_all(SCMP_ACT_KILL_PROCESS, calls); }
  /// Where all conditions hold.
  void allow_if(const char* call, Conditions conditions) { add(SCMP_ACT_ALLOW, call, conditions); }
  void kill_if(const char* call, Conditions conditions) { add(SCMP_ACT_KILL_PROCESS, call, conditions); }
  void is_not_there(const char* call) { add(SCMP_ACT_ERRNO(ENOSYS), call, {}); }
  /// All threads get it, or none.
  bool load() {
    return good_ && seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
           seccomp_load(filter_.get()) == 0;
  }

 private:
  void add_all(std::uint32_t action, std::initializer_list<const char*> calls) {
    for (const char* const call : calls) add(action, call, {});
  }
  void add(std::uint32_t action, const char* call, Conditions conditions) {
    const int number = seccomp_syscall_resolve_name(call);
    if (!good_ || number == __NR_SCMP_ERROR) return;
    const int error = seccomp_rule_add_array(filter_.get(), action, number,
                                             static_cast<unsigned>(conditions.size()), conditions.begin());
    good_ = error == 0 || error == -EDOM;  // EDOM: not of this architecture
  }

  std::unique_ptr<void, Release> filter_;
  bool good_ = false;
};

void allow_files(Filter& filter) {
  filter.allow({"read",      "write",      "readv",      "writev",     "pread64",      "pwrite64",
                "close",     "lseek",      "fstat",      "newfstatat", "statx",        "stat",
                "lstat",     "openat",     "open",       "access",     "faccessat",    "faccessat2",
                "readlink",  "readlinkat", "getdents64", "unlink",     "unlinkat",     "rename",
                "renameat",  "renameat2",  "dup",        "ftruncate",  "memfd_create", "getcwd",
                "fadvise64", "statfs",     "fstatfs"});
}

// By fcntl() a process can make the kernel send signals to another process when a descriptor becomes ready,
// or a lease or a folder changes. The commands for that are not allowed (F_SETOWN, F_SETSIG, F_SETLEASE,
// F_NOTIFY, .., O_ASYNC). File locks are allowed, because PKCS#11 modules use them.
void allow_file_control(Filter& filter) {
  for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_ADD_SEALS, F_GET_SEALS,
                            F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW}) {
    filter.allow_if("fcntl", {is_equal(1, static_cast<scmp_datum_t>(command))});
  }
  filter.allow_if("fcntl", {is_equal(1, F_SETFL), has_bits(2, O_ASYNC, 0)});
}

// Threads, signals, clocks, and the process's own identity.
void allow_threads(Filter& filter) {
  filter.allow({"futex",
                "futex_waitv",
                "set_robust_list",
                "get_robust_list",
                "rseq",
                "set_tid_address",
                "sched_yield",
                "sched_getaffinity",
                "sched_setaffinity",
                "sched_getparam",
                "sched_getscheduler",
                "sched_get_priority_min",
                "sched_get_priority_max",
                "exit",
                "exit_group",
                "gettid",
                "getpid",
                "getppid",
                "getuid",
                "geteuid",
                "getgid",
                "getegid",
                "getgroups",
                "getresuid",
                "getresgid",
                "getcpu",
                "membarrier",
                "rt_sigaction",
                "rt_sigprocmask",
                "rt_sigreturn",
                "rt_sigtimedwait",
                "sigaltstack",
                "restart_syscall",
                "clock_gettime",
                "clock_getres",
                "clock_nanosleep",
                "nanosleep",
                "gettimeofday",
                "time"});
  // A filter cannot read the flags of clone3, which are in memory. With ENOSYS, glibc uses clone instead.
  filter.is_not_there("clone3");
  filter.allow_if("clone", {has_bits(0, CLONE_THREAD, CLONE_THREAD)});
  filter.kill_if("clone", {has_bits(0, CLONE_THREAD, 0)});
  filter.allow_if("tgkill", {is_equal(0, static_cast<scmp_datum_t>(getpid()))});
  filter.allow_if("prctl", {is_equal(0, PR_SET_NAME)});
  filter.allow_if("prlimit64", {is_equal(0, 0)});
}

void allow_sockets(Filter& filter) {
  filter.allow({"accept4",   "accept",     "recvfrom",    "recvmsg",      "sendto",      "sendmsg",
                "shutdown",  "connect",    "poll",        "ppoll",        "select",      "pselect6",
                "pipe2",     "getsockopt", "setsockopt",  "getsockname",  "getpeername", "epoll_create1",
                "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd2"});
  // For connections to the services that resolve user names. The daemon's listeners exist already.
  filter.allow_if("socket", {is_equal(0, AF_UNIX)});
}

// Without needs, no memory becomes executable after the filter is in force. Where PKCS#11 modules may be
// loaded, any file can be mapped as executable, even one that this process wrote; a GPU's driver also makes
// memory executable that it has written code to.
void allow_memory(Filter& filter, const SandboxNeeds& needs) {
  filter.allow({"munmap", "mremap", "madvise", "brk", "mlock", "mlock2", "munlock", "mincore", "getrandom",
                "uname", "sysinfo", "getrusage", "getrlimit"});
  if (needs.drivers) return filter.allow({"mmap", "mprotect"});
  filter.allow_if("mmap", {has_bits(2, PROT_EXEC, 0)});
  filter.allow_if("mprotect", {has_bits(2, PROT_EXEC, 0)});
  if (needs.modules) filter.allow_if("mmap", {has_bits(2, PROT_WRITE | PROT_EXEC, PROT_EXEC)});
}

// What the drivers of CUDA and OpenCL do besides.
void allow_drivers(Filter& filter) {
  filter.allow({"ioctl",           "fcntl",      "set_mempolicy", "get_mempolicy",      "mbind",
                "move_pages",      "arch_prctl", "mlockall",      "sched_setscheduler", "timerfd_create",
                "timerfd_settime", "bind",       "listen",        "socketpair",         "mkdir",
                "mkdirat",         "flock",      "fallocate",     "getxattr",           "shmget",
                "shmat",           "shmdt",      "shmctl"});
}

void kill_attackers(Filter& filter) {
  filter.kill({"execve",
               "execveat",
               "fork",
               "vfork",
               "ptrace",
               "process_vm_readv",
               "process_vm_writev",
               "process_madvise",
               "pidfd_getfd",
               "bpf",
               "userfaultfd",
               "io_uring_setup",
               "init_module",
               "finit_module",
               "delete_module",
               "kexec_load",
               "kexec_file_load",
               "reboot",
               "mount",
               "umount2",
               "pivot_root",
               "chroot",
               "unshare",
               "setns",
               "setuid",
               "setgid",
               "setreuid",
               "setregid",
               "setresuid",
               "setresgid",
               "setgroups",
               "add_key",
               "request_key",
               "keyctl",
               "personality"});
}

}  // namespace

Sandbox close_sandbox(const SandboxNeeds& needs) noexcept {
  Filter filter;
  allow_files(filter);
  allow_file_control(filter);
  allow_threads(filter);
  allow_sockets(filter);
  allow_memory(filter, needs);
  if (needs.drivers) allow_drivers(filter);
  kill_attackers(filter);
  return filter.load() ? Sandbox::closed : Sandbox::unsupported;
}

}  // namespace manymod::signd

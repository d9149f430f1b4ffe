# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR "Secret-independence tests need valgrind and valgrind/memcheck.h, and one of them is missing. "
                    "Install them (Debian, Ubuntu: apt-get install valgrind; Fedora: dnf install valgrind-devel) "
                    "and configure again.")

# SPDX-License-Identifier: Apache-2.0
message("skipped: no Clang 19 or newer with the MemorySanitizer runtime was found. Install one (Debian, Ubuntu: "
        "apt-get install clang-19 libclang-rt-19-dev) and configure again.")

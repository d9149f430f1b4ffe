# SPDX-License-Identifier: Apache-2.0
# Test and benchmark libraries: the system's if it has them, else the pinned release.
include(FetchContent)

function(manymod_fetch name url sha256)
  set(BUILD_TESTING OFF)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_INSTALL OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_GTEST_TESTS OFF CACHE BOOL "" FORCE)
  FetchContent_Declare(${name} URL "${url}" URL_HASH "SHA256=${sha256}")
  FetchContent_MakeAvailable(${name})
endfunction()

macro(manymod_need_googletest)
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gtest_main)
    manymod_fetch(googletest
      "https://github.com/google/googletest/releases/download/v1.15.2/googletest-1.15.2.tar.gz"
      7b42b4d6ed48810c5362c265a17faebe90dc2373c885e5216439d37927f02926)
  endif()
endmacro()

macro(manymod_need_benchmark)
  find_package(benchmark QUIET)
  if(NOT TARGET benchmark::benchmark_main)
    manymod_fetch(benchmark
      "https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz"
      6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
  endif()
endmacro()

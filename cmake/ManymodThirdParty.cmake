# SPDX-License-Identifier: Apache-2.0
# Libraries of the tests and benchmarks: the system's if it has them, else a pinned release from the network.
#
#   MANYMOD_THIRD_PARTY   a folder whose include/ holds header-only libraries, for machines without a network
include(FetchContent)
set(MANYMOD_THIRD_PARTY "" CACHE PATH "Folder whose include/ holds nlohmann/json.hpp and CLI/CLI.hpp")

# Declare the library with the arguments of FetchContent_Declare after <name>, and add its targets.
function(manymod_fetch name)
  set(BUILD_TESTING OFF)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_TESTING OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_INSTALL OFF CACHE BOOL "" FORCE)
  set(BENCHMARK_ENABLE_GTEST_TESTS OFF CACHE BOOL "" FORCE)
  set(CLI11_BUILD_TESTS OFF CACHE BOOL "" FORCE)
  set(CLI11_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
  FetchContent_Declare(${name} ${ARGN})
  FetchContent_MakeAvailable(${name})
endfunction()

macro(manymod_need_googletest)
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gtest_main)
    manymod_fetch(googletest
      URL "https://github.com/google/googletest/releases/download/v1.15.2/googletest-1.15.2.tar.gz"
      URL_HASH SHA256=7b42b4d6ed48810c5362c265a17faebe90dc2373c885e5216439d37927f02926)
  endif()
endmacro()

macro(manymod_need_benchmark)
  find_package(benchmark QUIET)
  if(NOT TARGET benchmark::benchmark_main)
    manymod_fetch(benchmark
      URL "https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz"
      URL_HASH SHA256=6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
  endif()
endmacro()

# Define <target>, which must be the name of the library's own CMake target, for a header-only library: from the headers
# of the system or of MANYMOD_THIRD_PARTY, else by FetchContent with the remaining arguments.
function(manymod_need_headers target header name)
  if(TARGET ${target})
    return()
  endif()
  find_path(MANYMOD_${name}_INCLUDE "${header}" HINTS "${MANYMOD_THIRD_PARTY}/include")
  if(MANYMOD_${name}_INCLUDE)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE "${MANYMOD_${name}_INCLUDE}")
  else()
    manymod_fetch(${name} ${ARGN})
  endif()
endfunction()

macro(manymod_need_json)
  manymod_need_headers(nlohmann_json::nlohmann_json nlohmann/json.hpp json
    URL "https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz"
    URL_HASH SHA256=d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)
endmacro()

# The commit is release 2.4.2.
macro(manymod_need_cli11)
  manymod_need_headers(CLI11::CLI11 CLI/CLI.hpp cli11
    GIT_REPOSITORY https://github.com/CLIUtils/CLI11 GIT_TAG 6c7b07a878ad834957b98d0f9ce1dbe0cb204fc9)
endmacro()

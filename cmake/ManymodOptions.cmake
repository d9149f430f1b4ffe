# SPDX-License-Identifier: Apache-2.0
# Build type, language standard, warnings and sanitizers.

# In another project's build, that project chooses.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(MANYMOD_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  else()
    message(NOTICE "manymod: CMAKE_BUILD_TYPE is not set, so that the library is not optimised")
  endif()
endif()
# There are no C++ modules: looking for them takes as many steps as the compilation.
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
if(MANYMOD_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

set(manymod_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# GCC 12 reports correct concatenations of std::string: https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND manymod_warnings -Wno-restrict)
endif()
# Clang 19 reports std::stable_sort of libstdc++ 12, which calls the deprecated std::get_temporary_buffer:
# https://github.com/llvm/llvm-project/issues/76515
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND manymod_warnings -Wno-deprecated-declarations)
endif()
if(MANYMOD_WERROR)
  list(APPEND manymod_warnings -Werror)
endif()
set(manymod_sanitize_flags "")
if(MANYMOD_SANITIZE)
  # Without two checks of UndefinedBehaviorSanitizer that take a fifth of the compile time: AddressSanitizer finds what
  # they would find.
  set(manymod_sanitize_flags "-fsanitize=${MANYMOD_SANITIZE}" -fno-sanitize=null,object-size
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # Functions of a driver are found by name, and their parameters point to types that its own headers define.
    list(APPEND manymod_sanitize_flags -fno-sanitize=function)
  endif()
endif()

# Say why something is not built that <option> is about: an error if it is ON, a line of the output if it is AUTO.
function(manymod_not_built option reason)
  if(${option} STREQUAL "AUTO")
    message(STATUS "Not built: ${reason}")
  else()
    message(FATAL_ERROR "${option} is ${${option}}, but ${reason}")
  endif()
endfunction()

# Standard, warnings, visibility and sanitizers for a target of this project.
function(manymod_configure_target target)
  target_compile_features(${target} PRIVATE cxx_std_20 c_std_11)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:C,CXX>:${manymod_warnings};${manymod_sanitize_flags}>")
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF C_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  manymod_sanitize_link(${target})
endfunction()

function(manymod_sanitize_link target)
  target_link_options(${target} PUBLIC ${manymod_sanitize_flags})
endfunction()

# Export from an ELF shared object only the symbols that the version script names.
function(manymod_export_only target script)
  if(UNIX AND NOT APPLE)
    target_link_options(${target} PRIVATE "LINKER:--version-script=${script}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${script}")
  endif()
endfunction()

# Compile MANYMOD_UNITY_BATCH sources of a target in one translation unit, but each of those in ARGN, of which two define the
# same names in unnamed namespaces, in its own.
function(manymod_unite_sources target)
  if(MANYMOD_UNITY_BATCH GREATER 1)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${MANYMOD_UNITY_BATCH})
  endif()
endfunction()

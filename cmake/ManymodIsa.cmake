# SPDX-License-Identifier: Apache-2.0
# Instruction sets: the suffix of a file names the one that it is compiled for. No other file gets -m flags.

# The suffixes, weakest first, and the flags of each.
set(manymod_isa_suffixes adx avx2 avx512f avx512ifma)
set(manymod_isa_flags_adx -mbmi2 -madx -mavx2)
set(manymod_isa_flags_avx2 -mavx2 -mfma -mbmi2)
set(manymod_isa_flags_avx512f -mavx512f -mavx512dq -mavx512bw -mavx512vl -mbmi2)
set(manymod_isa_flags_avx512ifma ${manymod_isa_flags_avx512f} -mavx512ifma)
# Kernels name their vectors. Clang vectorises the loops between them by gathers, whose addresses no test of the
# machine code tells from those that secrets choose.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  foreach(suffix avx2 avx512f avx512ifma)
    list(APPEND manymod_isa_flags_${suffix} -fno-vectorize)
  endforeach()
endif()

# The x86-64 variants need the System V calling convention and GNU assembler text for ELF.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND UNIX AND NOT APPLE)
  set(MANYMOD_X86_64 TRUE)
else()
  set(MANYMOD_X86_64 FALSE)
endif()

# Move the files of <sources_var> with an instruction-set suffix to <isa_var>, give them their flags, and
# drop them where the processor is not x86-64.
function(manymod_split_by_isa sources_var isa_var)
  set(plain ${${sources_var}})
  set(isa_files "")
  foreach(suffix IN LISTS manymod_isa_suffixes)
    set(matching ${plain})
    list(FILTER matching INCLUDE REGEX "\\.${suffix}\\.cpp$")
    list(FILTER plain EXCLUDE REGEX "\\.${suffix}\\.cpp$")
    if(MANYMOD_X86_64 AND matching)
      set_source_files_properties(${matching} PROPERTIES COMPILE_OPTIONS "${manymod_isa_flags_${suffix}}")
      list(APPEND isa_files ${matching})
    endif()
  endforeach()
  set(${sources_var} "${plain}" PARENT_SCOPE)
  set(${isa_var} "${isa_files}" PARENT_SCOPE)
endfunction()

# Set <result> to the suffixes of sets that this machine does not execute, out of those that many machines lack. What is
# built for tests on this machine alone need not spend minutes on their code, which no test can run: it is compiled with
# manymod_foreign_isa_flags. Not optimised, such files emit inline functions that others emit, too. These files come last
# in the library and in programs, so that the linker keeps the copies of its other files; but copies that only tests emit
# besides are kept, unchecked. They are plain code without vectors, or the tests would end by SIGILL.
set(manymod_foreign_isa_flags -O0 -fno-sanitize=all -DMANYMOD_FOREIGN_ISA=1)
function(manymod_find_foreign_isas result)
  set(foreign "")
  if(MANYMOD_X86_64 AND NOT CMAKE_CROSSCOMPILING)
    foreach(suffix IN ITEMS avx512f avx512ifma)
      set(probe "${CMAKE_CURRENT_BINARY_DIR}/isa/${suffix}.cpp")
      string(REGEX MATCHALL "avx512[a-z]+" features "${manymod_isa_flags_${suffix}}")
      list(TRANSFORM features REPLACE "(.+)" "__builtin_cpu_supports(\"\\1\")")
      list(JOIN features " && " supported)
      file(WRITE "${probe}" "int main() { __builtin_cpu_init(); return ${supported} ? 0 : 1; }\n")
      try_run(outcome compiles "${CMAKE_CURRENT_BINARY_DIR}/isa/${suffix}" "${probe}")
      if(compiles AND outcome EQUAL 1)
        list(APPEND foreign "${suffix}")
      endif()
      # Results are cached, and another machine may use this folder later.
      unset(outcome CACHE)
      unset(compiles CACHE)
    endforeach()
  endif()
  if(foreign)
    list(JOIN foreign ", " names)
    message(STATUS "Tests: this machine does not execute ${names}")
  endif()
  set(${result} "${foreign}" PARENT_SCOPE)
endfunction()

# Give the files of <isa_files> that are compiled for one of the sets <foreign> the flags above.
function(manymod_set_foreign_isas isa_files foreign)
  foreach(suffix IN LISTS foreign)
    set(matching ${isa_files})
    list(FILTER matching INCLUDE REGEX "\\.${suffix}\\.cpp$")
    if(matching)
      set_property(SOURCE ${matching} APPEND PROPERTY COMPILE_OPTIONS ${manymod_foreign_isa_flags})
    endif()
  endforeach()
endfunction()

# Run the Python program <generator>, which writes assembler text to its first argument, and assemble it.
# A macro, because a language can be enabled only outside of functions.
macro(manymod_add_generated_assembly target generator output)
  if(MANYMOD_X86_64)
    enable_language(ASM)
    set(manymod_generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
    file(MAKE_DIRECTORY "${manymod_generated}")
    add_custom_command(
      OUTPUT "${manymod_generated}/${output}"
      COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/${generator}" "${manymod_generated}/${output}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${generator}"
      COMMENT "Generating ${output}"
      VERBATIM)
    target_sources(${target} PRIVATE "${manymod_generated}/${output}")
  endif()
endmacro()

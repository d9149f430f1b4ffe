# SPDX-License-Identifier: Apache-2.0
# Embeds data/tuning/*.tuning, the measurements by which the library chooses variants. A change of such a file
# configures the build again.

# The order matters: of the rows that fit a batch, the first decides. GPUs, which are for batches of many items, come
# first, and processors with more instructions before those with fewer.
set(manymod_tuning_files nvidia_h200 nvidia_opencl amd_zen4 intel_emerald_rapids cpu_without_avx512ifma)

# Add the source that holds the files to <target>.
function(manymod_embed_tuning target)
  set(manymod_tuning_rows "")
  foreach(name IN LISTS manymod_tuning_files)
    set(file "data/tuning/${name}.tuning")
    file(READ "${CMAKE_CURRENT_SOURCE_DIR}/${file}" text)
    string(APPEND manymod_tuning_rows "      {\"${file}\",\n       R\"tuning(${text})tuning\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  endforeach()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated/tuning_files.cpp")
  configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/tuning_files.cpp.in" "${generated}" @ONLY)
  target_sources(${target} PRIVATE "${generated}")
endfunction()

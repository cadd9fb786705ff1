# A second build is cheap where ccache is installed. Not forced on a project that includes this one, nor on a user's own launcher.
# Paths count from the build folder, so another checkout of the same files is a second build too. A build with debug symbols is
# not, because they name the folder.
if(PROJECT_IS_TOP_LEVEL)
  find_program(DELTAMATCH_CCACHE ccache)
  mark_as_advanced(DELTAMATCH_CCACHE)
  foreach(language CXX CUDA)
    if(DELTAMATCH_CCACHE AND NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${DELTAMATCH_CCACHE})
    endif()
  endforeach()
endif()

# Installs the shared libraries that the program needs and that a bare Debian 12 may lack: all but those of the C and C++
# runtimes. Beside them the licence of each Debian package that they come from, and its version.
#
# Needs `program` (the linked program) and `work` (a folder to write in). Only on Debian, since it asks dpkg.

set(runtime "/(ld-linux[^/]*|libc|libm|libdl|libpthread|librt|libresolv|libgcc_s|libstdc\\+\\+)\\.so\\.")
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} RESOLVED_DEPENDENCIES_VAR found POST_EXCLUDE_REGEXES ${runtime})
# oneTBB opens its allocator by itself, if it lies beside it.
foreach(library IN LISTS found)
  if(library MATCHES "/libtbb\\.so\\.")
    cmake_path(REPLACE_FILENAME library libtbbmalloc.so.2)
    list(APPEND found ${library})
  endif()
endforeach()
list(SORT found)
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/deltamatch TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN FILES ${found})

set(packages "")
foreach(library IN LISTS found)
  file(REAL_PATH ${library} path)
  string(REGEX REPLACE "^/usr" "" short ${path})  # the folder's older name, which a package may still use
  foreach(name IN ITEMS ${path} ${short})
    execute_process(COMMAND dpkg-query --search ${name} OUTPUT_VARIABLE owner ERROR_QUIET)
    if(owner)
      break()
    endif()
  endforeach()
  if(NOT owner MATCHES "^([^:]+):")
    message(FATAL_ERROR "${library}: no Debian package has it, so its licence is not known; build with Debian's libraries")
  endif()
  list(APPEND packages ${CMAKE_MATCH_1})
endforeach()
list(REMOVE_DUPLICATES packages)
list(SORT packages)

file(REMOVE_RECURSE ${work})
set(versions "The libraries in lib/deltamatch are those of these Debian packages, unchanged:\n\n")
foreach(package IN LISTS packages)
  execute_process(COMMAND dpkg-query --show --showformat "\${Package} \${Version} (source: \${source:Package})\n" ${package}
                  OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND versions "${version}")
  configure_file(/usr/share/doc/${package}/copyright ${work}/${package} COPYONLY)
endforeach()
file(WRITE ${work}/README "${versions}")
file(INSTALL DESTINATION ${CMAKE_INSTALL_PREFIX}/share/doc/deltamatch TYPE FILE FILES ${work})

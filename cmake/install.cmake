# find_package(deltamatch [COMPONENTS core ingest gpu]) gives deltamatch::core, deltamatch::ingest and, if the build had CUDA,
# deltamatch::gpu; deltamatch::deltamatch is all of them. Each component has an export of its own, so that a user of core needs
# none of ingest's libraries. What is installed without a component of its own is for developers; cmake/package.cmake has what
# is for users.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(deltamatch_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/deltamatch)
set(deltamatch_components core)
if(DELTAMATCH_INGEST)
  list(APPEND deltamatch_components ingest)
endif()

if(DELTAMATCH_CUDA)
  list(APPEND deltamatch_components gpu)
else()
  set(deltamatch_other_headers PATTERN gpu.hpp EXCLUDE)
endif()

# The same target for projects that build deltamatch with add_subdirectory. `deltamatch` itself is the program.
add_library(deltamatch_all INTERFACE)
add_library(deltamatch::deltamatch ALIAS deltamatch_all)
foreach(component IN LISTS deltamatch_components)
  target_link_libraries(deltamatch_all INTERFACE deltamatch::${component})
  install(TARGETS deltamatch_${component} EXPORT deltamatch-${component})
  install(EXPORT deltamatch-${component} NAMESPACE deltamatch:: DESTINATION ${deltamatch_package_dir})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/deltamatch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp
        ${deltamatch_other_headers})
# Of ingest, only the headers for embedding and what they include. Others need libraries that a user does not link.
if(DELTAMATCH_INGEST)
  set(deltamatch_pending ingest/stream.hpp ingest/sink/sinks.hpp ingest/codec/codec.hpp ingest/codec/formats.hpp)
  set(deltamatch_ingest_headers)
  while(deltamatch_pending)
    list(POP_FRONT deltamatch_pending header)
    if(header IN_LIST deltamatch_ingest_headers)
      continue()
    endif()
    list(APPEND deltamatch_ingest_headers ${header})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"ingest/")
    foreach(include IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" include "${include}")
      list(APPEND deltamatch_pending ${include})
    endforeach()
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/deltamatch/${folder})
  endwhile()
endif()
if(DELTAMATCH_PROGRAM)
  install(TARGETS deltamatch COMPONENT program)
  set(deltamatch_config service.yaml alerts.yml prometheus.yml grafana.json)
  list(TRANSFORM deltamatch_config PREPEND ${PROJECT_SOURCE_DIR}/config/)
  install(FILES ${deltamatch_config} DESTINATION ${CMAKE_INSTALL_DATADIR}/deltamatch COMPONENT program)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/config/patterns ${PROJECT_SOURCE_DIR}/config/kubernetes
          DESTINATION ${CMAKE_INSTALL_DATADIR}/deltamatch COMPONENT program)
endif()
if(DELTAMATCH_SERVICE)
  install(FILES ${PROJECT_BINARY_DIR}/page/dist/licences.txt DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME page-licences.txt COMPONENT program)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
# The files in config and the program's messages name pages as docs/guide/operating.md. Pages lead to others outside of docs.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/bench/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT program
        FILES_MATCHING PATTERN "*.md" PATTERN raw EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/python/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/python COMPONENT program)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/python COMPONENT program)
if(DELTAMATCH_PROGRAM)
  file(RELATIVE_PATH deltamatch_data ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_DATADIR}/deltamatch)
  install(CODE "file(CREATE_LINK ${deltamatch_data} \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/config\" SYMBOLIC)"
          COMPONENT program)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/deltamatchConfig.cmake.in ${PROJECT_BINARY_DIR}/deltamatchConfig.cmake
                              INSTALL_DESTINATION ${deltamatch_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/deltamatchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/deltamatchConfig.cmake ${PROJECT_BINARY_DIR}/deltamatchConfigVersion.cmake
        DESTINATION ${deltamatch_package_dir})

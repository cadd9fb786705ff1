# The packages that scripts/package makes with CPack. Each .deb names the Debian packages that it needs. The tarball brings the
# libraries that a bare Debian 12 lacks. docs/guide/install.md describes them.
#
# Components: `program` goes into the .deb and the tarball, `deb` and `tarball` into one each. `development`, which is libraries
# and headers, is a .deb of its own, with `deb_development`.

set(deltamatch_unit ${PROJECT_BINARY_DIR}/package/deltamatch.service)
file(READ ${PROJECT_SOURCE_DIR}/config/deltamatch.service text)
string(REPLACE "/usr/local/bin/" "/usr/bin/" text "${text}")
file(CONFIGURE OUTPUT ${deltamatch_unit} CONTENT "${text}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/config/deltamatch.service)

install(FILES ${deltamatch_unit} DESTINATION lib/systemd/system COMPONENT deb EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/deltamatch RENAME copyright COMPONENT deb EXCLUDE_FROM_ALL)
foreach(component deb tarball)  # scripts/package writes it
  install(FILES ${PROJECT_BINARY_DIR}/package/REVISION DESTINATION share/doc/deltamatch COMPONENT ${component} EXCLUDE_FROM_ALL OPTIONAL)
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/libdeltamatch-dev RENAME copyright COMPONENT deb_development EXCLUDE_FROM_ALL)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tests/install/consumer/ DESTINATION share/doc/libdeltamatch-dev/examples COMPONENT deb_development
        EXCLUDE_FROM_ALL)

install(FILES ${PROJECT_SOURCE_DIR}/config/deltamatch.service DESTINATION share/deltamatch COMPONENT tarball EXCLUDE_FROM_ALL)
install(CODE "set(program \"$<TARGET_FILE:deltamatch>\")\nset(work \"${PROJECT_BINARY_DIR}/package/libraries\")" COMPONENT tarball
        EXCLUDE_FROM_ALL)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/package_libraries.cmake COMPONENT tarball EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME deltamatch)
set(CPACK_PACKAGE_VENDOR deltamatch)
set(CPACK_PACKAGE_CONTACT "The maintainers of deltamatch <maintainers@deltamatch.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION "deltamatch finds patterns in a graph that changes. After each batch of edge
insertions and deletions it reports exactly the matches that appeared and
the matches that vanished: from files, or as a service from Kafka to Kafka.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_USERS_PACKAGE_NAME deltamatch)
set(CPACK_DEBIAN_USERS_PACKAGE_SECTION science)
set(CPACK_DEBIAN_USERS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_USERS_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_DEVELOPERS_PACKAGE_NAME libdeltamatch-dev)
set(CPACK_DEBIAN_DEVELOPERS_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPERS_DESCRIPTION "Libraries and headers, for programs in C++ that find patterns in a graph that
changes.")
# A library of static code names what a program that links it needs (cmake/deltamatchConfig.cmake.in looks for it).
set(CPACK_DEBIAN_DEVELOPERS_PACKAGE_DEPENDS
    "pkg-config, libboost1.81-dev, libfmt-dev, libtbb-dev, libxxhash-dev, libzstd-dev, libsimdjson-dev, zlib1g-dev, liblzma-dev, libprotobuf-dev, libprotoc-dev")
set(CPACK_DEBIAN_DEVELOPERS_PACKAGE_RECOMMENDS "g++, cmake")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# A package is a group of components, or all that cmake/package_parts.cmake lists for its generator.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program deb development deb_development tarball)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_parts.cmake)
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_SYSTEM_NAME)

include(CPack)
cpack_add_component(program GROUP users)
cpack_add_component(deb GROUP users)
cpack_add_component(development GROUP developers)
cpack_add_component(deb_development GROUP developers)

# The installed tree: headers, one shared library that holds llama.cpp inside and shows only segue's
# public names, its CMake package and pkg-config file, the program, the bundled model.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The public functions are in these two rooms; of the others the linker takes what they need.
add_library(segue_shared SHARED $<TARGET_OBJECTS:segue_session> $<TARGET_OBJECTS:segue_backend>)
target_link_libraries(segue_shared PRIVATE segue_session)
set_target_properties(segue_shared PROPERTIES
  OUTPUT_NAME segue
  EXPORT_NAME segue
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN")
target_include_directories(segue_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(segue_shared INTERFACE cxx_std_20)
if(UNIX AND NOT APPLE)
  # Names that are not ours stay inside, so that a program may link another llama.cpp beside it.
  set(names ${PROJECT_SOURCE_DIR}/cmake/segue.map)
  target_link_options(segue_shared PRIVATE "LINKER:--version-script=${names}")
  set_property(TARGET segue_shared APPEND PROPERTY LINK_DEPENDS ${names})
endif()

install(TARGETS segue_shared EXPORT segue-targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/segue TYPE INCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICES TYPE DOC)
install(FILES ${PROJECT_SOURCE_DIR}/models/segue-tiny.gguf DESTINATION ${CMAKE_INSTALL_DATADIR}/segue)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/segue)
install(EXPORT segue-targets NAMESPACE segue:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/segue-config.cmake.in
                              ${PROJECT_BINARY_DIR}/segue-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/segue-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/segue-config.cmake
              ${PROJECT_BINARY_DIR}/segue-config-version.cmake
        DESTINATION ${package_dir})

# Paths relative to the file itself, so that the tree can be moved.
file(RELATIVE_PATH SEGUE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${PROJECT_SOURCE_DIR}/cmake/segue.pc.in ${PROJECT_BINARY_DIR}/segue.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/segue.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(SEGUE_BUILD_APPS)
  set_target_properties(segue PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS segue)
endif()

# Back ends that are chosen at run time: shared, and beside the library.
if(GGML_BACKEND_DL)
  foreach(library llama llama-common ggml ggml-base)
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/bin/ DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILES_MATCHING PATTERN "libggml-*.so")
endif()

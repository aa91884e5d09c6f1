# segue_room(NAME [DEPENDS targets...]): one folder of src/ as the library segue_NAME, its unit tests
# (*_test.cc) as the program segue_NAME_test.
function(segue_flags target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlaps in std::string's own operator+ that are none (GCC bug 105651).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(SEGUE_SANITIZE)
    target_compile_options(${target} PRIVATE -O1 -g -fsanitize=${SEGUE_SANITIZE}
                                             -fno-omit-frame-pointer -fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Instrumented code makes g++ 12 see faults in the standard library that are none.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized -Wno-stringop-overflow)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${SEGUE_SANITIZE})
  endif()
endfunction()

function(segue_test name)
  cmake_parse_arguments(ARG "" "LOCK" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  segue_flags(${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 LABELS "${ARG_LABELS}"
                       RESOURCE_LOCK "${ARG_LOCK}")
endfunction()

function(segue_room name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(sources)
    add_library(segue_${name} STATIC ${sources})
    target_include_directories(segue_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                                                    ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(segue_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
    segue_flags(segue_${name})
  else()
    add_library(segue_${name} INTERFACE)
    target_include_directories(segue_${name} INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                       ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(segue_${name} INTERFACE ${ARG_DEPENDS})
  endif()
  if(SEGUE_BUILD_TESTS AND tests)
    segue_test(segue_${name}_test SOURCES ${tests} DEPENDS segue_${name} LABELS unit)
  endif()
endfunction()

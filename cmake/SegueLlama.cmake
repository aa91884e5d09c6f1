# llama.cpp as a subproject, with the libraries that segue links and no more: static, on the processor,
# unless asked otherwise (-DGGML_CUDA=ON and its kin; the preset `portable`).
#
# Its source: SEGUE_LLAMA_SOURCE where it is there (scripts/fetch_llama.sh brings the default one), else
# the tag from its upstream repository.
set(SEGUE_LLAMA_TAG v0.5.0)
set(SEGUE_LLAMA_COMMIT de3ff815ea7d559ee917f063901b8986f038abc6)
set(SEGUE_LLAMA_REPOSITORY https://github.com/ggml-org/llama.cpp CACHE STRING
    "Where llama.cpp is fetched from when SEGUE_LLAMA_SOURCE is not there")
set(segue_default_llama "${PROJECT_SOURCE_DIR}/.deps/llama.cpp")
set(SEGUE_LLAMA_SOURCE "${segue_default_llama}" CACHE PATH "llama.cpp source tree, at ${SEGUE_LLAMA_TAG}")

if(NOT EXISTS "${SEGUE_LLAMA_SOURCE}/CMakeLists.txt")
  if(NOT SEGUE_LLAMA_SOURCE STREQUAL segue_default_llama)
    message(FATAL_ERROR "SEGUE_LLAMA_SOURCE=${SEGUE_LLAMA_SOURCE} holds no llama.cpp source tree")
  endif()
  include(FetchContent)
  message(STATUS "Fetching llama.cpp ${SEGUE_LLAMA_TAG} from ${SEGUE_LLAMA_REPOSITORY}")
  FetchContent_Declare(segue_llama_source GIT_REPOSITORY "${SEGUE_LLAMA_REPOSITORY}"
                                          GIT_TAG ${SEGUE_LLAMA_COMMIT})
  # Only the source: it is added below, where its own targets stay out of `all`.
  FetchContent_GetProperties(segue_llama_source)
  if(NOT segue_llama_source_POPULATED)
    FetchContent_Populate(segue_llama_source)
  endif()
  set(SEGUE_LLAMA_SOURCE "${segue_llama_source_SOURCE_DIR}")
endif()

set(LLAMA_BUILD_COMMON ON)
set(LLAMA_BUILD_MTMD ON)
set(LLAMA_BUILD_TESTS OFF)
set(LLAMA_BUILD_TOOLS OFF)
set(LLAMA_BUILD_EXAMPLES OFF)
set(LLAMA_BUILD_SERVER OFF)
set(LLAMA_BUILD_APP OFF)
set(LLAMA_OPENSSL OFF)
# Back ends that are chosen at run time are shared libraries, and so is then what they stand on.
if(GGML_BACKEND_DL)
  set(BUILD_SHARED_LIBS ON)
else()
  set(BUILD_SHARED_LIBS OFF)
endif()
add_subdirectory(${SEGUE_LLAMA_SOURCE} ${PROJECT_BINARY_DIR}/llama.cpp EXCLUDE_FROM_ALL)

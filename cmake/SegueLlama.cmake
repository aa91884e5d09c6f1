# llama.cpp as a subproject: static, CPU by default, with the libraries that segue links and no more.
set(SEGUE_LLAMA_SOURCE "${PROJECT_SOURCE_DIR}/.deps/llama.cpp" CACHE PATH
    "llama.cpp source tree, at tag v0.5.0")

set(LLAMA_BUILD_COMMON ON)
set(LLAMA_BUILD_MTMD ON)
set(LLAMA_BUILD_TESTS OFF)
set(LLAMA_BUILD_TOOLS OFF)
set(LLAMA_BUILD_EXAMPLES OFF)
set(LLAMA_BUILD_SERVER OFF)
set(LLAMA_BUILD_APP OFF)
set(LLAMA_OPENSSL OFF)
set(BUILD_SHARED_LIBS OFF)
add_subdirectory(${SEGUE_LLAMA_SOURCE} ${PROJECT_BINARY_DIR}/llama.cpp EXCLUDE_FROM_ALL)

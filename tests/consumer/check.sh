#!/usr/bin/env bash
# Builds this folder's program as another project would, and runs it on the bundled model.
#   tests/consumer/check.sh find_package|pkg_config|subdirectory BUILD_DIR
# The first two use the tree that BUILD_DIR installs, in a place it was moved to after.
set -euo pipefail
way=${1:?find_package, pkg_config or subdirectory}
build=$(cd "${2:?a build folder of segue}" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
cache() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
compiler=(-DCMAKE_C_COMPILER="$(cache CMAKE_C_COMPILER)" -DCMAKE_CXX_COMPILER="$(cache CMAKE_CXX_COMPILER)"
  -DCMAKE_C_COMPILER_LAUNCHER="$(cache CMAKE_C_COMPILER_LAUNCHER)"
  -DCMAKE_CXX_COMPILER_LAUNCHER="$(cache CMAKE_CXX_COMPILER_LAUNCHER)")

install_tree() {
  rm -rf "$work"
  mkdir -p "$work"
  cmake --install "$build" --prefix "$work/first" >/dev/null
  mv "$work/first" "$work/installed"
  libdir=$(basename "$(dirname "$(find "$work/installed" -name pkgconfig)")")
  # What the shared library shows is segue's alone.
  strangers=$(nm -D --defined-only -C "$work/installed/$libdir/libsegue.so" |
    sed -E 's/^[0-9a-f]* . //' | grep -vE '^(typeinfo for |typeinfo name for |vtable for )?segue::' || true)
  [ -z "$strangers" ] || {
    echo "names in libsegue.so that are not segue's:" >&2
    head -20 <<<"$strangers" >&2
    exit 1
  }
  # The program finds its library and the model that was installed with it, wherever it stands.
  (cd / && echo 'Hello' | "$work/installed/bin/segue" chat | grep -q .)
}

work=$build/consumer-$way
case $way in
  find_package)
    install_tree
    cmake -G Ninja -S "$here" -B "$work/build" "${compiler[@]}" -DCMAKE_PREFIX_PATH="$work/installed"
    cmake --build "$work/build"
    program=$work/build/consumer
    ;;
  pkg_config)
    install_tree
    export PKG_CONFIG_PATH=$work/installed/$libdir/pkgconfig
    program=$work/consumer
    # shellcheck disable=SC2046  # flags are words
    "$(cache CMAKE_CXX_COMPILER)" -std=c++20 "$here/main.cc" -o "$program" \
      $(pkg-config --cflags --libs segue) -Wl,-rpath,"$work/installed/$libdir"
    ;;
  subdirectory)
    # As deep as a preset's build folder, so that ccache knows llama.cpp's objects.
    work=$root/build/consumer-subdirectory
    export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
    cmake -G Ninja -S "$here" -B "$work" "${compiler[@]}" -DCMAKE_BUILD_TYPE=Release \
      -DSEGUE_TREE="$root" -DSEGUE_LLAMA_SOURCE="$(cache SEGUE_LLAMA_SOURCE)"
    cmake --build "$work"
    program=$work/consumer
    ;;
  *)
    echo "unknown way: $way" >&2
    exit 2
    ;;
esac
"$program" "$root/models/segue-tiny.gguf"

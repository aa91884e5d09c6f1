#!/usr/bin/env bash
# Configures and builds one preset; says what it is doing, keeps the rest in build/log.
#   scripts/build.sh PRESET [TARGET...]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
preset=${1:?usage: scripts/build.sh PRESET [TARGET...]}
shift

scripts/setup.sh
scripts/fetch_llama.sh
if [ ! -f "build/$preset/build.ninja" ]; then
  say "Configuring ($preset)"
  quietly "configure-$preset" cmake --preset "$preset"
  say "Building llama.cpp and segue ($preset): a few minutes the first time"
fi
targets=()
for target in "$@"; do targets+=(--target "$target"); done
quietly "build-$preset" cmake --build --preset "$preset" "${targets[@]}"

#!/usr/bin/env bash
# clang-tidy over our own sources, and the layout check.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/setup.sh --lint
scripts/format.sh --check
scripts/build.sh release
say "clang-tidy"
git ls-files 'src/*.cc' 'apps/*.cc' 'tests/*.cc' 'bench/*.cc' | grep -v '^tests/consumer/' |
  xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build/release

#!/usr/bin/env bash
# Lays out every source file; with --check only tells which are not.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
scripts/setup.sh --lint
mapfile -t files < <(git ls-files '*.h' '*.cc' '*.c')
if [ "${1:-}" = --check ]; then
  clang-format --dry-run --Werror "${files[@]}"
else
  clang-format -i "${files[@]}"
fi

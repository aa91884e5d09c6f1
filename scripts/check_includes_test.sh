#!/usr/bin/env bash
# The include check itself: a right tree passes, each kind of wrong include is found.
set -euo pipefail
check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{include/segue,apps/cli,src/{reuse,engine,llama,session}}

expect() { # expect pass|fail FILE INCLUDE
  printf '#include %s\n' "$3" >"$tree/$2"
  if "$check" "$tree" >/dev/null 2>&1; then actual=pass; else actual=fail; fi
  rm "$tree/$2"
  [ "$actual" = "$1" ] || {
    echo "$2 with $3: expected $1, got $actual" >&2
    exit 1
  }
}
expect pass src/engine/a.cc '"reuse/record.h"'
expect pass src/engine/a.cc '<vector>'
expect pass src/llama/a.cc '"llama.h"'
expect pass src/session/a.cc '"llama/context.h"'
expect pass apps/cli/a.cc '"segue/segue.h"'
expect fail src/reuse/a.cc '"engine/engine.h"'
expect fail src/llama/a.cc '"reuse/record.h"'
expect fail src/engine/a.cc '"llama.h"'
expect fail src/engine/a.cc '<ggml-cpu.h>'
expect fail include/segue/a.h '"reuse/record.h"'
expect fail apps/cli/a.cc '"engine/engine.h"'

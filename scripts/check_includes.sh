#!/usr/bin/env bash
# Checks the direction of includes between the rooms of a source tree (this one by default): a room
# includes itself and those below it; only src/llama, tests and bench include llama.cpp's headers; the
# public headers include no other.
#   scripts/check_includes.sh [ROOT]
set -euo pipefail
root=${1:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
cd "$root"

# From the bottom up. llama stands on backend alone.
rooms=(backend llama reuse store engine chat session)
declare -A rank
for i in "${!rooms[@]}"; do rank[${rooms[$i]}]=$i; done

faults=0
fault() {
  echo "$1" >&2
  faults=$((faults + 1))
}

while IFS=: read -r file line text; do
  header=$(sed -E 's/.*#[[:space:]]*include[[:space:]]*["<]([^">]+)[">].*/\1/' <<<"$text")
  target=${header%%/*}
  [ -f "$(dirname "$file")/$header" ] && continue  # a neighbour in the same folder
  case "$file" in
    include/*) room=public ;;
    src/*) room=$(cut -d/ -f2 <<<"$file") ;;
    *) room=app ;;
  esac
  case "$header" in
    llama.h | llama-*.h | ggml*.h | gguf.h | mtmd*.h | common.h | chat.h | sampling.h | log.h)
      [ "$room" = llama ] || fault "$file:$line: $header: only src/llama includes llama.cpp's headers"
      ;;
  esac
  if [ "$room" = public ] && [ -n "${rank[$target]+set}" ]; then
    fault "$file:$line: $header: a public header includes public headers only"
  elif [ "$room" = app ] && [ -n "${rank[$target]+set}" ]; then
    fault "$file:$line: $header: the programs stand on the public headers alone"
  elif [ -n "${rank[$room]+set}" ] && [ -n "${rank[$target]+set}" ]; then
    if [ "$room" = llama ] && [ "$target" != llama ] && [ "$target" != backend ]; then
      fault "$file:$line: $header: llama stands on backend alone"
    elif [ "${rank[$target]}" -gt "${rank[$room]}" ]; then
      fault "$file:$line: $header: $room is below $target and may not include it"
    fi
  fi
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' include src apps \
  --include='*.h' --include='*.cc' --include='*.c')

[ "$faults" -eq 0 ] || {
  echo "$faults includes point the wrong way (docs/architecture.md shows the rooms)" >&2
  exit 1
}

#!/bin/sh
# Functions of the solvers stay readable: at most 60 lines and 20 branches (1 + if, for, while, case, &&, ||, ?) each.
set -u
cd "$1" || exit 2
bad=$(find solvers -name '*.c' | sort | xargs awk '
  FNR == 1 { inside = 0 }
  !inside && /^[A-Za-z_].*[)] [{]$/ { inside = 1; first = FNR; branches = 1; name = $0 }
  !inside && /^[A-Za-z_].*[(]/ && !/;$/ && !/[{]$/ { head = $0 }
  !inside && /^ .*[)] [{]$/ { inside = 1; first = FNR; branches = 1; name = head }
  inside {
    line = $0
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    sub(/\/\/.*/, "", line)
    branches += gsub(/(^|[^A-Za-z0-9_])(if|for|while|case)($|[^A-Za-z0-9_])/, "", line)
    branches += gsub(/&&|[|][|]|[?]/, "", line)
  }
  inside && /^}/ {
    inside = 0
    if (FNR - first + 1 > 60 || branches > 20)
      printf "%s:%d: %d lines, %d branches: %s\n", FILENAME, first, FNR - first + 1, branches, name
  }')
[ -z "$bad" ] && echo "functions of the solvers are short" && exit 0
echo "$bad"
exit 1

#!/bin/sh
# check_numbers.sh LASH [WORD]: reruns the commands whose numbers stand in README and docs and compares. Lines of docs/numbers.txt:
#
#     FILE | NOISE | COMMAND | PATTERN
#
# COMMAND is run by lash from the root of the sources, once each. PATTERN is a piece of its output, in which {} stands for a number and blanks for any blanks; the
# same piece must stand in FILE, with a number that differs by at most NOISE (relative: 0.01 is one percent; absolute with an a behind it: 1e-10a).
# An L behind the noise: only with LASH_LONG_TESTS=1, since it takes minutes. "COMMAND ; COMMAND" runs both. "! COMMAND" is one of the shell, not of lash
# ($lash is the program, $work a scratch folder; its | has no blanks around it).
# "PATTERN => OTHER" where the document words it otherwise; there {*1000} is the number times 1000, and "...{}" the first number of the line after the words before it
# that what follows suits. With WORD only lines that contain it are checked.
# Exit code 1 when a number differs or is not found; what stands there and what should is told with the file and its line.
set -u
lash=$(realpath "$1")
word=${2:-}
cd "$(dirname "$0")/.." || exit 1
[ -x "$lash" ] || { echo "$lash cannot be run; 'make' builds it"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 bad=0
ln -s "$PWD/models" "$work/models"
export XDG_CACHE_HOME="$work" lash work

# Words are split at blanks, nothing is expanded; " ; " begins another command. Exit code 6, out of spec, is a result.
run_all() {
  rest=$1
  while [ -n "$rest" ]; do
    one=${rest%% ; *}
    case $rest in *' ; '*) rest=${rest#* ; } ;; *) rest= ;; esac
    case $one in '! '*) sh -c "${one#! }" && continue || return 1 ;; esac
    # shellcheck disable=SC2086
    (cd "$work" && set -f && "$lash" $one) || [ $? = 6 ] || return 1
  done
}

grep -v '^ *#' docs/numbers.txt | grep '|' | grep -F -- "$word" >"$work/lines"
while IFS= read -r line; do
  file=$(echo "$line" | awk -F ' [|] ' '{ print $1 }')
  noise=$(echo "$line" | awk -F ' [|] ' '{ print $2 }')
  command=$(echo "$line" | awk -F ' [|] ' '{ print $3 }')
  pattern=$(echo "$line" | awk '{ for (i = 0; i < 3; ++i) $0 = substr($0, index($0, " | ") + 3); print }')
  case $noise in *L) [ -n "${LASH_LONG_TESTS:-}" ] || continue ;; esac
  noise=${noise%L}
  out=$work/$(echo "$command" | cksum | tr ' ' _)
  [ -e "$out" ] || run_all "$command" >"$out" 2>"$out.err" || {
    echo "lash $command fails:"; cat "$out.err"; bad=$((bad + 1)); }
  awk -v file="$file" -v noise="$noise" -v command="$command" -v pattern="$pattern" -v out="$out" '
    function plain(s) { gsub(/[ \t]+/, " ", s); sub(/^ /, "", s); return s }
    # the number that stands for {} in the first line of `text` that has the pattern, or ""
    function number(text, pattern,    line, parts, n, k, head, tail, rest, at, loose) {
      n = index(pattern, "{"); loose = substr(pattern, n - 3, 3) == "..."; if (loose) pattern = substr(pattern, 1, n - 4) substr(pattern, n)
      n = index(pattern, "{"); head = plain(substr(pattern, 1, n - 1)); tail = substr(pattern, n); sub(/^\{[^}]*\}/, "", tail)
      place = 0
      while ((getline line < text) > 0) {
        ++place
        line = plain(line)
        at = head == "" ? 1 : index(line, head)
        while (at > 0) {
          rest = substr(line, at + length(head))
          if (loose) { # number after number
            while (match(rest, /(^| )[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?/)) {
              value = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
              if (index(rest, plain(tail)) == 1 || index(plain(rest), plain(tail)) == 1) { close(text); return value }
            }
            break
          }
          if (match(rest, /^ ?[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?/)) {
            value = substr(rest, 1, RLENGTH)
            if (tail == "" || index(substr(rest, RLENGTH + 1), plain(tail)) == 1 || index(plain(substr(rest, RLENGTH + 1)), plain(tail)) == 1) { close(text); return value }
          }
          if (head == "") break
          k = index(substr(line, at + 1), head); at = k > 0 ? at + k : 0
        }
      }
      close(text); return ""
    }
    BEGIN {
      k = index(pattern, " => "); here = there = pattern
      if (k > 0) { here = substr(pattern, 1, k - 1); there = substr(pattern, k + 4) }
      factor = 1
      if (match(there, /\{\*[^}]*\}/)) factor = substr(there, RSTART + 2, RLENGTH - 3) + 0
      now = number(out, here)
      if (now == "") { print "lash " command ": its output has no \"" here "\""; exit 1 }
      told = number(file, there); line = place
      if (told == "") { print file ": has no \"" there "\""; exit 1 }
      now = factor * now; difference = told - now; if (difference < 0) difference = -difference
      size = now < 0 ? -now : now
      limit = noise ~ /a$/ ? noise + 0 : noise * size
      if (difference <= limit) exit 0
      print file ":" line ": \"" there "\" says " told ", lash " command " gives " now " (noise " noise ")"
      exit 1
    }' </dev/null || bad=$((bad + 1))
  count=$((count + 1))
done <"$work/lines"
[ $bad = 0 ] && echo "$count numbers of README and docs are as the program gives them"
[ $bad = 0 ]

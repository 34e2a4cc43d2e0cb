#!/bin/bash
# Man pages and completion: every command and option is there, the pages are clean roff, words complete. manual.sh SOURCE BUILD
set -eu
source=$1 build=$2 pages=$2/manual bad=0
fail() { echo "$*"; bad=1; }

# ---- man pages
for page in lash.1 lash-model.5 lash-study.5 lash-make-step.1; do
  [ -s "$pages/$page" ] || { fail "$page is missing"; continue; }
  grep -q '@' "$pages/$page" && fail "$page has a placeholder left"
  if command -v groff >/dev/null; then
    warnings=$(groff -ww -man -Tutf8 "$pages/$page" 2>&1 >/dev/null) || true
    [ -z "$warnings" ] || fail "$page: $warnings"
  fi
done
# each page refers to all others
for page in lash.1 lash-model.5 lash-study.5 lash-make-step.1; do
  for other in 'lash (1)' 'lash\\-model (5)' 'lash\\-study (5)' 'lash\\-make\\-step (1)'; do
    [ "$(echo "$other" | sed 's/[\\() ]//g')" = "$(echo "$page" | sed 's/\.//')" ] || sed -n '/^.SH SEE ALSO/,$p' "$pages/$page" | grep -qF ".BR $(echo "$other" | sed 's/\\\\/\\/g')" || fail "$page does not refer to $other"
  done
done
commands=$("$build/lash" -h | awk '/^  [a-z]/ { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 7 ] || fail "only these commands: $commands"
for command in $commands; do
  grep -q "^.SS \"lash $command" "$pages/lash.1" || fail "lash.1 does not know 'lash $command'"
  for option in $("$build/lash" "$command" -h | grep -oE '^ +(-., )?--[a-z-]+' | grep -oE '[a-z][a-z-]+$'); do
    [ "$option" = help ] || grep -q -- "\\\\-\\\\-$(echo "$option" | sed 's/-/\\\\-/g')" "$pages/lash.1" || fail "lash.1 lacks --$option of $command"
  done
done
for key in restitution angular_velocity tolerance_velocity second_axis record_every; do
  grep -q "^.B $key" "$pages/lash-model.5" || fail "lash-model.5 lacks the key $key"
done

# ---- completion
. "$pages/lash.bash"
cd "$source/models/slider_crank"
complete_words() { # words of the line; the last one is being typed. Sorted candidates
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _lash
  printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}
expect() { # expected candidates, words
  local want=$1 got
  shift
  got=$(complete_words "$@")
  [ "$got" = "$want" ] || fail "completing '$*': expected '$want', got '$got'"
}
expect 'check ' lash ch
expect 'geometry ' lash bench g
expect '--direction --dump-friction --duration ' lash run --d
expect 'direct ' lash run model.json --scheme d
expect 'direct ' lash run --scheme = d
expect 'combined direct generalized-alpha ggl hht krenk-hogsberg moreau-jean moreau-midpoint newmark schatzman-paoli trapezoidal trapezoidal-position ' lash run --scheme ''
expect 'ideal.json ' lash run id
expect 'ideal.json ' lash check --json id
expect 'ideal.json ' lash run --set a=1 id
cd "$source/models"
expect 'first ' lash run fir
for command in $commands; do
  [[ " $(complete_words lash '') " == *" $command "* ]] || fail "'$command' is not completed"
done
[ $bad = 0 ] && echo "man pages and completion know $(echo "$commands" | wc -l) commands"
exit $bad

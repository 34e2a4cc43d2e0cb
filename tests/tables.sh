#!/bin/sh
# Tables cannot lie: a row that is added alone, without what it needs, does not compile or does not link. Each is tried on a copy.
# tables.sh SOURCE BUILD CC
set -u
cd "$1" || exit 2
build=$2 cc=$3 bad=0
work=$build/tables.$$
trap 'rm -rf "$work"' EXIT
flags="-std=gnu17 -Wall -Wextra -Wno-missing-field-initializers -Werror=switch -I. -I$build/generated"

# as they stand all of them compile
for file in app/run/quantities.c app/model/model_outputs.c app/study/design.c app/study/analysis.c app/study/report_data.c app/study/report_html.c \
  app/run/export.c joints/force.c app/model/model_forces.c app/model/model_build.c joints/joint.c solvers/schemes/scheme.c; do
  $cc $flags -fsyntax-only "$file" || { echo "$file does not compile"; bad=1; }
done

# what, file of the table, line it goes before, row, files that must object
refused() {
  rm -rf "$work" && mkdir -p "$work" && cp -r app core geometry joints solvers "$work" || exit 2
  before=$(grep -c . "$2")
  sed -i "0,/^ *$3/s//$4\\n&/" "$work/$2"
  [ "$(grep -c . "$work/$2")" -gt "$before" ] || { echo "$1: there is no '$3' in $2 any more"; bad=1; return; }
  what=$1 row=$4
  shift 4
  for file in "$@"; do
    # a name that nothing defines is an error of the compiler or a symbol that is left open
    if (cd "$work" && $cc $flags -c "$file" -o one.o) >"$work/log" 2>&1 && ! nm "$work/one.o" | grep -q ' U .*newcomer'; then
      echo "$what: '$row' alone is taken by $file"
      bad=1
    fi
  done
}
refused output app/model/quantity.h 'X(VELOCITY_X' \
  '    X(NEWCOMER, "newcomer", PART, UNIT_LENGTH, PLAIN, body_newcomer, NORM) \\' app/run/quantities.c
refused 'output without a unit' app/model/quantity.h 'X(VELOCITY_X' \
  '    X(NEWCOMER, "newcomer", PART, PLAIN, body_position, 0) \\' app/model/model_outputs.c app/run/quantities.c
refused unit app/model/model_internal.h 'X(LENGTH' '    X(NEWCOMER, 1, 1, -1) \\' app/model/model_outputs.c
refused design app/study/design.h 'X(LIST' '    X(NEWCOMER, "newcomer", SHARES, DESIGN_SAMPLE, plan_points, newcomer_point) \\' app/study/design.c
refused analysis app/study/design.h 'X(SWINGS' '    X(NEWCOMER, newcomer, "rank", false, "what") \\' \
  app/study/analysis.c app/study/report_data.c app/study/report_html.c
refused 'export format' app/run/export.c 'X(vtk' '    X(newcomer, "help", true, 1, export_newcomer) \\' app/run/export.c
refused 'type of force' joints/mechanism.h 'LASH_JOINT_FORCE,' '    LASH_NEWCOMER,' joints/force.c
refused 'force in models' app/model/model_internal.h 'X(TORQUE, "torque"' \
  '    X(NEWCOMER, "newcomer", HAS(part), HAS(axes), newcomer, LASH_TORQUE, LASH_TORQUE) \\' app/model/model_forces.c app/model/model_build.c
refused joint joints/mechanism.h 'X(GEAR' '    X(NEWCOMER, newcomer) \\' joints/joint.c
refused scheme solvers/sim.h 'SCHEME(LASH_DIRECT' '    SCHEME(LASH_NEWCOMER, newcomer, "newcomer") \\' solvers/schemes/scheme.c
[ $bad = 0 ] && echo "ten rows without what they need were refused"
exit $bad

#!/bin/sh
# Who may include whom (docs/architecture.md), and which third-party header is seen where. Fails with the offending lines.
set -u
cd "$1" || exit 2
bad=0

complain() { # text of grep, reason
  [ -z "$1" ] && return
  echo "$2:"; echo "$1"; bad=1
}
# folder, pattern of the folders whose headers it may include
layer() {
  complain "$(grep -rnE '#include "' "$1" --include='*.c' --include='*.h' --include='*.cpp' --include='*.hpp' |
    grep -vE "#include \"($2)/")" "$1 may include only $2"
}
layer core     'core'
layer geometry 'core|geometry'
layer joints   'core|geometry|joints'
layer solvers  'core|solvers'

# header pattern, files that may see it
only() {
  complain "$(grep -rnE "#include [<\"]$1" core geometry joints solvers app --include='*.c' --include='*.h' \
    --include='*.cpp' --include='*.hpp' | grep -vE "^($2):")" "only $2 may include $1"
}
only 'cjson/|cJSON' 'app/model/model_io\.c'
only 'sqlite3'      'app/study/store_internal\.h'
only 'boost/'       'app/study/sobol_directions\.cpp'
only 'mpi\.h'       'app/study/mpi_main\.c'
only 'hdf5'         'app/run/record_[a-z]*\.[ch]|app/bench/problem_(fclib|set)\.c'
only '(lapacke|cblas|openblas)' 'none: another processor would compute other bits'
only '(mujoco|Siconos|FrictionContactProblem|NewtonEuler|PivotJointR)' 'app/bench/bench_peer_[a-z]*\.(c|cpp)'
only '(BRep|TopoDS|TopExp|STEP|XCAF|gp_|Geom)' 'geometry/cad/[a-z_]*\.(cpp|hpp)'

only '(GLFW/|backends/imgui|imgui|epoxy/|cglm/|stb/)' 'app/viewer/[a-z_]*\.(c|cpp|hpp)'
only 'cglm/' 'app/viewer/matrix\.c'
only 'stb/' 'app/viewer/picture\.c'

# Library folders never print: only the last words of an assertion and of out-of-memory do.
complain "$(grep -nE '(^|[^a-z_])(printf|puts|putchar|fprintf|fputs|perror) *\(' $(find core joints solvers geometry -name '*.c') |
  grep -vE '^core/(error|arena)\.c:')" 'library folders do not print'

[ $bad = 0 ] && echo "layers are kept"
exit $bad

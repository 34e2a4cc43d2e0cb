#!/bin/sh
# Every header compiles alone: public ones as C17 and as C++17, *_internal.h as C17. headers.sh SOURCE BUILD CC CXX
set -u
cd "$1" || exit 2
build=$2 cc=$3 cxx=$4 bad=0 count=0
for header in $(find core geometry joints solvers app -name '*.h' | sort); do
  flags="-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-unused-function -fsyntax-only -I. -I$build/generated $(pkg-config --cflags hdf5)"
  echo "#include \"$header\"" | $cc -std=gnu17 $flags -x c - || { echo "$header does not compile alone as C"; bad=1; }
  case $header in *_internal.h | joints/joint.h) ;; *)
    echo "#include \"$header\"" | $cxx -std=gnu++17 $flags -x c++ - || { echo "$header does not compile alone as C++"; bad=1; } ;;
  esac
  count=$((count + 1))
done
[ $bad = 0 ] && echo "$count headers compile alone"
exit $bad

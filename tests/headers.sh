#!/bin/sh
# Every header compiles alone: public ones as C17 and as C++17, *_internal.h as C17. Those that are installed compile together,
# carry the prefix and, without LASH_MATH, bring no other function. headers.sh SOURCE BUILD CC CXX
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

# ---- installed ones, together and in the folder they are installed to
root=$build/headers.$$
trap 'rm -rf "$root"' EXIT
cmake --install "$build" --prefix "$root" --component Unspecified >/dev/null 2>&1 || { echo "cannot install"; exit 1; }
include=$root/include/lash
(cd "$include" && find . -name '*.h' | sort | sed 's|^\./|#include "|; s|$|"|') >"$root/all.c"
cp "$root/all.c" "$root/all.cpp"
strict="-Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only -I$include"
$cc -std=c17 $strict -Wno-unused-function "$root/all.c" || { echo "installed headers do not compile together as C"; bad=1; }
$cxx -std=c++17 $strict -Wno-unused-function "$root/all.cpp" || { echo "installed headers do not compile together as C++"; bad=1; }
# functions that lash.h declares or defines, beside those of the system
echo '#include <lash.h>' | $cc -std=c17 -E -I"$include" - | awk -v own="$include" '
  /^# [0-9]/ { mine = index($3, own) > 0; next } mine' | tr '\n' ' ' | sed 's/[a-z_]*->[a-z_]*(/(/g; s/[;{}]/&\n/g' |
  grep -oE '[A-Za-z_][A-Za-z0-9_]* ?\([^()]*\) *(__attribute__.*)?[;{]' | grep -oE '^[A-Za-z_][A-Za-z0-9_]*' | sort -u |
  grep -vE '^(lash_|Lash|LASH_|if$|for$|while$|switch$|sizeof$|return$|__attribute__$)' >"$root/names"
[ -s "$root/names" ] && { echo "lash.h declares functions without the prefix:"; cat "$root/names"; bad=1; }
# types and enumerated values
echo '#include <lash.h>' | $cc -std=c17 -E -I"$include" - | awk -v own="$include" '/^# [0-9]/ { mine = index($3, own) > 0; next } mine' >"$root/text"
{ grep -oE '^} ?[A-Za-z_0-9]+;' "$root/text"; grep -oE '(struct|enum|union) +[A-Za-z_0-9]+ *[{]' "$root/text"
  tr '\n' ' ' <"$root/text" | grep -oE 'enum [A-Za-z_0-9]* *[{][^}]*[}]' | sed 's/^[^{]*[{]//' | tr ',}' '\n\n' | sed 's/=.*//'
} | sed -E 's/^(struct|enum|union) +//' | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u | grep -vE '^(Lash|LASH_)' >"$root/names"
[ -s "$root/names" ] && { echo "lash.h has types or values without the prefix:"; cat "$root/names"; bad=1; }
[ $bad = 0 ] && echo "$count headers compile alone, $(wc -l <"$root/all.c") installed ones together"
exit $bad

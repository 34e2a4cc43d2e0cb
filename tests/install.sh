#!/bin/sh
# Installs into a fresh folder and builds docs/example against it: pkg-config and CMake, C and C++, shared and static.
# install.sh SOURCE BUILD CC CXX
set -eu
source=$1 build=$2 cc=$3 cxx=$4
root=$build/install.$$ work=$build/install.$$.work
trap 'rm -rf "$root" "$work"' EXIT
unset LASH_CAD
fail() { echo "$*"; exit 1; }
mkdir -p "$work"
cmake --install "$build" --prefix "$root" >/dev/null
models=$root/share/lash/models
model=$models/slider_crank/ideal.json
lib=$(dirname "$(find "$root" -name liblash.a)")

# ---- what is there
for file in bin/lash share/man/man1/lash.1 share/man/man5/lash-model.5 share/bash-completion/completions/lash include/lash/lash.h; do
  [ -s "$root/$file" ] || fail "$file is not installed"
done
soname=$(readelf -d "$lib/liblash.so" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
[ "$soname" = liblash.so.0 ] || fail "SONAME is '$soname'"
[ -e "$lib/$soname" ] || fail "$soname is missing"
nm -D --defined-only "$lib/liblash.so" | awk '{ print $3 }' | sort >"$work/exported"
! grep -v '^lash_' "$work/exported" || fail "the shared library shows more than lash_*"
! readelf -d "$lib/liblash.so" | grep -E 'NEEDED.*(sqlite|GL|glfw|epoxy|imgui|TK[A-Z])' || fail "the shared library needs more than it should"
# every function that lash.h declares is in it (those it defines itself are static)
echo '#include <lash.h>' | $cc -E -P -I"$root/include/lash" - | tr '\n' ' ' | sed 's/static inline/\nstatic inline/g; s/[;}]/&\n/g' >"$work/lines"
grep -v '^static inline' "$work/lines" | grep -oE '\blash_[a-z0-9_]+ ?\([^)]*\)[^{};]*;' | grep -oE '^lash_[a-z0-9_]+' | sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -ge 60 ] || fail "only $(wc -l <"$work/declared") functions found in lash.h"
sed -n 's/^static inline.*\b\(lash_[a-z0-9_]*\) \?(.*/\1/p' "$work/lines" | sort -u >"$work/inline"
missing=$(comm -23 "$work/declared" "$work/exported" | comm -23 - "$work/inline")
[ -z "$missing" ] || fail "declared in lash.h, not in the shared library: $missing"

# ---- pkg-config: C and C++, shared and static
PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib
export PKG_CONFIG_PATH LD_LIBRARY_PATH
cp "$source/docs/example/example.c" "$work/"
cp "$source/docs/example/example.c" "$work/example.cpp"
cp "$source/docs/example/drive.c" "$work/"
cp "$source/docs/example/drive.c" "$work/drive.cpp"
cd "$work"
# shellcheck disable=SC2046
{
  $cc -std=c17 -Wall -Werror example.c -o c_shared $(pkg-config --cflags --libs lash)
  $cxx -std=c++17 -Wall -Werror example.cpp -o cxx_shared $(pkg-config --cflags --libs lash)
  $cc -std=c17 -Wall -Wextra -Werror drive.c -o drive_c $(pkg-config --cflags --libs lash)
  $cxx -std=c++17 -Wall -Wextra -Werror drive.cpp -o drive_cxx $(pkg-config --cflags --libs lash)
  $cc -std=c17 example.c -o c_static $(pkg-config --cflags --libs --static lash | sed 's/-llash/-l:liblash.a/')
}
readelf -d c_shared | grep -q 'NEEDED.*liblash.so.0' || fail "c_shared does not use the shared library"
! readelf -d c_static | grep -q 'NEEDED.*liblash' || fail "c_static uses the shared library"

# ---- CMake: the example as it stands, and in C++ and static beside it
mkdir cmake
cp "$source/docs/example/CMakeLists.txt" example.c example.cpp cmake/
cat >>cmake/CMakeLists.txt <<'MORE'
enable_language(CXX)
add_executable(example_cxx example.cpp)
target_link_libraries(example_cxx PRIVATE lash::lash)
add_executable(example_static example.c)
target_link_libraries(example_static PRIVATE lash::static)
MORE
unset LD_LIBRARY_PATH
CC=$cc CXX=$cxx cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$root" >cmake.log || { cat cmake.log; fail "find_package fails"; }
cmake --build cmake/build >cmake.log 2>&1 || { cat cmake.log; fail "the CMake example does not build"; }

# ---- all of them say the same
export LD_LIBRARY_PATH="$lib"
./c_shared "$model" >expected
[ "$(wc -l <expected)" = 11 ] || fail "the example printed $(wc -l <expected) lines"
for program in ./cxx_shared ./c_static cmake/build/example cmake/build/example_cxx cmake/build/example_static; do
  $program "$model" >got && cmp -s expected got || fail "$program differs"
done
./c_shared "$model" crank_speed=10 >got
! cmp -s expected got || fail "the parameter has no effect"
for program in ./drive_c ./drive_cxx; do # the interface for bindings
  $program "$model" 50 >got && grep -q 'the same again' got || fail "$program: $(cat got)"
done
./c_shared /nonexistent.json 2>/dev/null && fail "a missing file passes" || [ $? = 7 ] || fail "a missing file gives $?"

# ---- STEP: the library finds its helper program below the folder it stands in, which is not the one it was built for
cat >part.json <<'PART'
{"format": "lash-step/1", "name": "bar", "steps": [{"box": {"size": [300, 20, 10]}}]}
PART
cat >step.json <<'STEP'
{"format": "lash-model/1", "units": {"length": "mm", "mass": "g"}, "gravity": [0, 0, -9810],
 "parts": [{"name": "bar", "step": "bar.step", "density": 0.00785, "pose": {"position": [150, 0, 0]}}],
 "joints": [{"name": "hinge", "type": "revolute", "a": "ground", "b": "bar", "point": [0, 0, 0], "axis": [0, 1, 0]}],
 "simulation": {"step": 0.001, "duration": 0.1}}
STEP
"$build/lash-make-step" part.json bar.step
mkdir elsewhere
cp c_shared elsewhere/
XDG_CACHE_HOME=$work elsewhere/c_shared step.json >got || fail "a STEP part cannot be read through the installed library"
[ "$(wc -l <got)" = 11 ] || fail "the STEP model printed $(wc -l <got) lines"
"$root/bin/lash" check "$model" >/dev/null

# ---- the tree is moved: programs built against it there find the helper, static ones too
moved=$work/moved
mv "$root" "$moved"
export PKG_CONFIG_PATH="$moved/${lib#"$root"/}/pkgconfig"
unset LD_LIBRARY_PATH
# shellcheck disable=SC2046
$cc -std=c17 -Wall -Werror example.c -o elsewhere/c_static $(pkg-config --cflags --libs --static lash | sed 's/-llash/-l:liblash.a/')
# shellcheck disable=SC2046
$cxx -std=c++17 -Wall -Werror example.cpp -o elsewhere/cxx_static $(pkg-config --cflags --libs --static lash | sed 's/-llash/-l:liblash.a/')
for program in c_static cxx_static; do
  XDG_CACHE_HOME=$work/$program elsewhere/$program step.json >again || fail "$program: a STEP part cannot be read by a static program from the moved tree"
  cmp -s got again || fail "$program differs"
done
XDG_CACHE_HOME=$work/program "$moved/bin/lash" check step.json >/dev/null || fail "the moved program cannot read STEP files"
"$moved/bin/lash-make-step" part.json again.step && cmp -s bar.step again.step || fail "the moved lash-make-step differs"
for file in share/doc/lash/LICENSE share/doc/lash/README.md share/doc/lash/docs/first_model.md share/man/man1/lash-make-step.1; do
  [ -s "$moved/$file" ] || fail "$file is not installed"
done
mv "$moved" "$root"

# ---- what was installed goes away again
sh "$source/.ci/uninstall" "$build/install_manifest.txt" "$root" >/dev/null
left=$(find "$root" -type f -o -type l | head -3)
[ -z "$left" ] || fail "uninstall leaves $left"
echo "installed, and used in six ways"

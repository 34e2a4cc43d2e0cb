#!/bin/sh
# Installs into a scratch folder and builds a user's program against it. install.sh SOURCE BUILD CC [FLAGS]
set -eu
build=$2 cc=$3 flags=${4:-}
root=$build/install.$$
trap 'rm -rf "$root"' EXIT
cmake --install "$build" --prefix "$root" >/dev/null
cat >"$root/user.c" <<'END'
#include <lash.h>
#include <stdio.h>
int main(int argc, char** argv) {
    LashError error = {0};
    LashModel* model = argc > 1 ? lash_model_load(argv[1], NULL, 0, &error) : NULL;
    if (model == NULL) return 1;
    LashMechanism* mech = lash_model_build(model, &error);
    LashSim* sim = lash_sim_create(lash_mechanism_system(mech), &model->simulation.settings);
    for (int i = 0; i < 100; ++i) if (lash_sim_step(sim).outcome != LASH_CONVERGED) return 2;
    printf("%g s\n", lash_sim_time(sim));
    lash_sim_destroy(sim);
    lash_mechanism_destroy(mech);
    lash_model_destroy(model);
    return 0;
}
END
PKG_CONFIG_PATH=$(dirname "$(find "$root" -name lash.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2086,SC2046
$cc -std=c17 $flags "$root/user.c" -o "$root/user" $(pkg-config --cflags --libs --static lash)
"$root/user" "$root/share/lash/models/slider_crank/ideal.json"
"$root/bin/lash" check "$root/share/lash/models/slider_crank/ideal.json" >/dev/null

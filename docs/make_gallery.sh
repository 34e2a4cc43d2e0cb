#!/bin/bash
# make_gallery.sh LASH [WORD]: writes docs/gallery.md and docs/pictures/gallery/*.png from the models, by the rows of docs/gallery.txt. Times are processor time of one thread.
# With WORD only models that contain it are run and drawn anew, the other rows stay as they are.
set -eu
lash=$(realpath "$1")
word=${2:-}
cd "$(dirname "$0")/.."
mkdir -p docs/pictures/gallery
field() { echo "$line" | awk -F ' [|] ' -v n="$1" '{ print $n }'; }
# processor time of a run [s]; arguments of lash run
cpu() { { LC_ALL=C; export LC_ALL; TIMEFORMAT=%U; time -p "$lash" run "$@" >"$work/out" 2>/dev/null; } 2>"$work/time" || true; awk '/^user/ { print $2 }' "$work/time"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{
  cat <<'HEAD'
# Gallery

Every model that comes with Lash: what it shows, its picture, how to run it, what a step costs (processor time of one thread of a 2-core x86-64 virtual machine;
reading the model is not counted; a busy machine needs up to twice as long as [bench.md](bench.md) says). `lash view MODEL` plays it in a window. The page is written by `docs/make_gallery.sh build/release/lash`.

| | model, and what it shows | run it | steps | per step |
|---|---|---|---|---|
HEAD
  grep -v '^#' docs/gallery.txt | while IFS= read -r line; do
    model=$(field 1) part=$(field 2) camera=$(field 3) text=$(field 4) more=$(field 5)
    name=$(echo "${model%.json}" | tr / _)
    case $model in *"$word"*) ;; *) grep -F "**$model**" docs/gallery.md && continue ;; esac
    whole=$(cpu "models/$model")
    steps=$(awk '/^steps/ { print $2 }' "$work/out")
    end=$(awk '/^steps/ { for (i = 1; i <= NF; ++i) if ($i == "simulated") print $(i - 2) }' "$work/out")
    step=$(awk '/^steps/ { print $4 }' "$work/out")
    begin=$(cpu "models/$model" --duration "$step")
    # shellcheck disable=SC2086
    "$lash" view "models/$model" --png "docs/pictures/gallery/$name.png" --size 360x240 --camera "$camera" --frame "$(awk "BEGIN { print $part * $end }")" --bare $more >&2 ||
      { echo "$model: no picture" >&2; exit 1; }
    cost=$(awk "BEGIN { c = 1e6 * ($whole - $begin) / $steps; if (c < 0.5) print \"below 1 us\"; else if (c < 100) printf \"%.2g us\", c; else printf \"%.2g ms\", c / 1000 }")
    echo "| ![]($(echo "pictures/gallery/$name.png")) | **$model**: $text | \`lash run models/$model\` | $steps | $cost |"
    echo "$model" >&2
  done
} >"$work/page"
cp "$work/page" docs/gallery.md

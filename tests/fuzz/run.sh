#!/bin/sh
# run.sh SOURCE BUILD [TARGET]: fuzzes for 15 s; with LASH_LONG_TESTS=1 for two million executions (results and stores: one million).
# Targets: fuzz_model (the model loader), fuzz_result (the reader of results), fuzz_store (the reader of study stores).
# Seeds of models: all models, the malformed ones, what was found before. What it finds is left in BUILD/TARGET_found; copy the file to
# tests/fuzz/regression with the correction, there the normal tests repeat it.
set -eu
source=$1 build=$2 target=${3:-fuzz_model}
work=$build/${target}_work found=$build/${target}_found
rm -rf "$work" "$found"
mkdir -p "$work/seeds" "$work/corpus" "$found"
if [ "$target" = fuzz_model ]; then
  find "$source/models" "$source/tests/data/bad" "$source/tests/fuzz/regression" -name '*.json' | while read -r file; do
    cp "$file" "$work/seeds/$(echo "${file#"$source"/}" | tr / _)"
  done
fi
runs=2000000 length=8192
if [ "$target" = fuzz_store ]; then runs=1000000 length=65536; fi
if [ "$target" = fuzz_result ]; then runs=1000000 length=256; fi # faults and changes, not whole files
if [ -n "${LASH_LONG_TESTS:-}" ]; then limit=-runs=$runs; else limit=-max_total_time=15; fi
# leaks count; a run of one input may take 10 s and 1 GB, far more than any should. Freed memory is held back to 8 MB, which an execution
# does not reach, and its history is short: both cost more time than what is tested.
export LSAN_OPTIONS="suppressions=$source/tests/lsan.supp:print_suppressions=0" # of libraries
ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8:malloc_context_size=8:max_malloc_fill_size=0 "$build/$target" $limit -seed=1 -max_len=$length -timeout=10 -rss_limit_mb=1024 \
  -print_final_stats=1 -artifact_prefix="$found/" "$work/corpus" "$work/seeds" >"$work/log" 2>&1 || {
  grep -v '^#' "$work/log" | tail -40
  echo "the input is in $found"
  exit 1
}
grep -E 'number_of_executed|peak_rss' "$work/log"
grep -oE 'cov: [0-9]+' "$work/log" | tail -1
rm -rf "$work"

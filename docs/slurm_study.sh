#!/bin/sh
# A study on a cluster with Slurm, in two ways. Needs lash (and lash-mpi for the first) on every node and a shared folder.
#
#   sbatch docs/slurm_study.sh models/circuit_breaker/clearances.study.json          one job with MPI
#   sbatch --array=1-16 docs/slurm_study.sh STUDY.json                               16 independent jobs
#
# After a lost node or the time limit submit the same again: rows that are finished are kept, the rest is run.
# After an array: lash study merge -o NAME.db NAME.shard-*.db
#SBATCH --job-name=lash-study
#SBATCH --ntasks=32
#SBATCH --cpus-per-task=1
#SBATCH --time=04:00:00
set -eu
study=$1
name=$(basename "$study" .json)

if [ -n "${SLURM_ARRAY_TASK_ID:-}" ]; then
  # one shard per job of the array, all cores of its allocation as threads
  store=$name.shard-$SLURM_ARRAY_TASK_ID.db
  jobs=$((${SLURM_NTASKS:-1} * ${SLURM_CPUS_PER_TASK:-1}))
  if [ -e "$store" ]; then
    exec lash study resume "$store" -j "$jobs"
  fi
  exec lash study run "$study" -o "$store" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" -j "$jobs"
fi

store=$name.db
if [ -e "$store" ]; then
  exec srun lash-mpi study resume "$store"
fi
exec srun lash-mpi study run "$study" -o "$store"

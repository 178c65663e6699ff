#!/usr/bin/env bash
# A forest grown by a Slurm job array and merged: exactly the forest of one job.
#
#   TASKS=10 TREES=500 DATA=train.svm OPTIONS="--projection gaussian" slurm.sh submit
#
# Each task grows its trees with the command `rpo` and saves a part; the last job merges them to forest.rpo.
#SBATCH --cpus-per-task=4
set -euo pipefail

: "${TASKS:=10}" "${TREES:=500}" "${DATA:=train.svm}" "${METHOD:=random-forest}" "${SEED:=0}" "${OPTIONS:=}" "${OUT:=forest.rpo}"
export TASKS TREES DATA METHOD SEED OPTIONS OUT

# Grows the trees of one task.
grow() {
    local task=$1 first last
    first=$((TREES * task / TASKS))
    last=$((TREES * (task + 1) / TASKS))
    # Decision thresholds belong to one model: parts with some, as the first of a structured forest by default, do not merge.
    [[ $METHOD != structured-forest ]] || OPTIONS="--thresholds none $OPTIONS"
    # shellcheck disable=SC2086 # the options are words
    rpo train --data "$DATA" --method "$METHOD" --seed "$SEED" --first-tree "$first" --trees $((last - first)) \
        $OPTIONS --model "$OUT.$(printf %05d "$task")"
}

# Merges the parts in the order of their trees.
merge() {
    rpo merge --out "$OUT" --models "$OUT".[0-9][0-9][0-9][0-9][0-9]
    rm "$OUT".[0-9][0-9][0-9][0-9][0-9]
}

case ${1:-task} in
    submit)
        array=$(sbatch --parsable --array="0-$((TASKS - 1))" "$0" task)
        sbatch --dependency="afterok:$array" "$0" merge
        ;;
    task) grow "${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:?a task of Slurm or Kubernetes}}" ;;
    merge) merge ;;
esac

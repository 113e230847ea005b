#!/bin/sh
# A sweep on the machines that GNU parallel reaches, a job for each shard:
#
#   breakersim sweep --example parallel > sweep-parallel.sh
#   sh sweep-parallel.sh mine.yaml 8 out
#
# On one machine a plain `breakersim sweep` is as fast. For several, name them
# in PARALLEL_HOSTS, such as "4/node1,4/node2": breakersim must be in their PATH,
# and the file and the folder where they see them, too.
set -eu
sweep=${1:?usage: sh sweep-parallel.sh FILE N [FOLDER]}
shards=${2:?usage: sh sweep-parallel.sh FILE N [FOLDER]}
folder=${3:-out}

seq "$shards" | parallel ${PARALLEL_HOSTS:+--sshlogin "$PARALLEL_HOSTS" --workdir .} --halt now,fail=1 \
  breakersim sweep "$sweep" --shard "{}/$shards" --workers 1 --resume -o "$folder"
breakersim merge "$folder" -o "$folder"

#!/bin/bash
# One run on all GPUs of this machine, or of several, by torchrun; no Python is run, it only starts the workers.
#
#   experiments/cluster/torchrun.sh photos/ --out runs/photos                      # this machine
#   NODES=2 RENDEZVOUS=node-a:29400 experiments/cluster/torchrun.sh photos/ ...    # the same command on both machines
set -eu
nodes=${NODES:-1}
each=${EACH:-gpu}
if [ "$nodes" = 1 ]; then
    meet=(--standalone)
else
    meet=(--rdzv-backend=c10d --rdzv-endpoint="${RENDEZVOUS:?host:port of one of the machines}")
fi
exec torchrun --no-python --nnodes="$nodes" --nproc-per-node="$each" "${meet[@]}" cleanest fit "$@"

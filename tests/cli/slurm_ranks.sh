#!/bin/bash
# Starts a Slurm of one node on this machine (munged, slurmctld, slurmd, in a temporary folder) and runs roofline's commands
# under srun and mpirun with CPU ranks: calibrate, fleet, profile. To be run by hand, as root; its output is evidence
# (docs/evidence/ranks-cpu.md). Needs slurm-wlm, munge, openmpi-bin and libopenmpi-dev of Debian.
#
# usage: slurm_ranks.sh PATH_OF_ROOFLINE
set -euo pipefail
roofline=$(realpath "$1")
source=$(realpath "$(dirname "$0")/rank_programs.c")
for tool in munged slurmctld slurmd srun mpirun mpicc; do
  command -v $tool >/dev/null || PATH=$PATH:/usr/sbin:/sbin
  command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs root"; exit 0; }

at=$(mktemp -d)
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$at"
}
trap finish EXIT
chmod 755 "$at"
mkdir "$at"/{munge,state,spool,log}
chmod 700 "$at/munge"
head -c 1024 /dev/urandom >"$at/munge/key"
chmod 400 "$at/munge/key"

munged --foreground --force --key-file="$at/munge/key" --socket="$at/munge.socket" --pid-file="$at/munge/pid" \
  --log-file="$at/munge/log" --seed-file="$at/munge/seed" >"$at/munge/out" 2>&1 &
pids+=($!)

host=$(hostname -s)
cores=$(nproc)
cat >"$at/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$at/munge.socket
CryptoType=crypto/munge
SlurmctldPort=16817
SlurmdPort=16818
StateSaveLocation=$at/state
SlurmdSpoolDir=$at/spool
SlurmctldPidFile=$at/slurmctld.pid
SlurmdPidFile=$at/slurmd.pid
SlurmctldLogFile=$at/log/slurmctld
SlurmdLogFile=$at/log/slurmd
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
export SLURM_CONF=$at/slurm.conf
for _ in $(seq 50); do [ -S "$at/munge.socket" ] && break; sleep 0.2; done
slurmctld -D -f "$SLURM_CONF" >"$at/log/ctld.out" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" >"$at/log/d.out" 2>&1 &
pids+=($!)
for _ in $(seq 100); do sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 0.3; done
sinfo || { cat "$at"/log/*; exit 1; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
cd "$at"
mpicc -O1 -g "$source" -o ranks
clean() { sed -e "s#$at#FOLDER#g" -e "s#$roofline#roofline#g" -e 's/\x1b\[[0-9;]*m//g'; }
run() {
  echo "\$ $*" | clean
  "$@" >"$at/output" 2>&1 || echo "exit code $?" >>"$at/output"
  clean <"$at/output" | sed -n 1,28p
  echo
}
echo "$(srun --version), $(mpirun --version | head -1), $cores cores"
run srun -n 2 --overcommit "$roofline" calibrate --device cpu --threads 1 --only 'fp*' --time 5s -o "$at/fleet/"
run mpirun -n 2 "$roofline" calibrate --device cpu --threads 1 --only 'fp*' --time 5s -o "$at/fleet-mpi/"
run "$roofline" fleet "$at/fleet" -o "$at/page"
mpi=pmix
srun --mpi=list 2>&1 | grep -q pmix || mpi=pmi2
run srun -n 4 --overcommit --mpi=$mpi "$roofline" profile --device cpu -o "$at/inside" -- ./ranks unequal 40
run "$roofline" profile --device cpu -o "$at/outside" -- srun -n 4 --overcommit --mpi=$mpi ./ranks unequal 40
run mpirun -n 4 "$roofline" profile --device cpu -o "$at/mpirun" -- ./ranks serial 40

#!/bin/sh
#
# Compares the simulator with the playbook's predictions: the mean of 400 runs
# must be within 1 %, or within 1 for counts below 50.
#
# usage: sim/predict.sh [RUNS]

set -u

sim=${FLASH_SIM:-build/flash-sim}
runs=${1:-400}
missed=0

row() {
    title=$1
    shift
    "$sim" --runs "$runs" --title "$title" "$@" || missed=1
}

printf '%-34s %-25s %10s   %-14s %s\n' variant figure reached required ''

row 'drop, naive' --profile drop --variant naive --require oversold=42.5+-1
row 'low, naive' --profile low --variant naive --require oversold=6.6+-1
row 'drop, reserve' --profile drop --variant reserve \
    --require orders=500 --require oversold=0
row 'low, reserve' --profile low --variant reserve \
    --require orders=500 --require oversold=0
row 'peak, queue' --variant queue \
    --require confirmed=1047.9+-10.4 --require late_charges=1384.8+-13.8
row 'peak, deadline' --variant deadline \
    --require confirmed=1809.5+-18 --require late_charges=0
row 'peak, waiting room' --variant waiting-room \
    --require confirmed=1626.1+-16.2 --require late_charges=16.2+-1

exit $missed

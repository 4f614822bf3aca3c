#!/bin/sh
#
# What the edge must reach, all with one configuration.  First what it was
# built for, then sales that it was not tuned on.
#
# usage: sim/fairness.sh [DIVISOR]     so many times fewer runs

set -u

sim=${FLASH_SIM:-build/flash-sim}
profiles=$(dirname "$0")/profiles
divisor=${1:-1}
missed=0

row() {
    title=$1
    runs=$(( ($2 + divisor - 1) / divisor ))
    shift 2
    "$sim" --runs "$runs" --title "$title" "$@" || missed=1
}

printf '%-34s %-25s %10s   %-14s %s\n' sale figure reached required ''

row 'peak' 400 \
    --require 'confirmed>=1800' --require 'late_charges=0' \
    --require 'wait_spread_s<=0.4' --require 'overtaken<=0.002' \
    --require 'idle<=0.005' --require 'polls_per_shopper<=4.5' \
    --require 'in_progress_max<=16' --require 'held_max<=64' \
    --require 'over_admitted<=0'

row 'peak, nobody leaves' 200 --patience 300 \
    --require 'wait_spread_s<=0.9' --require 'overtaken<=0.002' \
    --require 'polls_per_shopper<=6' --require 'over_admitted<=0'

row 'peak, patience 5 to 25 s' 200 --patience 5-25 \
    --require 'confirmed>=1728' --require 'over_admitted<=0'

row 'peak, ten times the size' 40 --scale 10 \
    --require 'confirmed>=17900' --require 'overtaken<=0.002' \
    --require 'over_admitted<=0'

row '86,000 shoppers' 5 --profile "$profiles/big.txt" --slots 0 --rate 100 \
    --burst 25 --patience '0.7*exp:600,0.3*3600' \
    --require 'admitted>=63900' --require 'wait_spread_s<=2' \
    --require 'overtaken<=0.01' --require 'polls_per_shopper<=20' \
    --require 'over_admitted<=0'

for share in 0.4 0.5 0.6; do
    row "peak, $share vanish" 100 --patience 300 --no-show $share \
        --require 'idle<=0.05' --require 'over_admitted<=0'
done

exit $missed

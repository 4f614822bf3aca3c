#!/bin/sh
#
# What the edge must reach, all with one configuration: flash-sim's defaults.
# Where there are no payment slots to tell what checkout completes, the sale's
# rate and burst bound it.  First what the edge was built for, then sales that
# it was not tuned on.
#
# usage: sim/fairness.sh [DIVISOR]     so many times fewer runs, but at least 5

set -u

sim=${FLASH_SIM:-build/flash-sim}
profiles=$(dirname "$0")/profiles
divisor=${1:-1}
missed=0

row() {
    title=$1
    runs=$(( $2 / divisor > 5 ? $2 / divisor : 5 ))
    shift 2
    "$sim" --runs "$runs" --title "$title" "$@" || missed=1
}

printf '%-34s %-25s %10s   %-14s %s\n' sale figure reached required ''

row 'peak' 400 \
    --require 'confirmed>=1800' --require 'late_charges=0' \
    --require 'wait_spread_s<=0.4' --require 'overtaken<=0.002' \
    --require 'idle<=0.005' --require 'polls_per_shopper<=4.5' \
    --require 'in_progress_max<=16' --require 'held_max<=64'

row 'peak, nobody leaves' 200 --patience 300 \
    --require 'wait_spread_s<=0.9' --require 'overtaken<=0.002' \
    --require 'polls_per_shopper<=6'

row 'peak, patience 5 to 25 s' 200 --patience 5-25 \
    --require 'confirmed>=1728'

row 'peak, ten times the size' 40 --scale 10 \
    --require 'confirmed>=17900' --require 'overtaken<=0.002'

# the rate alone: nobody looks at what checkout does with them
row 'peak, bounded by its rate' 200 --slots 0 --rate 32 \
    --require 'expected>=1800' --require 'wait_spread_s<=0.4' \
    --require 'overtaken<=0.002' --require 'idle<=0.005' \
    --require 'polls_per_shopper<=4.5' --require 'held_max<=64' \
    --require 'over_admitted<=0'

row '86,000 shoppers' 5 --profile "$profiles/big.txt" --slots 0 --rate 100 \
    --burst 25 --patience '0.7*exp:600,0.3*3600' \
    --require 'admitted>=63900' --require 'wait_spread_s<=2' \
    --require 'overtaken<=0.01' --require 'polls_per_shopper<=20' \
    --require 'over_admitted<=0'

for share in 0.4 0.5 0.6; do
    row "peak, $share vanish" 100 --patience 300 --no-show $share \
        --require 'idle<=0.05'
done

# A wall of 5,000 in one second: served in order, without idling, and nobody
# polls much more often than those who come one by one.

row 'a wall of 5,000' 5 --profile "$profiles/wall.txt" --patience 600 \
    --require 'confirmed>=4840' --require 'idle<=0.005' \
    --require 'overtaken<=0.01' --require 'worst_inversion_s<=3' \
    --require 'polls_per_shopper<=20'

# Capacity doubles half-way: it is used at once, and the order stays.

row 'capacity doubles' 40 --profile "$profiles/doubling.txt" \
    --require 'confirmed>=2420' --require 'idle<=0.015' \
    --require 'overtaken<=0.01' --require 'in_progress_max<=32'

# Payments take three times as long for 20 s: no more go to checkout than it
# can take, and the order stays, also when they are fast again and the line
# moves three times as fast as the shoppers were told.  With little patience,
# late charges cannot be ruled out, as checkout does not know that its payments
# have become slow.

row 'slow provider' 40 --profile "$profiles/slow-provider.txt" --patience 60 \
    --require 'confirmed>=2420' --require 'late_charges=0' \
    --require 'overtaken<=0.01' --require 'worst_inversion_s<=3' \
    --require 'in_progress_max<=16' --require 'idle<=0.01'
row 'slow provider, patience 15 s' 40 \
    --profile "$profiles/slow-provider.txt" \
    --require 'confirmed>=1298' --require 'late_charges<=68' \
    --require 'in_progress_max<=16'

# Half of the shoppers stay 5 s, half a minute: the patient do not suffer from
# the places that the others leave behind (99 % of the ideal's 1,511).

row 'patience 5 s or 60 s' 40 --patience '0.5*5,0.5*60' \
    --require 'confirmed>=1496' --require 'overtaken<=0.002' \
    --require 'wait_spread_s<=0.4'

# Crowds come, stop and come again: no shopper is forgotten in between.

row 'crowds that stop and start' 40 --profile "$profiles/stop-start.txt" \
    --patience 60 \
    --require 'confirmed>=2723' --require 'idle<=0.01' \
    --require 'overtaken<=0.002' --require 'worst_inversion_s<=3'

# 300 and 5,000 in the minute before an opening, and 800 after it: in the order
# that was drawn, and the room is used from the first second on.  Half of them
# vanish: the line does not wait for those.

row '300 before an opening' 20 --profile "$profiles/opening.txt" --opens 60 \
    --patience 300 \
    --require 'idle<=0.005' --require 'kendall_tau>=0.995' \
    --require 'polls_per_shopper<=6'
row '5,000 before an opening' 10 --profile "$profiles/opening-big.txt" \
    --opens 60 --patience 300 \
    --require 'idle<=0.002' --require 'overtaken<=0.002' \
    --require 'kendall_tau>=0.999' --require 'worst_inversion_s<=1.5' \
    --require 'polls_per_shopper<=14'
row '300 of whom half vanish' 20 --profile "$profiles/opening.txt" --opens 60 \
    --patience 300 --no-show 0.5 \
    --require 'idle<=0.01' --require 'kendall_tau>=0.98'

# One shopper a minute: nobody ever waits.

row 'one shopper a minute' 5 --profile "$profiles/trickle.txt" \
    --require admitted=120 --require wait_p95_s=0 \
    --require polls_per_shopper=1

# The edge starts cold half-way: the tickets bring the order back.  Who was not
# due while it listened comes late to a line that has begun to move; and in one
# run of ten a newcomer asks before anybody with a ticket does, and is let in
# ahead of the whole line: rare, so that it takes many runs to tell how much.

row 'a cold start half-way' 200 --profile "$profiles/restart.txt" \
    --patience 60 \
    --require 'confirmed>=2420' --require 'overtaken<=0.05' \
    --require 'worst_inversion_s<=3' --require 'idle<=0.02'

# Nobody waits as long as it is told: that costs requests, and no order.

row 'peak, polled every 0.3 to 1 s' 40 --polls 0.3-1 \
    --require 'confirmed>=1790' --require 'wait_spread_s<=0.4' \
    --require 'overtaken<=0.002' --require 'idle<=0.01' \
    --require 'held_max<=64'

# Four workers that read the clock up to a tenth of a second apart, as event
# loops do under load.

row 'four workers, skewed clocks' 40 --workers 4 --clock-skew 0.1 \
    --patience 60 \
    --require 'confirmed>=2420' --require 'overtaken<=0.002' \
    --require 'idle<=0.01' --require 'wait_spread_s<=0.9'

exit $missed

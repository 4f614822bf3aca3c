# Plots the samples of scripts/adapt.sh.  data: its table; slow, fast: the
# seconds at which payments slow down and recover.

set terminal svg size 900,640 font 'sans-serif,13' background 'white'
set datafile separator "\t"
set border 3 linecolor '#666666'
set tics nomirror out
set grid ytics linecolor '#e0e0e0'
set key top right samplen 2
set xrange [0:110]
set multiplot layout 3,1 margins 0.09,0.97,0.09,0.95 spacing 0.07

set arrow 1 from slow, graph 0 to slow, graph 1 nohead linecolor '#888888' dashtype 2
set arrow 2 from fast, graph 0 to fast, graph 1 nohead linecolor '#888888' dashtype 2
set label 1 'payments take 2 s' at slow + 1, graph 0.9
set label 2 'and 250 ms again' at fast + 1, graph 0.9
set format x ''

set ylabel 'seconds'
set yrange [0:5]
set key at graph 0.98, graph 0.75
plot data skip 1 using 1:($2/1000) with lines linewidth 2 linecolor '#d55e00' title 'time of an answer', \
     0.5 with lines linecolor '#222222' dashtype 3 title 'target'

unset label 1
unset label 2
set ylabel 'requests'
set key at graph 0.98, graph 0.98
set yrange [0:36]
plot data skip 1 using 1:4 with steps linewidth 2 linecolor '#0072b2' title 'let in at once (window)', \
     data skip 1 using 1:3 with lines linewidth 1 linecolor '#56b4e9' title 'in flight'

set format x '%g'
set xlabel 'seconds'
set ylabel 'a second'
set yrange [0:70]
plot data skip 1 using 1:7 with steps linewidth 1 linecolor '#cc79a7' title 'rate let in', \
     data skip 1 using 1:8 with lines linewidth 2 linecolor '#009e73' title 'orders', \
     (x < slow || x > fast ? 30.4 : 3.8) with lines linecolor '#222222' dashtype 3 title '95 % of what 8 slots can pay for'

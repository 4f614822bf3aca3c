# Plots the tables of sim/sweep.sh.  dir: input directory; plots: output directory.

set datafile separator "\t"
set datafile missing "nan"
set style line 1 lc rgb "#1f6feb" lw 2 pt 7 ps 0.5
set style line 2 lc rgb "#d1742f" lw 2 pt 5 ps 0.5
set style line 3 lc rgb "#8b949e" lw 1 dt 2
set grid lc rgb "#d0d7de"
set key bottom samplen 2
set border 3
set tics nomirror out

# confirmed orders, overtaken shoppers and polls over one parameter
sweep(name, label, default) = sprintf("\
    set terminal pngcairo size 1200,360 font 'sans,11'; \
    set output plots.'/%s.png'; \
    set multiplot layout 1,3; \
    set xlabel '%s'; \
    set arrow 1 from first %s, graph 0 to first %s, graph 1 nohead ls 3; \
    set key bottom; set yrange [0:105]; set title 'confirmed, %% of the ideal'; \
    plot dir.'/%s.tsv' skip 1 using 1:(100*$3/$2):xtic(1) with lp ls 1 title 'patience 15 s', \
         '' skip 1 using 1:(100*$11/$10) with lp ls 2 title '5 to 25 s'; \
    set key top; set yrange [0:*]; set title 'overtaken, %%'; \
    plot dir.'/%s.tsv' skip 1 using 1:(100*$5):xtic(1) with lp ls 1 notitle, \
         '' skip 1 using 1:(100*$13) with lp ls 2 notitle; \
    set title 'polls per shopper'; \
    plot dir.'/%s.tsv' skip 1 using 1:7:xtic(1) with lp ls 1 notitle, \
         '' skip 1 using 1:15 with lp ls 2 notitle; \
    unset multiplot; unset arrow 1; unset output", \
    name, label, default, default, name, name, name)

set logscale x 2
eval sweep("poll-min", "minimum advised retry, s", "0.3")
eval sweep("poll-max", "maximum advised retry, s", "15")
eval sweep("burst", "burst", "8")
eval sweep("inflight", "inflight limit", "16")
eval sweep("tick", "tick, ms", "100")
eval sweep("gain-1000", "gain x 1000, sampled every second", "500")
eval sweep("gain-5000", "gain x 1000, sampled every 5 s", "500")
eval sweep("rate", "configured rate per second (checkout completes 32)", "32")
unset logscale x
eval sweep("hold", "hold, s", "2")
eval sweep("overload", "arrivals / capacity of checkout", "2")
eval sweep("no-show", "no-show share", "0")

# admission against first attempt
set terminal pngcairo size 1200,360 font 'sans,11'
set output plots.'/order.png'
set datafile missing "-"
set multiplot layout 1,3
set xrange [0:50]
set yrange [0:70]
set xlabel 'first attempt, s'
set ylabel 'admitted, s'
unset key
set title 'lottery'
plot dir.'/edge-lottery.trace' skip 1 every 2 using 2:3 with points pt 7 ps 0.2 lc rgb "#d1742f", x ls 3
set title 'proportional controller'
plot dir.'/edge-proportional.trace' skip 1 every 2 using 2:3 with points pt 7 ps 0.2 lc rgb "#8250df", x ls 3
set title 'fair'
plot dir.'/edge-fair.trace' skip 1 every 2 using 2:3 with points pt 7 ps 0.2 lc rgb "#1f6feb", x ls 3
unset multiplot

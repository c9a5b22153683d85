# title: How much of the truth, for how much time
# subtitle: each line is one method with several settings; the upper left corner is best
# about: The share of the true near-duplicates that a lookup finds, by its median time on a logarithmic scale, for several settings of each method.
# data: groups recall.csv ms recall
HEIGHT = 460
RIGHT = 30
load "style.gp"
set logscale x
set xrange [XMIN / 2:XMAX * 12]
set yrange [*:1.02]
set xtics @MS
set xlabel "time of a lookup, logarithmic"
set ylabel "recall: share of near-duplicates found"
plot @LINES

# title: A lookup at each threshold
# subtitle: median time of a lookup; lower is better
# about: The median time of a lookup on a logarithmic scale, by the threshold from 0.5 to 1, with a line for each way to find near-duplicates.
# data: columns thresholds.csv
load "style.gp"
set logscale y
set xrange [XMIN:XMAX]
set yrange [down(YMIN):up(YMAX)]
set xtics ("0.5" 0.5, "0.6" 0.6, "0.7" 0.7, "0.8" 0.8, "0.9" 0.9, "1" 1)
set ytics @MS
set xlabel "threshold of similarity"
set ylabel "time of a lookup, logarithmic"
plot @LINES

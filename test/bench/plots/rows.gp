# title: A lookup in a growing table
# subtitle: median time of a lookup at a threshold of 0.8; lower is better
# about: The median time of a lookup, by the number of texts in the table, with a line for each way to find near-duplicates. Both scales are logarithmic.
# data: by_rows peers search
load "style.gp"
set logscale xy
set xrange [XMIN / 1.0001:XMAX * 1.0001]
set yrange [down(YMIN):up(YMAX)]
set xtics @ROWS
set ytics @MS
set xlabel "texts in the table, logarithmic"
set ylabel "time of a lookup, logarithmic"
plot @LINES

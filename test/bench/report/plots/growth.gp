# title: A search in a growing table
# subtitle: random fingerprints of 400 bits; each query is new to its session
# about: The median time of a search whose query is new to its session, by the number of rows, with a line for each distance. Both scales are logarithmic.
# y: median time of a search, logarithmic
# data: libraries growth.csv
load "style.gp"
set logscale xy
set xrange [XMIN / 1.0001:XMAX * 1.0001]
set yrange [down(YMIN):up(YMAX)]
set xtics @MILLIONS
set ytics @MS
set xlabel "million rows, logarithmic"
plot @LINES

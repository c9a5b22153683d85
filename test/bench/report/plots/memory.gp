# title: Memory, by the number of rows
# subtitle: random fingerprints of 400 bits; lower is better
# about: The size of the index, of the fingerprints, and of the private memory of a session before and after searches, by the number of rows. Both scales are logarithmic.
# y: MB, logarithmic
# data: libraries memory.csv
load "style.gp"
set logscale xy
set xrange [XMIN / 1.0001:XMAX * 1.0001]
set yrange [down(YMIN):YMAX * 2]
set xtics @MILLIONS
set ytics ("0.1" 0.1, "1" 1, "10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4)
set xlabel "million rows, logarithmic"
plot @LINES

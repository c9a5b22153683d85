# title: All pairs of 1.2 million documents
# subtitle: as in the paper on SpotSigs, at 0.9; grey: published, of another machine
# about: A bar for each way to find all pairs of 1.2 million documents: seconds that the paper on SpotSigs published, and seconds that were measured here.
# data: ways spotsigs.csv
HEIGHT = 150 + 26 * N
LEFT = 290
RIGHT = 90
load "style.gp"
XMIN = down(XMIN) / 3
set border 2
unset ytics
set grid noytics
set logscale x
set xrange [XMIN:up(XMAX)]
set xtics ("0.1 s" 0.1, "10 s" 10, "1,000 s" 1e3, "100,000 s" 1e5)
set yrange [-N - 0.6:-0.4]
set xlabel "seconds, logarithmic"
plot @BARS

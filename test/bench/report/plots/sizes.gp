# title: What each takes on disk
# subtitle: beside the texts, for the same texts; shorter bars are better
# about: A bar for each way to find near-duplicates, the smallest first: the size of what is stored beside the texts.
# data: by_peer peers.csv size
HEIGHT = TOP + 76 + 26 * N
LEFT = NAMES
RIGHT = 74
load "style.gp"
XMIN = 0
set border 2
unset ytics
set grid noytics
set xrange [0:*]
unit = 10.0 ** floor(log10(XMAX))
set xtics unit * (XMAX > 5 * unit ? 2 : XMAX > 2 * unit ? 1 : 0.5)
set yrange [-N - 0.6:-0.4]
set xlabel "megabytes (MB)"
plot @BARS

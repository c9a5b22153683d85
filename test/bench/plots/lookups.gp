# title: Finding the near-duplicates of a text
# subtitle: median time of a lookup at a threshold of 0.8; further left is better
# about: A dot for each way to find near-duplicates, the fastest first: the median time of a lookup, on a logarithmic scale.
# about: A number beside each is the share of the true near-duplicates that it finds.
# data: by_peer peers.csv search recall
HEIGHT = 160 + 26 * N
LEFT = 270
RIGHT = 120
load "style.gp"
XMIN = down(XMIN) / 3
set border 2
unset ytics
set grid noytics
set logscale x
set xrange [XMIN:up(XMAX)]
set xtics @SPARSE_MS
set yrange [-N - 0.6:-0.4]
set xlabel "time of a lookup, logarithmic"
set label "recall" at screen 580 / 600.0, first -0.1 right font "small,14" textcolor rgb soft
plot @DOTS, \
	for [i=1:N] DATA index i-1 using (XMIN):(-i):4 with labels right offset screen (580 - LEFT) / 600.0,0 font PLAIN[i] textcolor rgb COLOUR[i]

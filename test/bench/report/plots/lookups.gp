# title: Finding near-duplicates of a text
# subtitle: median time of a lookup at a threshold of 0.8; further left is better
# about: A dot for each way to find near-duplicates, the fastest first: the median time of a lookup, on a logarithmic scale.
# about: A number beside each is the share of the true near-duplicates that it finds.
# data: by_peer peers.csv search recall
HEIGHT = TOP + 76 + 26 * N
LEFT = NAMES
RIGHT = 104
load "style.gp"
XMIN = XMIN / 3
set border 2
unset ytics
set grid noytics
set logscale x
set xrange [XMIN:XMAX * 1.2]
set xtics ("1 µs" 1e-3, "" 1e-2, "" 0.1, "1 ms" 1, "" 10, "" 100, "1 s" 1e3, "" 1e4, "" 1e5, "1,000 s" 1e6)
set yrange [-N - 0.6:-0.4]
set xlabel "time of a lookup, logarithmic"
set label "recall" at screen (WIDE - 12) / WIDE, first -0.1 right font "plain,14" textcolor rgb soft
plot @DOTS, \
	for [i=1:N] DATA index i-1 using (XMIN):(-i):4 with labels right offset screen (WIDE - 12 - LEFT) / WIDE,0 font PLAIN[i] textcolor rgb COLOUR[i]

# title: A lookup at each threshold
# subtitle: a panel for each other way, and in it neardup in blue; lower is better
# about: A panel for each way to find near-duplicates, the fastest first. In it are two lines: the median time of a lookup with it and with neardup, on a logarithmic scale, by the threshold from 0.5 to 1.
# y: time of a lookup, logarithmic
# data: panels thresholds.csv
HEIGHT = TOP + 42 + 126 * (N / 2)
load "style.gp"
HALF = (WIDE - 66) / 2
set logscale y
set xrange [XMIN:XMAX]
set yrange [down(YMIN) / 4:up(YMAX)]
set xtics 0.1
set multiplot
set label 1 "threshold of similarity" at screen (66 + WIDE) / 2 / WIDE, 18.0 / HEIGHT center
do for [i=2:N] {
	left = 66 + HALF * (i % 2)
	top = TOP + 18 + 126 * (i / 2 - 1)
	set lmargin at screen left / WIDE
	set rmargin at screen (left + HALF - 20) / WIDE
	set tmargin at screen 1 - 1.0 * top / HEIGHT
	set bmargin at screen 1 - (top + 96.0) / HEIGHT
	set format x (i > N - 2 ? "%g" : "")
	if (i % 2) { set ytics 0.1,100 format "" } else { set ytics @SPARSE_MS }
	set label 2 NAME[i] at graph 0,1 offset 0,0.6 font "plain,14" textcolor rgb COLOUR[i]
	plot DATA index i-1 using 1:2 with lines lw WIDTH[i] dt DASH[i] lc rgb COLOUR[i], \
		DATA index 0 using 1:2 with lines lw WIDTH[1] lc rgb ours, \
		DATA index 0 every ::0::0 using 1:(BEGIN[i] > BEGIN[1] ? $2 : NaN):(NAME[1]) with labels left offset char 0.3,-0.8 font "label-bold,14" textcolor rgb ours
}
unset multiplot

# title: F1 of the methods
# subtitle: a dot is the median of the corpora, a line reaches from the worst to the best, each at its best threshold
# about: Three panels: texts alone, texts in frames and forms, and records and titles. In each, a row for each method: a dot for its median F1 of the corpora, on a line from the least to the greatest.
# data: accuracy accuracy.csv
ROWS = YMAX + 1
HEIGHT = TOP + 94 + 36 * ROWS
load "style.gp"
PART = (WIDE - 40) / 3
set border 1
set xrange [0:1]
set yrange [YMAX + 0.6:-0.7]
set xtics ("0" 0, "0.5" 0.5, "1" 1)
set x2range [0:1]
set x2tics ("0" 0, "0.5" 0.5, "1" 1) offset 0,-0.6
set ytics 0,1,YMAX format ''
set grid noytics
set tmargin at screen 1 - (TOP + 40.0) / HEIGHT
set multiplot
do for [i=1:N] {
	left = 20 + PART * (i - 1)
	set lmargin at screen (left + 5) / WIDE
	set rmargin at screen (left + PART - 15) / WIDE
	set label 1 NAME[i] at screen (left + 5) / WIDE, 1 - (TOP + 12.0) / HEIGHT font "bold,14" textcolor rgb COLOUR[i]
	plot DATA index i-1 using 4:2:($5 - $4):(0) with vectors nohead lw 1.6 lc rgb COLOUR[i], \
		DATA index i-1 using 1:2 with points pt 7 ps 0.8 lc rgb COLOUR[i], \
		DATA index 0 using (i == 1 ? 0 : NaN):($2 - 0.42):3 with labels left font "label,14"
}
unset multiplot

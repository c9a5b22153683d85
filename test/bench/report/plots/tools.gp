# title: How well tools deduplicate, in how much time
# subtitle: each line is one tool with several numbers of bands, on real texts at 0.8; the upper left corner is best
# about: F1 of the removed texts, by seconds of processor on a logarithmic scale, for several settings of each tool, on real texts at a threshold of 0.8.
# y: F1 of the removed texts
# data: groups tools.csv s f1
LEFT = 50
RIGHT = 30
load "style.gp"
set logscale x
set xrange [XMIN / 2:XMAX * 4]
set yrange [*:1.02]
set xlabel "seconds of processor, logarithmic"
plot for [i=1:N] DATA index i-1 using 1:2 with linespoints pt 7 ps 0.7 lw WIDTH[i] lc rgb COLOUR[i], \
	for [i=1:N] ENDS index i-1 using 1:2:3 with labels left offset char 0.9,0 font FONT[i] textcolor rgb COLOUR[i]

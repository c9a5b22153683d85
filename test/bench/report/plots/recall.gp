# title: How much is found, in how much time
# subtitle: each line is one method with several settings; the upper left corner is best
# about: The share of the true near-duplicates that a lookup finds, by its median time on a logarithmic scale, for several settings of each method.
# y: recall: share of near-duplicates found
# data: groups recall.csv ms recall
LEFT = 50
RIGHT = 30
load "style.gp"
set logscale x
set xrange [XMIN / 2:XMAX * 12]
set yrange [*:1.02]
set xtics @MS
set xlabel "time of a lookup, logarithmic"
# Steep lines have their labels at the foot, where there is room.
plot for [i=1:N] DATA index i-1 using 1:2 with linespoints pt 7 ps 0.7 lw WIDTH[i] lc rgb COLOUR[i], \
	for [i=1:N] ENDS index i-1 using 1:(BEGIN[i] < 0.6 ? NaN : $2):3 with labels left offset char 0.9,0 font FONT[i] textcolor rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 every ::0::0 using 1:(BEGIN[i] < 0.6 ? $2 : NaN):(NAME[i]) with labels left offset char 0.9,0 font FONT[i] textcolor rgb COLOUR[i]

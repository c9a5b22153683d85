# title: F1 of the methods
# subtitle: a point for each corpus, at the method's best threshold there
# about: A row for each method, and in it a point for its F1 on each corpus: texts alone, texts in a frame or form, and records and titles.
# data: accuracy accuracy.csv
HEIGHT = 170 + 24 * (YMAX + 1)
LEFT = 302
RIGHT = 24
load "style.gp"
set tmargin at screen 1 - 100.0 / HEIGHT
set border 1
set xrange [0:1]
set yrange [YMAX + 0.7:-0.7]
set xtics @SHARES
set ytics 0,1,YMAX format ''
set xlabel "F1"
array AT[3] = [20, 150, 360]
set for [i=1:N] label NAME[i] at screen AT[i] / 600.0, 1 - 80.0 / HEIGHT font "bold,15" textcolor rgb COLOUR[i]
plot for [i=1:N] DATA index i-1 using 1:2 with points pt 7 ps 0.8 lc rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 using (0):2:3 with labels right offset char -0.7,0 font "plain,13" textcolor rgb soft

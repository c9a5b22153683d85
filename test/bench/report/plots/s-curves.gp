# title: Which pairs a search at 0.8 reports
# subtitle: minhash(k, b), and bands of full symbols; lines are computed, points measured
# about: The probability that a pair is reported, by the resemblance of its texts, computed and measured. The points lie on the lines.
# about: Minhash curves rise from 0 to 1 around the threshold 0.8, the more steeply the more symbols they have. Curves of bands rise slowly from 0.3 on.
# y: probability that the pair is reported
# data: curves s-curves.csv
HEIGHT = TOP + 430
LEFT = 50
RIGHT = 30
load "style.gp"
set xrange [0.2:1]
set yrange [0:1.02]
set xtics @SHARES
set ytics @SHARES
set xlabel "true resemblance of the two texts"
set arrow from 0.8,0 to 0.8,1 nohead lc rgb soft lw 1
set label "threshold" at 0.8,1.06 center font "label,14" textcolor rgb soft
has(name) = sum [i=1:N] (NAME[i] eq name)
if (has("128 x 1")) set label "128, 1" at 0.725,0.12 right font "label-bold,14" textcolor rgb second
if (has("512 x 1")) set label "512, 1" at 0.825,0.6 font "label-bold,14" textcolor rgb ours
if (has("512 x 1")) set label "default" at 0.825,0.56 font "label,14" textcolor rgb ours
if (has("1024 x 1")) set label "1024, 1" at 0.783,0.5 right font "label-bold,14" textcolor rgb third
if (has("20 bands of 5")) set label "20 bands of 5" at 0.455,0.43 right font "label,14" textcolor rgb fourth
if (has("13 bands of 7")) set label "13 bands\nof 7" at 0.61,0.26 font "label,14" textcolor rgb fifth
if (has("50 bands of 2")) set label "50 bands of 2" at 0.22,0.85 font "label,14" textcolor rgb soft
if (has("5 bands of 20")) set label "5 bands\nof 20" at 0.885,0.22 font "label,14" textcolor rgb soft
plot for [i=1:N] DATA index i-1 using (NAME[i] eq '' ? NaN : $1):2 with lines lw (NAME[i] eq "512 x 1" ? 3.4 : 2) lc rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 using (NAME[i] eq '' ? $1 : NaN):2 with points pt 7 ps 0.7 lc rgb COLOUR[i]

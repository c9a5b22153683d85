# title: How far estimates are from the truth
# subtitle: minhash(512, 1), the default, on 500 pairs of generated sets of 1,000 shingles
# about: The estimate of a pair of signatures by the true resemblance of the pair.
# about: The points lie along the diagonal, nearly all of them within 1.96 standard errors of it.
# y: estimate: similarity of the two signatures
# data: rows error-band.csv
HEIGHT = TOP + 430
LEFT = 50
RIGHT = 24
load "style.gp"
set xrange [0:1]
set yrange [0:1]
set xtics @SHARES
set ytics @SHARES
set xlabel "true resemblance of the two sets"
inside = 0
stats DATA using (inside = inside + (abs($3 - $1) <= 1.96 * $2), 0) nooutput
high(x) = x > 1 ? 1 : x
low(x) = x < 0 ? 0 : x
set label sprintf("%d of %d estimates", inside, STATS_records) at 0.05,0.9 font "label-bold,14" textcolor rgb second
set label "are inside the band" at 0.05,0.86 font "label,14" textcolor rgb second
set label "band: 95 of 100 estimates" at 0.46,0.24 font "label-bold,14" textcolor rgb ours
set label "truth ± 1.96 minhash_error()" at 0.46,0.2 font "label,14" textcolor rgb ours
plot DATA using 1:(high($1 + 1.96 * $2)):(low($1 - 1.96 * $2)) with filledcurves fillcolor rgb ours fillstyle transparent solid 0.16 noborder, \
	x with lines lw 1 lc rgb soft, \
	DATA using 1:3 with points pt 7 ps 0.35 lc rgb second

# title: Choosing and merging, by resemblance
# subtitle: Alg.G chooses groups, Alg.H merges lists; lower is better
# about: The seconds that 1,000 searches take by the algorithms of Yuan et al., published and measured, beside neardup, by the resemblance. The scale of seconds is logarithmic.
# y: 1,000 searches, logarithmic
# data: paper yuan-resemblance.csv
load "style.gp"
set logscale y
set xrange [0.48:0.97]
set yrange [down(YMIN):up(YMAX)]
set xtics @SHARES
set ytics ("1 ms" 1e-3, "10 ms" 1e-2, "0.1 s" 0.1, "1 s" 1, "10 s" 10, "100 s" 100, "1,000 s" 1e3, "10,000 s" 1e4)
set xlabel "resemblance, of 400 bits"
plot @LINES

# title: All pairs at each threshold
# subtitle: ways of the paper on SpotSigs, and neardup; one core, lower is better
# about: The seconds that each way takes to find all pairs of 100,000 documents, by the threshold. The scale of seconds is logarithmic. neardup is fastest at low thresholds; bands take longer than inverted lists at each threshold.
# y: all pairs, logarithmic
# data: curves spotsigs-sweep.csv
load "style.gp"
set logscale y
set xrange [0.1:1]
set yrange [down(YMIN):up(YMAX)]
set xtics @SHARES
set ytics ("0.1 s" 0.1, "1 s" 1, "10 s" 10, "100 s" 100, "1,000 s" 1e3)
set xlabel "threshold of similarity"
plot @LINES

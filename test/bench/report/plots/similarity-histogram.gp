# title: How similar real texts are
# subtitle: 500 package descriptions of Debian, each compared with all others by minhash(512, 1)
# about: How many pairs of package descriptions have which similarity, on a logarithmic scale.
# about: Nearly all are unrelated and have less than 0.2, as chance predicts. A thin tail of related texts reaches to 1, where copies stand out.
# y: pairs of texts, logarithmic
# data: rows similarity-histogram.csv
LEFT = 98
RIGHT = 24
load "style.gp"
set logscale y
set xrange [0:1]
set yrange [0.5:1e8]
set xtics @SHARES
set ytics ("1" 1, "10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4, "100,000" 1e5, "1 million" 1e6, "10 million" 1e7, "100 million" 1e8)
set xlabel "similarity of two signatures, in steps of 0.02"
set label "line: expected by chance if" at 0.2,2.2e7 font "label-bold,14" textcolor rgb second
set label "no texts shared anything" at 0.2,7e6 font "label-bold,14" textcolor rgb second
set label "(a binomial distribution)" at 0.2,2.2e6 font "label,14" textcolor rgb second
set label "texts that share passages" at 0.36,1.6e4 font "label-bold,14" textcolor rgb ours
set label "copies" at 0.995,1200 right font "label-bold,14" textcolor rgb ours
plot DATA using ($2 > 0 ? $1 + 0.01 : NaN):2 with points pt 7 ps 0.6 lc rgb ours, \
	DATA using ($3 > 0.5 ? $1 + 0.01 : NaN):3 with lines lw 2.4 lc rgb second

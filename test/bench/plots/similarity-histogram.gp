# title: How similar real texts are to each other
# subtitle: 500 package descriptions of Debian, each compared with all others
# about: How many pairs of package descriptions have which similarity, on a logarithmic scale.
# about: Nearly all are unrelated and have less than 0.2, as chance predicts. A thin tail of related texts reaches to 1, where copies stand out.
# data: rows similarity-histogram.csv
RIGHT = 24
load "style.gp"
set logscale y
set xrange [0:1]
set yrange [0.5:1e8]
set xtics @SHARES
set ytics ("1" 1, "10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4, "100,000" 1e5, "1 million" 1e6, "10 million" 1e7, "100 million" 1e8)
set xlabel "similarity of two signatures, minhash(512, 1), in steps of 0.02"
set ylabel "pairs of texts, logarithmic"
set label "expected by chance if no texts shared anything" at 0.17,9e6 font "label-bold,15" textcolor rgb second
set label "(binomial distribution: the noise floor)" at 0.17,2.8e6 font "label,13" textcolor rgb second
set label "texts that share passages" at 0.44,2e4 center font "label-bold,15" textcolor rgb ours
set label "copies" at 0.995,2000 right font "label-bold,15" textcolor rgb ours
plot DATA using ($2 > 0 ? $1 : NaN):2:($1 + 0.001):($1 + 0.019):(0.5):2 with boxxyerror lc rgb ours, \
	DATA using ($3 > 0.5 ? $1 + 0.01 : NaN):3 with lines lw 2.4 lc rgb second

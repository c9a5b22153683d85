# title: A search when a part of the index is in memory
# subtitle: random fingerprints of 400 bits; the rest is in the cache of the system
# about: The median time of a search by the share of the index that fits in shared buffers, on a logarithmic scale.
# data: libraries shares.csv
load "style.gp"
set logscale y
set xrange [0:1]
set yrange [down(YMIN):up(YMAX)]
set xtics ("0" 0, "25 %%" 0.25, "50 %%" 0.5, "75 %%" 0.75, "100 %%" 1)
set ytics @MS
set xlabel "share of the index that fits in shared_buffers"
set ylabel "median time of a search, logarithmic"
plot @LINES

# title: A part of the index in memory
# subtitle: a search of random fingerprints of 400 bits; the rest of the index is in the cache of the system
# about: The median time of a search by the share of the index that fits in shared buffers, on a logarithmic scale.
# y: median time of a search, logarithmic
# data: libraries shares.csv
load "style.gp"
set logscale y
set xrange [0:1]
set yrange [down(YMIN):up(YMAX)]
set xtics ("0" 0, "25 %%" 0.25, "50 %%" 0.5, "75 %%" 0.75, "100 %%" 1)
set ytics @MS
set xlabel "share of the index in shared_buffers"
plot @LINES

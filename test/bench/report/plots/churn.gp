# title: Two weeks of inserts, updates and deletes
# subtitle: of a tenth of the rows a day each, beside an index that is made of the same rows at that time; lower is better
# about: The size of an index, its entries, and the pages and time of a search, times those of a fresh index, over two weeks.
# y: times a fresh index
# data: curves churn.csv
load "style.gp"
set xrange [0:14]
set yrange [0:YMAX * 1.05]
set xtics 2
set ytics 0.5
set xlabel "day"
plot @LINES

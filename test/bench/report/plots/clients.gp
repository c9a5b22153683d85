# title: Rows inserted by several clients
# subtitle: a row each transaction, as fast as the clients can; higher is better
# about: How many rows a second all clients together insert, by the number of clients, with a line for each index that is kept meanwhile.
# y: rows a second, logarithmic
# data: columns clients.csv
load "style.gp"
set logscale x 2
set logscale y
set xrange [XMIN / 1.0001:XMAX * 1.0001]
set yrange [down(YMIN):up(YMAX)]
set xtics (1, 2, 4, 8, 16, 32)
set ytics ("1" 1, "10" 10, "100" 100, "1,000" 1e3, "10,000" 1e4, "100,000" 1e5)
set xlabel "clients"
plot @LINES

# style.gp: what all plots share.  A script sets HEIGHT, and LEFT and RIGHT, the room for labels, before
# it loads this file, if it wants others.
#
# "report" defines DATA and ENDS, files with one block a series; N, the number of series; WIDE, the
# width; TOP, the room for titles, of which "# y:" is that of the y axis; ROOM and NAMES, what names
# need at the end of a line and before a bar; the arrays NAME, BEGIN (the first y), COLOUR, WIDTH, DASH,
# FONT and PLAIN of series; and XMIN to YMAX.  It turns colours and fonts into classes (Picture.pm), for
# light and dark pages, and moves labels in the font "end" apart.  PLAIN is for labels that stay where
# they are.
if (!exists("HEIGHT")) HEIGHT = TOP + 354
if (!exists("LEFT")) LEFT = 84
if (!exists("RIGHT")) RIGHT = ROOM
set terminal svg size WIDE,HEIGHT dynamic noenhanced font "plain,14"
set encoding utf8
set datafile separator "\t"
set lmargin at screen LEFT / WIDE
set rmargin at screen (WIDE - RIGHT) / WIDE
set tmargin at screen 1 - 1.0 * TOP / HEIGHT
set bmargin at screen 54.0 / HEIGHT

ours = "#0072b2"
second = "#c44e00"
third = "#00805c"
fourth = "#a8488a"
fifth = "#6e5a00"
soft = "#59636e"
faint = "#d1d9e0"

set border 3 linecolor rgb soft linewidth 1
set grid linecolor rgb faint linewidth 0.7 linetype 1
set tics scale 0 textcolor rgb soft
set xtics offset 0,0.4
set xlabel offset 0,0.9
set mxtics 1
set mytics 1
set style fill solid noborder
unset key

# Logarithmic axes.
down(x) = 0.999 * 10.0 ** floor(log10(x) + 0.001)
up(x) = 1.001 * 10.0 ** ceil(log10(x) - 0.001)
MS = '("1 µs" 1e-3, "10 µs" 1e-2, "0.1 ms" 0.1, "1 ms" 1, "10 ms" 10, "0.1 s" 100, "1 s" 1e3, "10 s" 1e4, "100 s" 1e5, "1,000 s" 1e6)'
SPARSE_MS = '("1 µs" 1e-3, "0.1 ms" 0.1, "10 ms" 10, "1 s" 1e3, "100 s" 1e5)'
MILLIONS = '("0.001" 1e3, "0.01" 1e4, "0.1" 1e5, "1" 1e6, "10" 1e7, "100" 1e8, "1,000" 1e9)'
SHARES = '("0" 0, "0.2" 0.2, "0.4" 0.4, "0.6" 0.6, "0.8" 0.8, "1" 1)'

# All series as lines, with a label at the end of each.
LABELS = 'for [i=1:N] ENDS index i-1 using 1:2:3 with labels left offset char 0.9,0 font FONT[i] textcolor rgb COLOUR[i]'
LINES = 'for [i=1:N] DATA index i-1 using 1:2 with linespoints pt 7 ps 0.7 lw WIDTH[i] dt DASH[i] lc rgb COLOUR[i], @LABELS'

# Each series as a horizontal bar: its name at the left, its value at the right end.
BARS = 'for [i=1:N] DATA index i-1 using (XMIN):(-i):(XMIN):1:(-i-0.36):(-i+0.36) with boxxyerror lc rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 using (XMIN):(-i):(NAME[i]) with labels right offset char -0.5,0 font PLAIN[i] textcolor rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 using 1:(-i):3 with labels left offset char 0.5,0 font PLAIN[i] textcolor rgb COLOUR[i]'

# The same with a dot in the place of each bar: on a logarithmic axis, a bar has no length to compare.
DOTS = 'for [i=1:N] DATA index i-1 using 1:(-i) with points pt 7 ps 1 lc rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 using (XMIN):(-i):(NAME[i]) with labels right offset char -0.5,0 font PLAIN[i] textcolor rgb COLOUR[i], \
	for [i=1:N] DATA index i-1 using 1:(-i):3 with labels left offset char 0.9,0 font PLAIN[i] textcolor rgb COLOUR[i]'

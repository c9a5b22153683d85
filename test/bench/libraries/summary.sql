-- What only BENCH=libraries measures.
INSERT INTO measured SELECT peer, 'search by a client', 'ms', median / 1000 FROM client_times;

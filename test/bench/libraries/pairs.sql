-- Times neardup_pairs with some arguments.
SELECT time_statement(:'peer', :'measure',
	format('CREATE TEMP TABLE result AS SELECT least(a, b)::int AS a, greatest(a, b)::int AS b FROM neardup_pairs(%s, equal => ''all'')', :'arguments'));
INSERT INTO pairs SELECT :'peer', a, b FROM result WHERE :'measure' = 'pairs';
SELECT note_memory(:'peer') WHERE :'measure' = 'pairs';

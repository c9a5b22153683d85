-- A sequential scan by distance, compared with PostgreSQL's bit_count() on bit(512).
\set QUIET on
\pset tuples_only on
\pset format unaligned

SELECT sig AS probe FROM bits LIMIT 1 \gset

SELECT race('scan',
	ARRAY['`bit_count(sig # q)`', '`sig <~> q`', '`is_within(sig, q, 60)`', '`is_similar(sig, q, 0.8)`', 'reading alone'],
	ARRAY[format('SELECT count(*) FROM bits WHERE bit_count(sig # %L::bit(512)) <= 60', :'probe'),
		format('SELECT count(*) FROM minhashes WHERE sig <~> %L::bit(512)::minhash <= 60', :'probe'),
		format('SELECT count(*) FROM minhashes WHERE is_within(sig, %L::bit(512)::minhash, 60)', :'probe'),
		format('SELECT count(*) FROM minhashes WHERE is_similar(sig, %L::bit(512)::minhash, 0.8)', :'probe'),
		'SELECT count(sig) FROM minhashes'],
	:runs) \g /dev/null

\echo
\echo '### Distances: a sequential scan over 1,000,000 signatures of 512 bits'
\echo
\echo '| condition | times bit_count | median ms | least | most | runs |'
\echo '|---|---:|---:|---:|---:|---:|'

SELECT format('| %s | **%s ×** | %s | %s | %s | %s |', label,
	round((ms / first_value(ms) OVER (ORDER BY place))::numeric, 2),
	round(ms::numeric, 1), round(least::numeric, 1), round(most::numeric, 1), runs)
FROM medians WHERE race = 'scan' ORDER BY place;

-- Each peer with rows of its own has a first search.
SELECT must(peer || ' has first searches', figure(peer, 'first search') > 0 AND figure(peer, 'cold search') > 0)
FROM peers WHERE skipped IS NULL AND peer <> 'base' AND to_regclass(peer || '_texts') IS NOT NULL ORDER BY place;

-- Where the system tells the memory of processes.
SELECT must('building an index takes memory and time', count(*) FILTER (WHERE measure = 'index build memory' AND value > 0) > count(*) FILTER (WHERE measure = 'session memory')
	AND count(*) FILTER (WHERE measure = 'index build' AND value > 0) > count(*) FILTER (WHERE measure = 'session memory'))
FROM measured HAVING count(*) FILTER (WHERE measure = 'session memory') > 0;

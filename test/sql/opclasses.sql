-- Operator classes of the index, and how it validates others.

SELECT opcname, opcintype::regtype, opcdefault, amopopr::regoperator, amproc::regprocedure
FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod JOIN pg_amop o ON o.amopfamily = opcfamily
JOIN pg_amproc p ON p.amprocfamily = opcfamily
WHERE amname = 'neardup' ORDER BY opcname COLLATE "C", amopopr::regoperator::text COLLATE "C", amproc::regprocedure::text COLLATE "C";
-- Operator classes of this extension that do not pass amvalidate().
SELECT opcname, amname FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod JOIN pg_depend d
ON d.classid = 'pg_opclass'::regclass AND d.objid = c.oid AND d.deptype = 'e' JOIN pg_extension e ON e.oid = d.refobjid
WHERE extname LIKE 'neardup%' AND NOT amvalidate(c.oid);
-- Key classes.
SELECT opcname, opcintype::regtype, opcdefault, string_agg(amopopr::regoperator::text, ' ' ORDER BY amopopr::regoperator::text COLLATE "C")
FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod JOIN pg_amop o ON o.amopfamily = opcfamily AND amoplefttype = opcintype
WHERE amname = 'neardup' AND opcname LIKE '%key_ops' AND NOT EXISTS (SELECT FROM pg_amproc p WHERE p.amprocfamily = opcfamily)
GROUP BY 1, 2, 3 ORDER BY opcname COLLATE "C";
-- Other types with a default hash operator class that have no key class.
SELECT opcintype::regtype FROM pg_opclass h JOIN pg_am m ON m.oid = h.opcmethod
WHERE amname = 'hash' AND opcdefault AND h.oid < 16384 AND NOT EXISTS (SELECT FROM pg_opclass c JOIN pg_am m ON m.oid = c.opcmethod
	WHERE amname = 'neardup' AND c.opcintype = h.opcintype) AND opcintype::regtype::text <> ALL (
	'{"\"char\"",aclitem,anymultirange,cid,double precision,interval,jsonb,macaddr,macaddr8,name,oid,oid8,oidvector,pg_lsn,real,record,tid,time with time zone,time without time zone,xid,xid8}')
ORDER BY opcintype::regtype::text COLLATE "C";
-- Operators with a wrong commutator.
SELECT o.oid::regoperator FROM pg_operator o JOIN pg_operator c ON c.oid = o.oprcom
WHERE o.oprname IN ('<@', '&&') AND o.oid >= 16384 AND c.oprcom <> o.oid;
-- Only the index can call the signature functions.
\set VERBOSITY terse
SELECT minhash_signature(to_minhash('a text'), 0);
SELECT bigint_signature(1, 0);
SELECT neardup_handler(0);
\set VERBOSITY default

-- amvalidate() names the problem.
CREATE FUNCTION wrong_signature(text, internal) RETURNS boolean
	LANGUAGE internal AS 'booleq';
CREATE FUNCTION text_signature(text, internal) RETURNS void
	LANGUAGE internal AS 'booleq';
CREATE OPERATOR CLASS wrong_operator FOR TYPE text USING neardup AS
	OPERATOR 1 = (text, text), FUNCTION 1 text_signature(text, internal);
CREATE OPERATOR CLASS wrong_function FOR TYPE text USING neardup AS
	FUNCTION 1 wrong_signature(text, internal);
CREATE OPERATOR CLASS no_function FOR TYPE minhash USING neardup AS
	OPERATOR 1 <@ (minhash, ball);
CREATE OPERATOR CLASS no_operator FOR TYPE minhash USING neardup AS
	FUNCTION 1 minhash_signature(minhash, internal);
CREATE OPERATOR CLASS nothing FOR TYPE minhash USING neardup AS
	STORAGE minhash;
CREATE OPERATOR CLASS stored FOR TYPE minhash USING neardup AS
	OPERATOR 1 <@ (minhash, ball), FUNCTION 1 minhash_signature(minhash, internal), STORAGE bytea;
-- Distances are measured from a minhash or a simhash.
CREATE OPERATOR CLASS wrong_origin FOR TYPE point USING neardup AS OPERATOR 2 <-> (point, point) FOR ORDER BY float_ops;
CREATE OPERATOR CLASS strategy_5 FOR TYPE minhash USING neardup AS OPERATOR 5 <@ (minhash, ball);
CREATE OPERATOR CLASS strategy_6 FOR TYPE minhash USING neardup AS OPERATOR 6 = (minhash, minhash);
CREATE OPERATOR CLASS support_2 FOR TYPE minhash USING neardup AS FUNCTION 2 minhash_signature(minhash, internal);
-- A family with an operator without a signature function.
BEGIN;
ALTER OPERATOR FAMILY minhash_ops USING neardup ADD OPERATOR 1 <@ (simhash, ball);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'minhash_ops' AND opcmethod = (SELECT oid FROM pg_am WHERE amname = 'neardup');
ROLLBACK;
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am m ON m.oid = opcmethod
WHERE amname = 'neardup' AND NOT opcdefault ORDER BY opcname COLLATE "C";
DROP OPERATOR FAMILY wrong_operator USING neardup;
DROP OPERATOR FAMILY wrong_function USING neardup;
DROP OPERATOR FAMILY no_function USING neardup;
DROP OPERATOR FAMILY no_operator USING neardup;
DROP OPERATOR FAMILY nothing USING neardup;
DROP OPERATOR FAMILY strategy_5 USING neardup;
DROP OPERATOR FAMILY IF EXISTS stored USING neardup;
DROP OPERATOR FAMILY wrong_origin USING neardup;
DROP FUNCTION wrong_signature, text_signature;

-- Analysts who could read the rows of a data set, or the ledger, without asking: the promise would be void. What they have themselves
-- counts, what everybody has, and what a role has that they are members of, whether or not they inherit it. Any right will do: who may only
-- delete rows and make triggers reads the rows in a trigger.
CREATE OR REPLACE FUNCTION privet.mighty() RETURNS TABLE (role text, might text) LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
WITH RECURSIVE
    reads (reader, source) AS (  -- a view reads what its rules name, a table its heirs and partitions
        SELECT r.ev_class, d.refobjid
        FROM pg_rewrite AS r
        JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
        WHERE d.refobjid >= 16384  -- below are the server's own tables
        UNION SELECT i.inhparent, i.inhrelid FROM pg_inherits AS i
    ),
    sources (id) AS (
        SELECT to_regclass(d.relation)::oid FROM privet.datasets AS d
        UNION SELECT r.source FROM sources AS s JOIN reads AS r ON r.reader = s.id
    ),
    guarded (id) AS (
        SELECT s.id FROM sources AS s
        UNION SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = 'privet'::regnamespace
        UNION SELECT r.reader FROM guarded AS g JOIN reads AS r ON r.source = g.id
    ),
    relations AS (SELECT c.* FROM guarded AS g JOIN pg_class AS c ON c.oid = g.id AND c.relkind IN ('r', 'p', 'v', 'm', 'f')),
    mights (holder, might) AS (  -- 0 is everybody
        SELECT c.relowner, format('owns %s', c.oid::regclass) FROM relations AS c
        UNION SELECT a.grantee, format('has rights on %s', c.oid::regclass) FROM relations AS c, aclexplode(c.relacl) AS a
        UNION SELECT a.grantee, format('has rights on columns of %s', c.oid::regclass)
        FROM relations AS c JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
        UNION SELECT a.grantee, 'may create functions in the schema privet'
        FROM pg_namespace AS n, aclexplode(n.nspacl) AS a WHERE n.nspname = 'privet' AND a.privilege_type = 'CREATE'
        UNION SELECT r.oid, 'is a superuser, or may replicate, create roles or bypass row security'
        FROM pg_roles AS r WHERE r.rolsuper OR r.rolreplication OR r.rolcreaterole OR r.rolbypassrls
        UNION SELECT r.oid, format('is %s', r.rolname) FROM pg_roles AS r WHERE r.rolname IN (
            'pg_read_all_data', 'pg_write_all_data', 'pg_maintain',
            'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    )
SELECT p.role, m.might
FROM privet.roles AS p JOIN pg_roles AS r ON r.rolname = p.role JOIN mights AS m ON m.holder = 0 OR pg_has_role(r.oid, m.holder, 'MEMBER')
ORDER BY p.role, m.might
$$;

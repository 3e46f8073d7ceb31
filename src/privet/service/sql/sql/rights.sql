-- Analysts who could read the rows of a data set, or the ledger, without asking: the promise would be void. What they have themselves
-- counts, what everybody has, and what a role has that they are members of, whether or not they inherit it. Any right will do: who may only
-- delete rows and make triggers reads the rows in a trigger. On tables that foreign keys tie to the rows, any right to write will do: what is
-- refused, and how many rows a deletion takes along, says which rows there are, and a rollback makes it free. Who owns a function or a type
-- that rows go through can have them told: by another body of it, or a constraint; who owns their schema can put another table there.
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
    above (id) AS (  -- whose deletions reach the rows
        SELECT s.id FROM sources AS s
        UNION SELECT c.confrelid FROM above AS a JOIN pg_constraint AS c ON c.conrelid = a.id WHERE c.contype = 'f'
    ),
    tied (id) AS (
        SELECT a.id FROM above AS a
        UNION SELECT c.conrelid FROM sources AS s JOIN pg_constraint AS c ON c.confrelid = s.id WHERE c.contype = 'f'
        UNION SELECT r.reader FROM tied AS t JOIN reads AS r ON r.source = t.id
    ),
    tables AS (
        SELECT c.* FROM (SELECT t.id FROM tied AS t EXCEPT SELECT g.id FROM guarded AS g) AS t JOIN pg_class AS c ON c.oid = t.id
        WHERE c.relkind IN ('r', 'p', 'v', 'f')
    ),
    used (class, id) AS (  -- by the rows, their views, constraints, triggers and indexes
        SELECT 'pg_class'::regclass::oid, s.id FROM sources AS s
        UNION SELECT 'pg_rewrite'::regclass, r.oid FROM sources AS s JOIN pg_rewrite AS r ON r.ev_class = s.id
        UNION SELECT d.classid, d.objid FROM sources AS s
        JOIN pg_depend AS d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.id AND d.deptype IN ('a', 'i')
        UNION SELECT d.refclassid, d.refobjid FROM used AS u JOIN pg_depend AS d ON d.classid = u.class AND d.objid = u.id
        WHERE d.refobjid >= 16384
    ),
    relations AS (SELECT c.* FROM guarded AS g JOIN pg_class AS c ON c.oid = g.id AND c.relkind IN ('r', 'p', 'v', 'm', 'f')),
    mights (holder, might) AS (  -- 0 is everybody
        SELECT c.relowner, format('owns %s', c.oid::regclass) FROM relations AS c
        UNION SELECT a.grantee, format('has rights on %s', c.oid::regclass) FROM relations AS c, aclexplode(c.relacl) AS a
        UNION SELECT a.grantee, format('has rights on columns of %s', c.oid::regclass)
        FROM relations AS c JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a
        UNION SELECT c.relowner, format('owns %s, which a foreign key ties to the rows', c.oid::regclass) FROM tables AS c
        UNION SELECT a.grantee, format('may write to %s, which a foreign key ties to the rows', c.oid::regclass)
        FROM tables AS c, aclexplode(c.relacl) AS a WHERE a.privilege_type <> 'SELECT'
        UNION SELECT a.grantee, format('may write to columns of %s, which a foreign key ties to the rows', c.oid::regclass)
        FROM tables AS c JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS a WHERE a.privilege_type <> 'SELECT'
        UNION SELECT p.proowner, format('owns the function %s, which rows go through', p.oid::regprocedure)
        FROM used AS u JOIN pg_proc AS p ON p.oid = u.id WHERE u.class = 'pg_proc'::regclass
        UNION SELECT t.typowner, format('owns the type %s, which rows go through', t.oid::regtype)
        FROM used AS u JOIN pg_type AS t ON t.oid = u.id WHERE u.class = 'pg_type'::regclass
        UNION SELECT n.nspowner, format('owns the schema %I, where rows are', n.nspname)
        FROM sources AS s JOIN pg_class AS c ON c.oid = s.id JOIN pg_namespace AS n ON n.oid = c.relnamespace
        UNION SELECT a.grantee, 'may create functions in the schema privet'
        FROM pg_namespace AS n, aclexplode(n.nspacl) AS a WHERE n.nspname = 'privet' AND a.privilege_type = 'CREATE'
        UNION SELECT d.datdba, 'owns the database, and can copy it with its ledger' FROM pg_database AS d WHERE d.datname = current_database()
        UNION SELECT r.oid, 'can copy the database with its ledger, as it is a template'
        FROM pg_roles AS r JOIN pg_database AS d ON d.datname = current_database() AND d.datistemplate WHERE r.rolcreatedb
        UNION SELECT r.oid, 'is a superuser, or may replicate, create roles or bypass row security'
        FROM pg_roles AS r WHERE r.rolsuper OR r.rolreplication OR r.rolcreaterole OR r.rolbypassrls
        UNION SELECT a.grantee, format('may use the foreign server %I, which everybody is mapped to', s.srvname)
        FROM pg_foreign_server AS s JOIN pg_user_mappings AS m ON m.srvid = s.oid AND m.umuser = 0,
            aclexplode(coalesce(s.srvacl, acldefault('S', s.srvowner))) AS a
        UNION SELECT m.umuser, format('is mapped to a user of the foreign server %I', m.srvname)
        FROM pg_user_mappings AS m WHERE m.umuser <> 0
        UNION SELECT r.oid, format('is %s', r.rolname) FROM pg_roles AS r WHERE r.rolname IN (
            'pg_read_all_data', 'pg_write_all_data', 'pg_maintain',
            'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    )
SELECT p.role, m.might
FROM privet.roles AS p JOIN pg_roles AS r ON r.rolname = p.role JOIN mights AS m ON m.holder = 0 OR pg_has_role(r.oid, m.holder, 'MEMBER')
ORDER BY p.role, m.might
$$;

-- What the catalog tells everybody who can log in: exact counts of *some* rows of a data set (pg_class.reltuples, pg_stat_user_tables), of
-- a partition, an heir, a partial index or a materialized view; how often a view that reads several tables looked into one of them for
-- the rows of another; and a foreign table, whose server nobody here knows.
CREATE OR REPLACE FUNCTION privet.told(relation oid) RETURNS SETOF text LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
WITH RECURSIVE
    reads (reader, source) AS (
        SELECT r.ev_class, d.refobjid
        FROM pg_rewrite AS r
        JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
        WHERE d.refobjid >= 16384 AND d.refobjid <> r.ev_class
        UNION SELECT i.inhparent, i.inhrelid FROM pg_inherits AS i
    ),
    sources (id) AS (SELECT relation UNION SELECT r.source FROM sources AS s JOIN reads AS r ON r.reader = s.id),
    readers (id) AS (SELECT s.id FROM sources AS s UNION SELECT r.reader FROM readers AS k JOIN reads AS r ON r.source = k.id)
SELECT told FROM (
    SELECT format('the partition or heir %s', i.inhrelid::regclass) FROM sources AS s JOIN pg_inherits AS i ON i.inhparent = s.id
    UNION SELECT format('the foreign table %s', c.oid::regclass) FROM sources AS s JOIN pg_class AS c ON c.oid = s.id WHERE c.relkind = 'f'
    UNION SELECT format('the partial index %s', x.indexrelid::regclass)
    FROM sources AS s JOIN pg_index AS x ON x.indrelid = s.id WHERE x.indpred IS NOT NULL
    UNION SELECT format('the lookups of the view %s in several tables', c.oid::regclass)
    FROM sources AS s JOIN pg_class AS c ON c.oid = s.id AND c.relkind = 'v' JOIN reads AS r ON r.reader = s.id
    GROUP BY c.oid HAVING count(DISTINCT r.source) > 1
    UNION SELECT format('the materialized view %s', c.oid::regclass)
    FROM readers AS k JOIN pg_class AS c ON c.oid = k.id WHERE c.relkind = 'm' AND c.oid <> relation
) AS t (told) ORDER BY told
$$;

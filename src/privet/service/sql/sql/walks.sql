-- Count the rows of a data set by walks: the one statement that reads rows. Its text is made of the data set's own, which was made at
-- registration, and of the numbers of steps and looks; all that a question says is bound.

CREATE OR REPLACE FUNCTION privet.refuse_question(what text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = what;
END $$;

-- How many values each code of a row has, in turn.
CREATE OR REPLACE FUNCTION privet.sizes(dataset text) RETURNS integer[] LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp
RETURN (SELECT 1 || array_agg(cardinality(a.labels) ORDER BY a.position) FROM privet.attributes AS a WHERE a.dataset = sizes.dataset);

-- Whether these are as many whole numbers, none of them missing, between two others.
CREATE OR REPLACE FUNCTION privet.all_between(numbers integer[], many integer, lowest integer, highest integer) RETURNS boolean
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp RETURN coalesce(
    cardinality(numbers) = many AND (many = 0 OR array_ndims(numbers) = 1 AND array_lower(numbers, 1) = 1)
    AND (SELECT coalesce(bool_and(n IS NOT NULL AND n BETWEEN lowest AND highest), true) FROM unnest(numbers) AS x (n)), false);

-- Refuse walks that could leave their arrays or take too long. That they count what is meant is for who asks; that a row is in one number
-- of each walk holds whatever they are.
CREATE OR REPLACE FUNCTION privet.check_walks(dataset text, q privet.walks) RETURNS void LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    sizes integer[] := privet.sizes(dataset);
    walks integer := cardinality(q.starts);
    nodes integer := cardinality(q.tests);
    looks integer := cardinality(q.looks) / greatest(cardinality(q.starts), 1);
    fits boolean;
BEGIN
    fits := q.total BETWEEN 1 AND 4000000 AND q.steps BETWEEN 0 AND 1000 AND walks BETWEEN 1 AND 10000 AND nodes BETWEEN 1 AND 4000000
        AND looks BETWEEN 1 AND 100 AND walks * (q.steps + looks) <= 100000;
    IF fits IS NOT TRUE THEN
        PERFORM privet.refuse_question('the question is too large: at most 4000000 numbers, 4000000 nodes, 10000 walks and 100000 steps for a row');
    END IF;
    fits := privet.all_between(q.starts, walks, 1, nodes) AND privet.all_between(q.bases, walks, 0, q.total)
        AND privet.all_between(q.widths, walks, 1, q.total) AND privet.all_between(q.looks, walks * looks, 1, cardinality(sizes))
        AND privet.all_between(q.strides, walks * looks, 0, q.total) AND privet.all_between(q.tests, nodes, 1, cardinality(sizes))
        AND privet.all_between(q.firsts, nodes, 1, cardinality(q.branches)) AND privet.all_between(q.cells, nodes, -1, q.total)
        AND privet.all_between(q.branches, cardinality(q.branches), 1, nodes)
        AND privet.all_between(q.weights, cardinality(q.weights), -2147483647, 2147483647);
    IF fits IS TRUE THEN
        fits := (SELECT bool_and(x.first + sizes[x.test] - 1 <= cardinality(q.branches)) FROM unnest(q.tests, q.firsts) AS x (test, first))
            AND (cardinality(q.weights) = 1 OR walks = 1 AND looks >= 2 AND cardinality(q.weights) = sizes[q.looks[1]] * sizes[q.looks[2]]);
    END IF;
    IF fits IS NOT TRUE THEN
        PERFORM privet.refuse_question('the arrays of the question do not fit together');
    END IF;
END $$;

-- Refuse a table that is away, or not of the owner that it had when it was added. It cannot be replaced from here on: its name is the part of
-- a statement that was quoted at registration, and the lock holds it.
CREATE OR REPLACE FUNCTION privet.hold_table(dataset text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the privet.datasets;
    kind "char";
    owner text;
BEGIN
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = hold_table.dataset;
    FOR i IN 1 .. 2 LOOP
        SELECT c.relkind, pg_get_userbyid(c.relowner) INTO kind, owner FROM pg_class AS c WHERE c.oid = to_regclass(the.relation);
        IF owner IS DISTINCT FROM the.owner THEN
            RAISE insufficient_privilege;
        ELSIF kind IN ('r', 'p', 'v') THEN  -- others cannot be locked
            BEGIN
                EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', the.relation);
            EXCEPTION WHEN insufficient_privilege THEN  -- who may read some columns only cannot lock; then an instant remains
                NULL;
            END;
        END IF;
    END LOOP;
END $$;

-- The exact numbers. Every row takes the same steps, whatever is asked and wherever it ends, and all numbers are there before the first row
-- comes, so that neither time nor memory says which are not zero. The caller's work_mem would say when something goes to disk, and EXPLAIN
-- how much of it; only one ask counts at a time, so that one can have more. Rows are read in the order that they lie in: in the order of an
-- index, the blocks that are visited (EXPLAIN, pg_statio_user_tables) would tell where which values lie. So no index is read, and the
-- caller's settings of the planner do not count.
CREATE OR REPLACE FUNCTION privet.exact_numbers(dataset text, q privet.walks) RETURNS bigint[] LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET work_mem = '1GB' SET hash_mem_multiplier = 1 SET max_parallel_workers_per_gather = 0
SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off SET enable_seqscan = on SET enable_hashagg = on
SET enable_sort = off SET enable_hashjoin = on SET enable_mergejoin = on SET enable_nestloop = on SET enable_material = on
SET seq_page_cost = 1 SET random_page_cost = 4 SET cpu_tuple_cost = 0.01 SET cpu_index_tuple_cost = 0.005 SET cpu_operator_cost = 0.0025
AS $$
DECLARE
    the privet.datasets;
    looks integer := cardinality(q.looks) / cardinality(q.starts);
    codes text;
    walked text;
    which text;
    counted bigint[];
BEGIN
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = exact_numbers.dataset;
    SELECT 'ARRAY[0, ' || string_agg(format('c%s::integer, ', n), '' ORDER BY n) || 'y::integer]' INTO STRICT codes
    FROM generate_series(0, cardinality(privet.sizes(dataset)) - 3) AS n;
    walked := format(
        'SELECT w, codes, ($4)[w] AS n FROM (SELECT generate_series(1, %s) AS w, %s AS codes FROM (%s) AS r OFFSET 0) AS s',
        cardinality(q.starts), codes, the.encoded);
    FOR i IN 1 .. q.steps LOOP
        walked := 'SELECT w, codes, ($11)[($9)[n] + codes[($8)[n]]] AS n FROM (' || walked || ' OFFSET 0) AS s';
    END LOOP;
    SELECT string_agg(format('+ ($13)[(w - 1) * %s + %s]::bigint * codes[($7)[(w - 1) * %1$s + %2$s]]', looks, l), ' ' ORDER BY l)
    INTO STRICT which FROM generate_series(1, looks) AS l;
    EXECUTE format(
        'SELECT array_agg(total ORDER BY e) FROM (SELECT e, sum(weight) AS total FROM ('
        'SELECT g::bigint AS e, 0 AS weight FROM generate_series(0, $14) AS g UNION ALL '
        'SELECT CASE WHEN cell < 0 THEN $14 ELSE least($14, place) END, weight FROM ('
        'SELECT cell, ($5)[w] + cell::bigint * ($6)[w] %s AS place, %s AS weight '  -- also where the cell is -1
        'FROM (SELECT w, codes, ($10)[n] AS cell FROM (%s OFFSET 0) AS s OFFSET 0) AS s OFFSET 0) AS p) AS u GROUP BY e) AS t WHERE e < $14',
        which,
        CASE WHEN cardinality(q.weights) = 1 THEN '($12)[1]'
            ELSE format('($12)[1 + codes[%s] * %s + codes[%s]]', q.looks[1], (privet.sizes(dataset))[q.looks[2]], q.looks[2]) END,
        walked)
    INTO STRICT counted
    USING the.texts, the.numbers, the.codes, q.starts, q.bases, q.widths, q.looks, q.tests, q.firsts, q.cells, q.branches, q.weights, q.strides, q.total;
    RETURN counted;
END $$;

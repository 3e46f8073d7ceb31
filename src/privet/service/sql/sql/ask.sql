-- What analysts call: privet.ask, privet.answer, privet.receipt and privet.budget. They run with the rights of the ledger's owner, and with
-- settings of their own. Refusals have an SQLSTATE of class PV (see privet/accounting/ledger/sql/charge.sql), and nothing is charged then:
--   PV005 the role is no analyst, or the data set is not granted
--   PV006 the question cannot be asked, or not on this server
--   PV007 there is no such answer, or not yet

-- Who is asking: by the role that logged in, whatever SET ROLE says.
CREATE OR REPLACE FUNCTION privet.caller() RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found text;
BEGIN
    SELECT r.analyst INTO found FROM privet.roles AS r WHERE r.role = session_user::text;
    IF found IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV005', MESSAGE = format('role %I is no analyst of this ledger', session_user);
    END IF;
    RETURN found;
END $$;

-- Not of this transaction's start: a transaction can be held open past the end of a grant.
CREATE OR REPLACE FUNCTION privet.check_grant(dataset text, analyst text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM privet.grants AS g JOIN privet.datasets AS d USING (dataset)
    WHERE g.dataset = check_grant.dataset AND g.analyst = check_grant.analyst AND g.expires > clock_timestamp();
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PV005', MESSAGE = format('data set ''%s'' is unknown, or not granted to you', left(dataset, 500));
    END IF;
END $$;

-- The epsilon that is meant, as a written fraction.
CREATE OR REPLACE FUNCTION privet.checked_epsilon(epsilon numeric) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digits integer;
BEGIN
    IF epsilon IS NULL OR epsilon IN ('NaN', 'Infinity', '-Infinity') OR epsilon <= 0 OR length(trim_scale(epsilon)::text) > 60 THEN
        RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = 'epsilon must be a finite number above zero of at most 60 digits';
    ELSIF epsilon * 1099511627776 < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = 'epsilon must be at least 2^-40: less would be nothing but noise';
    END IF;
    digits := min_scale(epsilon);
    RETURN privet.written(trim_scale(epsilon * ('1' || repeat('0', digits))::numeric), ('1' || repeat('0', digits))::numeric);
END $$;

-- What a condition allows. A number or truth value stands for its label; anything else that is no text stands for none.
CREATE OR REPLACE FUNCTION privet.allowed(condition jsonb) RETURNS TABLE (name text, value jsonb, label text)
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT c.key, e.value, CASE
        WHEN jsonb_typeof(e.value) IN ('string', 'boolean') THEN e.value #>> '{}'
        WHEN jsonb_typeof(e.value) <> 'number' THEN NULL
        WHEN abs(e.value::numeric) < 1e400 AND scale(e.value::numeric) < 400 THEN trim_scale(e.value::numeric)::text END
    FROM jsonb_each(condition) AS c, jsonb_array_elements(c.value) AS e;
END $$;

-- Of every code of every attribute in turn: 1 where the condition allows it, or does not name the attribute, otherwise 0.
CREATE OR REPLACE FUNCTION privet.mask(dataset text, condition jsonb) RETURNS integer[]
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    problem text;
    codes integer[];
BEGIN
    IF condition IS NULL OR jsonb_typeof(condition) <> 'object' THEN
        problem := 'it must be an object from attributes to lists of labels';
    ELSIF pg_column_size(condition) > 1000000 THEN
        problem := 'it must be shorter than a million bytes';
    END IF;
    IF problem IS NULL THEN
        SELECT format('no attribute ''%s''; there are %s', left(c.key, 200), (
            SELECT left(string_agg(a.name, ', ' ORDER BY a.position), 2000) FROM privet.attributes AS a WHERE a.dataset = mask.dataset))
        INTO problem FROM jsonb_object_keys(condition) AS c (key)
        WHERE NOT EXISTS (SELECT FROM privet.attributes AS a WHERE a.dataset = mask.dataset AND a.name = c.key) LIMIT 1;
    END IF;
    IF problem IS NULL THEN
        SELECT format('what is allowed of ''%s'' must be a list of labels', c.key)
        INTO problem FROM jsonb_each(condition) AS c WHERE jsonb_typeof(c.value) <> 'array' LIMIT 1;
    END IF;
    IF problem IS NULL THEN
        SELECT format(
            '%s is no label of ''%s''; there are %s', left(x.value::text, 200), x.name, left(array_to_string(a.labels[:200], ', '), 2000))
        INTO problem FROM privet.allowed(condition) AS x JOIN privet.attributes AS a ON a.dataset = mask.dataset AND a.name = x.name
        WHERE x.label IS NULL OR (x.name, x.label) NOT IN (
            SELECT b.name, l.label COLLATE "C" FROM privet.attributes AS b, unnest(b.labels) AS l (label) WHERE b.dataset = mask.dataset)
        LIMIT 1;
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = 'condition: ' || problem;
    END IF;
    SELECT array_agg(CASE WHEN NOT condition ? a.name OR x.label IS NOT NULL THEN 1 ELSE 0 END ORDER BY a.position, l.code)
    INTO STRICT codes
    FROM privet.attributes AS a CROSS JOIN unnest(a.labels) WITH ORDINALITY AS l (label, code)
    LEFT JOIN (SELECT DISTINCT d.name, d.label FROM privet.allowed(condition) AS d) AS x
        ON x.name = a.name AND x.label = l.label COLLATE "C"
    WHERE a.dataset = mask.dataset;
    RETURN codes;
END $$;

-- How many rows have allowed codes only. Every row takes the same work, whatever is allowed. The caller's work_mem would say when a sort
-- goes to disk, and EXPLAIN how much of it; only one ask counts at a time, so that one can have more. Rows are read in the order that they
-- lie in: in the order of an index, the blocks that are visited (EXPLAIN, pg_statio_user_tables) would tell where which values lie. So no
-- index is read, and the caller's settings of the planner do not count.
CREATE OR REPLACE FUNCTION privet.exact_count(dataset text, mask integer[]) RETURNS bigint LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp SET work_mem = '256MB' SET hash_mem_multiplier = 1 SET max_parallel_workers_per_gather = 0
SET enable_indexscan = off SET enable_indexonlyscan = off SET enable_bitmapscan = off SET enable_seqscan = on
SET enable_sort = on SET enable_hashjoin = on SET enable_mergejoin = on SET enable_nestloop = on SET enable_material = on
SET seq_page_cost = 1 SET random_page_cost = 4 SET cpu_tuple_cost = 0.01 SET cpu_index_tuple_cost = 0.005 SET cpu_operator_cost = 0.0025
AS $$
DECLARE
    the privet.datasets;
    counted bigint;
BEGIN
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = exact_count.dataset;
    EXECUTE the.statement INTO STRICT counted USING the.texts, the.numbers, the.codes, mask;
    RETURN coalesce(counted, 0);
END $$;

-- What an answer is masked with.
CREATE OR REPLACE FUNCTION privet.pad(salt bytea) RETURNS bigint LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN ('x' || substr(encode(sha256(salt), 'hex'), 1, 16))::bit(64)::bigint;
END $$;

-- An answer, or none, as it is kept: random bytes, and the number masked by their hash. That hides nothing from who can read it. But
-- neither its length nor its SHA-256 tells what it is, nor does the length of the server's log, which may be compressed.
CREATE OR REPLACE FUNCTION privet.sealed(number bigint) RETURNS bytea LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    salt bytea := uuid_send(gen_random_uuid());
BEGIN
    RETURN salt || int8send(coalesce(number, '-9223372036854775808') # privet.pad(salt));
END $$;

CREATE OR REPLACE FUNCTION privet.unsealed(answer bytea) RETURNS bigint LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN nullif(
        ('x' || encode(substr(answer, 17), 'hex'))::bit(64)::bigint # privet.pad(substr(answer, 1, 16)), '-9223372036854775808');
END $$;

-- Charge, count, add discrete Laplace noise, and keep the answer. Gives a ticket for it.
--
-- Sensitivity: 1. Neighbours: one row added or removed. Cost: epsilon; charged is what that means for the schema's own neighbours.
-- Nothing that the caller can see before the commit depends on the answer: its record looks the same whatever it is, and a table that
-- cannot be counted because of what it holds has an answer too.
CREATE OR REPLACE FUNCTION privet.ask(dataset text, condition jsonb, epsilon numeric) RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    analyst text := privet.caller();
    amount text := privet.checked_epsilon(epsilon);
    noise numeric := privet.noise(amount);
    ticket uuid := gen_random_uuid();
    allowed integer[];
    numerator numeric;
    denominator numeric := privet.denominator(amount);
    what text;
    the privet.datasets;
    line privet.journal;
    answer bigint;
BEGIN
    PERFORM privet.lock();
    PERFORM privet.check_grant(dataset, analyst);
    allowed := privet.mask(dataset, condition);
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = ask.dataset;
    PERFORM FROM privet.accounts AS a WHERE a.dataset = ask.dataset AND the.neighbours = ''
        AND a.rows_per_person * CASE a.neighbours WHEN 'replace' THEN 2 ELSE 1 END <> the.factor;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PV009', MESSAGE = format('the account of data set ''%s'' is for other neighbours; nothing is charged', dataset),
            HINT = 'The owner can add the data set again, under the schema of the account.';
    END IF;
    numerator := privet.numerator(amount) * the.factor;
    SELECT format('SQL: noisy count, %s condition%s', count(*), CASE WHEN count(*) = 1 THEN '' ELSE 's' END)
    INTO STRICT what FROM jsonb_object_keys(condition);
    line := privet.charge(
        dataset, analyst, what,
        privet.written(numerator, denominator),
        privet.written(numerator * numerator, 2 * denominator * denominator),
        ticket::text,
        encode(sha256(convert_to(concat_ws(' ', 'ask', length(dataset), dataset, amount, condition), 'UTF8')), 'hex'),
        '', '', the.neighbours, the.rows_per_person, '', the.person);
    BEGIN
        answer := privet.exact_count(dataset, allowed) + noise;
    EXCEPTION WHEN OTHERS THEN
        IF SQLSTATE ~ '^(40|42|55)' THEN  -- whatever the rows are: changed columns, locks, conflicts
            RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = 'the table of the data set cannot be read now; nothing is charged';
        END IF;
        answer := NULL;
    END;
    INSERT INTO privet.answers VALUES (line.number, privet.sealed(answer));
    INSERT INTO privet.asked VALUES (line.number, pg_current_xact_id());
    -- A transaction that has notified cannot be prepared (PREPARE TRANSACTION), and keep the ledger's lock for ever. Nobody can listen.
    PERFORM pg_notify(gen_random_uuid()::text, '');
    RETURN ticket;
END $$;

-- Wait until all that was committed is on disk, whatever synchronous_commit was: an answer that was seen must stay charged.
CREATE OR REPLACE FUNCTION privet.flush() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here pg_lsn := pg_current_wal_insert_lsn();
BEGIN
    IF pg_current_wal_flush_lsn() >= here THEN
        RETURN;
    ELSIF current_setting('server_version_num')::integer >= 170000 THEN
        PERFORM pg_logical_emit_message(false, 'privet', '', true);
        RETURN;
    END IF;
    FOR i IN 1 .. 3000 LOOP  -- the server flushes by itself, within seconds
        EXIT WHEN pg_current_wal_flush_lsn() >= here;
        PERFORM pg_sleep(0.01);
    END LOOP;
    IF pg_current_wal_flush_lsn() < here THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'the charge is not on disk yet; ask for the answer again';
    END IF;
END $$;

-- The line and the answer of a ticket of the caller's, whose transaction has committed durably.
CREATE OR REPLACE FUNCTION privet.paid(ticket uuid, OUT line privet.journal, OUT answer bytea)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    caller text := privet.caller();
    transaction xid8;
BEGIN
    SELECT j.* INTO line FROM privet.journal AS j WHERE j.analyst = caller AND j.key = ticket::text AND j.key <> '';
    SELECT k.transaction, a.body INTO transaction, answer
    FROM privet.asked AS k JOIN privet.answers AS a USING (number) WHERE k.number = line.number;
    IF answer IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'you have no such ticket, or its transaction has not committed';
    ELSIF transaction = pg_current_xact_id_if_assigned() THEN  -- a rollback could still take the charge back
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'the answer is given in a later transaction; COMMIT first';
    END IF;
    PERFORM privet.flush();
END $$;

CREATE OR REPLACE FUNCTION privet.answer(ticket uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    answer bigint := privet.unsealed((privet.paid(ticket)).answer);
BEGIN
    IF answer IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'the table could not be counted; the charge stands. Its owner can find out why';
    END IF;
    RETURN answer;
END $$;

-- Proves the line of the answer (see privet/accounting/ledger/journal.py).
CREATE OR REPLACE FUNCTION privet.receipt(ticket uuid) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN (
        SELECT format('privet-receipt-1.%s.%s.%s.%s', l.identity, (p.line).number, (p.line).hash, encode(sha256(p.answer), 'hex'))
        FROM privet.ledger AS l, privet.paid(ticket) AS p);
END $$;

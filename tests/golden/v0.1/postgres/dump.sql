

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA privet;

ALTER SCHEMA privet OWNER TO golden_owner;

CREATE FUNCTION privet.allowed(condition jsonb) RETURNS TABLE(name text, value jsonb, label text)
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY SELECT c.key, e.value, CASE
        WHEN jsonb_typeof(e.value) IN ('string', 'boolean') THEN e.value #>> '{}'
        WHEN jsonb_typeof(e.value) <> 'number' THEN NULL
        WHEN abs(e.value::numeric) < 1e400 AND scale(e.value::numeric) < 400 THEN trim_scale(e.value::numeric)::text END
    FROM jsonb_each(condition) AS c, jsonb_array_elements(c.value) AS e;
END $$;

ALTER FUNCTION privet.allowed(condition jsonb) OWNER TO golden_owner;

CREATE FUNCTION privet.answer(ticket uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET row_security TO 'off'
    SET client_min_messages TO 'error'
    SET debug_print_parse TO 'off'
    SET debug_print_rewritten TO 'off'
    SET debug_print_plan TO 'off'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET standard_conforming_strings TO 'on'
    SET transform_null_equals TO 'off'
    SET array_nulls TO 'on'
    SET jit TO 'off'
    AS $$
DECLARE
    answer bigint := privet.unsealed((privet.paid(ticket)).answer);
BEGIN
    IF answer IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'the table could not be counted; the charge stands. Its owner can find out why';
    END IF;
    RETURN answer;
END $$;

ALTER FUNCTION privet.answer(ticket uuid) OWNER TO golden_owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE privet.journal (
    number bigint NOT NULL,
    "time" text NOT NULL,
    kind text NOT NULL,
    dataset text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C",
    what text NOT NULL,
    epsilon text NOT NULL,
    rho text NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    request text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL,
    CONSTRAINT journal_kind_check CHECK ((kind = ANY (ARRAY['charge'::text, 'cap'::text])))
);

ALTER TABLE privet.journal OWNER TO golden_owner;

CREATE FUNCTION privet.append(kind text, dataset text, analyst text, what text, epsilon text, rho text, key text, request text) RETURNS privet.journal
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    line privet.journal;
    identity text;
    before text;
    written text;
BEGIN
    UPDATE privet.ledger AS l SET lines = l.lines + 1 RETURNING l.lines, l.identity INTO STRICT line.number, identity;
    SELECT j.hash INTO before FROM privet.journal AS j WHERE j.number = line.number - 1;
    IF line.number = 1 THEN
        before := identity;
    ELSIF before IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV002', MESSAGE = format('line %s of the ledger is gone; verify the ledger', line.number - 1);
    END IF;
    line.time := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"');
    line.kind := kind; line.dataset := dataset; line.analyst := analyst; line.what := what;
    line.epsilon := epsilon; line.rho := rho; line.key := key; line.request := request;
    SELECT string_agg(octet_length(convert_to(field, 'UTF8')) || ':' || field || ',', '' ORDER BY position) INTO STRICT written
    FROM unnest(ARRAY[line.number::text, line.time, kind, dataset, analyst, what, epsilon, rho, key, request])
        WITH ORDINALITY AS fields (field, position);
    line.hash := encode(sha256(convert_to(before || written, 'UTF8')), 'hex');
    INSERT INTO privet.journal VALUES (line.*);
    RETURN line;
END $$;

ALTER FUNCTION privet.append(kind text, dataset text, analyst text, what text, epsilon text, rho text, key text, request text) OWNER TO golden_owner;

CREATE FUNCTION privet.ask(dataset text, condition jsonb, epsilon numeric) RETURNS uuid
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET row_security TO 'off'
    SET client_min_messages TO 'error'
    SET debug_print_parse TO 'off'
    SET debug_print_rewritten TO 'off'
    SET debug_print_plan TO 'off'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET standard_conforming_strings TO 'on'
    SET transform_null_equals TO 'off'
    SET array_nulls TO 'on'
    SET jit TO 'off'
    AS $$
DECLARE
    analyst text := privet.caller();
    amount text := privet.checked_epsilon(epsilon);
    noise numeric := privet.noise(amount);
    ticket uuid := gen_random_uuid();
    allowed integer[];
    numerator numeric;
    denominator numeric := privet.denominator(amount);
    what text;
    line privet.journal;
    answer bigint;
BEGIN
    PERFORM privet.lock();
    PERFORM privet.check_grant(dataset, analyst);
    allowed := privet.mask(dataset, condition);
    SELECT privet.numerator(amount) * d.factor INTO STRICT numerator FROM privet.datasets AS d WHERE d.dataset = ask.dataset;
    SELECT format('SQL: noisy count, %s condition%s', count(*), CASE WHEN count(*) = 1 THEN '' ELSE 's' END)
    INTO STRICT what FROM jsonb_object_keys(condition);
    line := privet.charge(
        dataset, analyst, what,
        privet.written(numerator, denominator),
        privet.written(numerator * numerator, 2 * denominator * denominator),
        ticket::text,
        encode(sha256(convert_to(concat_ws(' ', 'ask', length(dataset), dataset, amount, condition), 'UTF8')), 'hex'));
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
    RETURN ticket;
END $$;

ALTER FUNCTION privet.ask(dataset text, condition jsonb, epsilon numeric) OWNER TO golden_owner;

CREATE FUNCTION privet.denominator(amount text) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (COALESCE(NULLIF(split_part(amount, '/'::text, 2), ''::text), '1'::text))::numeric;

ALTER FUNCTION privet.denominator(amount text) OWNER TO golden_owner;

CREATE FUNCTION privet.numerator(amount text) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (split_part(amount, '/'::text, 1))::numeric;

ALTER FUNCTION privet.numerator(amount text) OWNER TO golden_owner;

CREATE FUNCTION privet.at_most(a text, b text) RETURNS boolean
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN ((privet.numerator(a) * privet.denominator(b)) <= (privet.numerator(b) * privet.denominator(a)));

ALTER FUNCTION privet.at_most(a text, b text) OWNER TO golden_owner;

CREATE FUNCTION privet.budget(dataset text) RETURNS TABLE(account text, unit text, remaining numeric, exactly text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET row_security TO 'off'
    SET client_min_messages TO 'error'
    SET debug_print_parse TO 'off'
    SET debug_print_rewritten TO 'off'
    SET debug_print_plan TO 'off'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET standard_conforming_strings TO 'on'
    SET transform_null_equals TO 'off'
    SET array_nulls TO 'on'
    SET jit TO 'off'
    AS $$
DECLARE
    caller text := privet.caller();
BEGIN
    PERFORM privet.check_grant(dataset, caller);
    RETURN QUERY
    SELECT c.account, c.unit, trim_scale(div(privet.numerator(c.exact) * 1e20, privet.denominator(c.exact)) * 1e-20), c.exact
    FROM (
        SELECT CASE WHEN k.analyst = '' THEN 'data set' ELSE 'analyst' END AS account, k.unit AS unit, coalesce(privet.less(k.amount, CASE
            WHEN s.rho IS NULL THEN '0' WHEN k.unit = 'epsilon' THEN s.epsilon ELSE s.rho END), '0') AS exact
        FROM privet.caps AS k LEFT JOIN privet.spent AS s ON s.dataset = k.dataset AND s.analyst = k.analyst
        WHERE k.dataset = budget.dataset AND k.analyst IN ('', caller)
        ORDER BY k.analyst
    ) AS c;
END $$;

ALTER FUNCTION privet.budget(dataset text) OWNER TO golden_owner;

CREATE FUNCTION privet.caller() RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    found text;
BEGIN
    SELECT r.analyst INTO found FROM privet.roles AS r WHERE r.role = session_user::text;
    IF found IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV005', MESSAGE = format('role %I is no analyst of this ledger', session_user);
    END IF;
    RETURN found;
END $$;

ALTER FUNCTION privet.caller() OWNER TO golden_owner;

CREATE FUNCTION privet.charge(dataset text, analyst text, what text, epsilon text, rho text, key text, request text) RETURNS privet.journal
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    line privet.journal;
BEGIN
    IF NOT (epsilon ~ '^([0-9]+(/[0-9]+)?)?$' AND rho ~ '^[0-9]+(/[0-9]+)?$' AND analyst <> '') THEN
        RAISE EXCEPTION USING ERRCODE = 'PV002', MESSAGE = 'a charge needs an analyst and written fractions';
    END IF;
    PERFORM privet.lock();
    IF key <> '' THEN
        SELECT j.* INTO line FROM privet.journal AS j WHERE j.analyst = charge.analyst AND j.key = charge.key AND j.key <> '';
        IF line.request <> request THEN
            RAISE EXCEPTION USING ERRCODE = 'PV003',
                MESSAGE = format('the key ''%s'' belongs to another request (line %s of the ledger); use a new key', key, line.number);
        ELSIF line.number IS NOT NULL THEN
            RETURN line;
        END IF;
    END IF;
    PERFORM privet.spend(dataset, '', epsilon, rho);
    PERFORM privet.spend(dataset, analyst, epsilon, rho);
    RETURN privet.append('charge', dataset, analyst, what, epsilon, rho, key, request);
END $_$;

ALTER FUNCTION privet.charge(dataset text, analyst text, what text, epsilon text, rho text, key text, request text) OWNER TO golden_owner;

CREATE FUNCTION privet.check_grant(dataset text, analyst text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM privet.grants AS g JOIN privet.datasets AS d USING (dataset)
    WHERE g.dataset = check_grant.dataset AND g.analyst = check_grant.analyst AND g.expires > clock_timestamp();
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PV005', MESSAGE = format('data set ''%s'' is unknown, or not granted to you', left(dataset, 500));
    END IF;
END $$;

ALTER FUNCTION privet.check_grant(dataset text, analyst text) OWNER TO golden_owner;

CREATE FUNCTION privet.checked_epsilon(epsilon numeric) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

ALTER FUNCTION privet.checked_epsilon(epsilon numeric) OWNER TO golden_owner;

CREATE FUNCTION privet.discrete_laplace(epsilon text) RETURNS numeric
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    s numeric := privet.numerator(epsilon);
    t numeric := privet.denominator(epsilon);
    u numeric;
    v bigint;
    magnitude numeric;
    negative boolean;
BEGIN
    LOOP
        u := privet.uniform_below(t);
        CONTINUE WHEN NOT privet.exp_coin(u, t);
        v := 0;
        WHILE privet.exp_coin(1, 1) LOOP
            v := v + 1;
        END LOOP;
        magnitude := div(u + t * v, s);
        negative := privet.uniform_below(2) = 1;
        EXIT WHEN magnitude > 0 OR NOT negative;  -- or zero would come twice as often
    END LOOP;
    RETURN CASE WHEN negative THEN -magnitude ELSE magnitude END;
END $$;

ALTER FUNCTION privet.discrete_laplace(epsilon text) OWNER TO golden_owner;

CREATE FUNCTION privet.exact_count(dataset text, mask integer[]) RETURNS bigint
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET work_mem TO '256MB'
    SET hash_mem_multiplier TO '1'
    SET max_parallel_workers_per_gather TO '0'
    AS $$
DECLARE
    the privet.datasets;
    counted bigint;
BEGIN
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = exact_count.dataset;
    EXECUTE the.statement INTO STRICT counted USING the.texts, the.numbers, the.codes, mask;
    RETURN coalesce(counted, 0);
END $$;

ALTER FUNCTION privet.exact_count(dataset text, mask integer[]) OWNER TO golden_owner;

CREATE FUNCTION privet.exp_coin(numerator numeric, denominator numeric) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    k bigint := 1;
BEGIN
    WHILE privet.uniform_below(denominator * k) < numerator LOOP
        k := k + 1;
    END LOOP;
    RETURN k % 2 = 1;
END $$;

ALTER FUNCTION privet.exp_coin(numerator numeric, denominator numeric) OWNER TO golden_owner;

CREATE FUNCTION privet.flush() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

ALTER FUNCTION privet.flush() OWNER TO golden_owner;

CREATE FUNCTION privet.keep() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0];
END $$;

ALTER FUNCTION privet.keep() OWNER TO golden_owner;

CREATE FUNCTION privet.written(numerator numeric, denominator numeric) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT ((div(written.numerator, c.common))::text || CASE WHEN (written.denominator = c.common) THEN ''::text ELSE ('/'::text || (div(written.denominator, c.common))::text) END) FROM (SELECT gcd(written.numerator, written.denominator) AS common) c);

ALTER FUNCTION privet.written(numerator numeric, denominator numeric) OWNER TO golden_owner;

CREATE FUNCTION privet.less(a text, b text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN privet.at_most(a, b) THEN '0'::text ELSE privet.written(((privet.numerator(a) * privet.denominator(b)) - (privet.numerator(b) * privet.denominator(a))), (privet.denominator(a) * privet.denominator(b))) END;

ALTER FUNCTION privet.less(a text, b text) OWNER TO golden_owner;

CREATE FUNCTION privet.lock() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    PERFORM FROM privet.ledger FOR UPDATE;
END $$;

ALTER FUNCTION privet.lock() OWNER TO golden_owner;

CREATE FUNCTION privet.mask(dataset text, condition jsonb) RETURNS integer[]
    LANGUAGE plpgsql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

ALTER FUNCTION privet.mask(dataset text, condition jsonb) OWNER TO golden_owner;

CREATE FUNCTION privet.mighty() RETURNS TABLE(role text, might text)
    LANGUAGE sql STABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

ALTER FUNCTION privet.mighty() OWNER TO golden_owner;

CREATE FUNCTION privet.noise(epsilon text) RETURNS numeric
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    start timestamptz := clock_timestamp();
    until timestamptz;
    drawn numeric;
BEGIN
    IF current_setting('track_functions') <> 'none' THEN
        RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = 'this server counts calls of functions, which tells how large the noise is; '
            'nothing is charged. Ask its administrator to set track_functions = none, for your role at least';
    END IF;
    drawn := privet.discrete_laplace(epsilon);
    until := start + ceil(extract(epoch FROM clock_timestamp() - start) * 100)::double precision * interval '10 milliseconds';
    WHILE clock_timestamp() BETWEEN start AND until LOOP  -- not pg_sleep: pg_stat_activity tells when a session goes to sleep
    END LOOP;
    RETURN drawn;
END $$;

ALTER FUNCTION privet.noise(epsilon text) OWNER TO golden_owner;

CREATE FUNCTION privet.pad(salt bytea) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN ('x' || substr(encode(sha256(salt), 'hex'), 1, 16))::bit(64)::bigint;
END $$;

ALTER FUNCTION privet.pad(salt bytea) OWNER TO golden_owner;

CREATE FUNCTION privet.paid(ticket uuid, OUT line privet.journal, OUT answer bytea) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
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

ALTER FUNCTION privet.paid(ticket uuid, OUT line privet.journal, OUT answer bytea) OWNER TO golden_owner;

CREATE FUNCTION privet.plus(a text, b text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN privet.written(((privet.numerator(a) * privet.denominator(b)) + (privet.numerator(b) * privet.denominator(a))), (privet.denominator(a) * privet.denominator(b)));

ALTER FUNCTION privet.plus(a text, b text) OWNER TO golden_owner;

CREATE FUNCTION privet.random_bits() RETURNS numeric
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    hex text := encode(uuid_send(gen_random_uuid()), 'hex');
BEGIN
    RETURN ('x' || substr(hex, 1, 12))::bit(48)::bigint * 72057594037927936::numeric + ('x' || substr(hex, 19, 14))::bit(56)::bigint;
END $$;

ALTER FUNCTION privet.random_bits() OWNER TO golden_owner;

CREATE FUNCTION privet.receipt(ticket uuid) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    SET row_security TO 'off'
    SET client_min_messages TO 'error'
    SET debug_print_parse TO 'off'
    SET debug_print_rewritten TO 'off'
    SET debug_print_plan TO 'off'
    SET "TimeZone" TO 'UTC'
    SET "DateStyle" TO 'ISO, YMD'
    SET "IntervalStyle" TO 'postgres'
    SET extra_float_digits TO '1'
    SET bytea_output TO 'hex'
    SET standard_conforming_strings TO 'on'
    SET transform_null_equals TO 'off'
    SET array_nulls TO 'on'
    SET jit TO 'off'
    AS $$
BEGIN
    RETURN (
        SELECT format('privet-receipt-1.%s.%s.%s.%s', l.identity, (p.line).number, (p.line).hash, encode(sha256(p.answer), 'hex'))
        FROM privet.ledger AS l, privet.paid(ticket) AS p);
END $$;

ALTER FUNCTION privet.receipt(ticket uuid) OWNER TO golden_owner;

CREATE FUNCTION privet.sealed(number bigint) RETURNS bytea
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    salt bytea := uuid_send(gen_random_uuid());
BEGIN
    RETURN salt || int8send(coalesce(number, '-9223372036854775808') # privet.pad(salt));
END $$;

ALTER FUNCTION privet.sealed(number bigint) OWNER TO golden_owner;

CREATE FUNCTION privet.spend(dataset text, analyst text, epsilon text, rho text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $_$
DECLARE
    cap privet.caps;
    spent privet.spent;
    asked text;
    remaining text;
    account text := CASE WHEN analyst = '' THEN '' ELSE format('analyst ''%s'' on ', analyst) END || format('data set ''%s''', dataset);
BEGIN
    SELECT c.* INTO cap FROM privet.caps AS c WHERE c.dataset = spend.dataset AND c.analyst = spend.analyst;
    SELECT s.* INTO spent FROM privet.spent AS s WHERE s.dataset = spend.dataset AND s.analyst = spend.analyst;
    IF NOT FOUND THEN
        spent := (dataset, analyst, '0', '0');
    END IF;
    IF cap.unit IS NULL AND analyst = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'PV002', MESSAGE = format('the ledger has no budget for %s; set one first', account);
    ELSIF cap.unit IS NOT NULL THEN
        asked := CASE cap.unit WHEN 'epsilon' THEN epsilon ELSE rho END;
        IF asked = '' THEN
            RAISE EXCEPTION USING ERRCODE = 'PV004', MESSAGE = format(
                'data set ''%s'' has a pure epsilon budget, and this mechanism only gives a rho (zCDP) guarantee; '
                'use a pure mechanism, or ask the owner for a budget in rho', dataset);
        END IF;
        remaining := coalesce(privet.less(cap.amount, CASE cap.unit WHEN 'epsilon' THEN spent.epsilon ELSE spent.rho END), '0');
        IF NOT privet.at_most(asked, remaining) THEN
            RAISE EXCEPTION USING ERRCODE = 'PV001',
                MESSAGE = format('the budget of %s does not allow this: asked %s %s, left %2$s %4$s', account, cap.unit, asked, remaining),
                DETAIL = json_build_object('asked', asked, 'left', remaining, 'unit', cap.unit, 'account', account);
        END IF;
    END IF;
    spent.epsilon := privet.tidy(privet.plus(spent.epsilon, nullif(epsilon, '')));
    spent.rho := privet.tidy(privet.plus(spent.rho, rho));
    INSERT INTO privet.spent AS s VALUES (spent.*)
        ON CONFLICT ON CONSTRAINT one_total DO UPDATE SET epsilon = excluded.epsilon, rho = excluded.rho;
END $_$;

ALTER FUNCTION privet.spend(dataset text, analyst text, epsilon text, rho text) OWNER TO golden_owner;

CREATE FUNCTION privet.tidy(amount text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (SELECT CASE WHEN (privet.denominator(tidy.amount) <= d.digits) THEN tidy.amount ELSE privet.written(div((((privet.numerator(tidy.amount) * d.digits) + privet.denominator(tidy.amount)) - (1)::numeric), privet.denominator(tidy.amount)), d.digits) END AS written FROM (SELECT (('1'::text || repeat('0'::text, 300)))::numeric AS digits) d);

ALTER FUNCTION privet.tidy(amount text) OWNER TO golden_owner;

CREATE FUNCTION privet.uniform_below(n numeric) RETURNS numeric
    LANGUAGE plpgsql
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE
    drawn numeric;
    possible numeric;
BEGIN
    LOOP
        drawn := 0;
        possible := 1;
        WHILE possible < n LOOP
            drawn := drawn * 20282409603651670423947251286016 + privet.random_bits();
            possible := possible * 20282409603651670423947251286016;  -- 2^104
        END LOOP;
        EXIT WHEN drawn < possible - mod(possible, n);  -- otherwise small remainders would be more likely
    END LOOP;
    RETURN mod(drawn, n);
END $$;

ALTER FUNCTION privet.uniform_below(n numeric) OWNER TO golden_owner;

CREATE FUNCTION privet.unsealed(answer bytea) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
BEGIN
    RETURN nullif(
        ('x' || encode(substr(answer, 17), 'hex'))::bit(64)::bigint # privet.pad(substr(answer, 1, 16)), '-9223372036854775808');
END $$;

ALTER FUNCTION privet.unsealed(answer bytea) OWNER TO golden_owner;

CREATE TABLE privet.answers (
    number bigint NOT NULL,
    body bytea NOT NULL
);

ALTER TABLE privet.answers OWNER TO golden_owner;

CREATE TABLE privet.asked (
    number bigint NOT NULL,
    transaction xid8 NOT NULL
);

ALTER TABLE privet.asked OWNER TO golden_owner;

CREATE TABLE privet.attributes (
    dataset text NOT NULL COLLATE pg_catalog."C",
    "position" integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    labels text[] NOT NULL
);

ALTER TABLE privet.attributes OWNER TO golden_owner;

CREATE TABLE privet.caps (
    dataset text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C",
    amount text NOT NULL,
    unit text NOT NULL,
    CONSTRAINT caps_unit_check CHECK ((unit = ANY (ARRAY['epsilon'::text, 'rho'::text])))
);

ALTER TABLE privet.caps OWNER TO golden_owner;

CREATE TABLE privet.datasets (
    dataset text NOT NULL COLLATE pg_catalog."C",
    relation text NOT NULL,
    statement text NOT NULL,
    texts text[] NOT NULL,
    numbers double precision[] NOT NULL,
    codes integer[] NOT NULL,
    factor integer NOT NULL,
    CONSTRAINT datasets_factor_check CHECK ((factor >= 1))
);

ALTER TABLE privet.datasets OWNER TO golden_owner;

CREATE TABLE privet.functions (
    version integer NOT NULL
);

ALTER TABLE privet.functions OWNER TO golden_owner;

CREATE TABLE privet.grants (
    dataset text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C",
    expires timestamp with time zone NOT NULL
);

ALTER TABLE privet.grants OWNER TO golden_owner;

CREATE TABLE privet.ledger (
    identity text NOT NULL,
    version integer NOT NULL,
    lines bigint NOT NULL
);

ALTER TABLE privet.ledger OWNER TO golden_owner;

CREATE TABLE privet.roles (
    role text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C"
);

ALTER TABLE privet.roles OWNER TO golden_owner;

CREATE TABLE privet.spent (
    dataset text NOT NULL COLLATE pg_catalog."C",
    analyst text NOT NULL COLLATE pg_catalog."C",
    epsilon text,
    rho text NOT NULL
);

ALTER TABLE privet.spent OWNER TO golden_owner;

CREATE TABLE public.people (
    colour text,
    age double precision,
    smokes text,
    ill text
);

ALTER TABLE public.people OWNER TO postgres;

INSERT INTO privet.answers VALUES (3, '\x7b22636f7374223a7b22657073696c6f6e223a22313030303030222c2272686f223a2235303030303030303030227d2c22726f775f636f7374223a7b22657073696c6f6e223a22313030303030222c2272686f223a2235303030303030303030227d2c2270726976617465223a747275652c22656e747279223a7b226e756d626572223a332c2274696d65223a22323032362d31312d31385430303a34333a35352e3635392b30303a3030222c2264617461736574223a2270656f706c65222c22616e616c797374223a22616461222c2277686174223a22636c61737320636f756e74733a203120706172746974696f6e2c20312063656c6c222c22636f7374223a7b22657073696c6f6e223a22313030303030222c2272686f223a2235303030303030303030227d2c226b6579223a22676f6c64656e2d31222c2268617368223a2232663039356131393061396137643266343833356562643432666536373432316436366533306537383930613862336432613431643239346337393837323238227d2c227461626c6573223a5b7b227368617065223a5b312c325d2c226e756d62657273223a5b33352c33325d7d5d2c226e6f697365223a2264697363726574652d6c61706c616365222c22737072656164223a22312f313030303030222c22646576696174696f6e223a302e307d');
INSERT INTO privet.answers VALUES (4, '\xe566bed04e7749ed9b426b281302c8d97b7cf3317676f57a');

INSERT INTO privet.asked VALUES (4, '772');

INSERT INTO privet.attributes VALUES ('people', 0, 'colour', '{red,green,blue}');
INSERT INTO privet.attributes VALUES ('people', 1, 'age', '{"[0, 20)","[20, 40)","[40, 60)","[60, 80]"}');
INSERT INTO privet.attributes VALUES ('people', 2, 'smokes', '{no,yes}');
INSERT INTO privet.attributes VALUES ('people', 3, 'ill', '{no,yes}');

INSERT INTO privet.caps VALUES ('people', '', '1000000000', 'epsilon');
INSERT INTO privet.caps VALUES ('people', 'ada', '10000000', 'epsilon');

INSERT INTO privet.datasets VALUES ('people', '"public"."people"', 'SELECT sum(($4)[1 + c0] * ($4)[4 + c1] * ($4)[8 + c2] * ($4)[10 + y]) FROM (SELECT * FROM (SELECT coalesce((($1)[1]::jsonb ->> t."colour"::text)::int, 3) AS c0, coalesce(width_bucket(nullif(t."age"::float8, ''NaN''), ($2)[1:3]), 4) AS c1, coalesce((($1)[2]::jsonb ->> t."smokes"::text)::int, 2) AS c2, coalesce((($1)[3]::jsonb ->> t."ill"::text)::int, 2) AS y FROM "public"."people" AS t OFFSET ''0'') AS e WHERE CASE WHEN c0 < 3 AND c1 < 4 AND c2 < 2 AND y < 2 THEN true ELSE false END) AS counted', '{"{\"red\": 0, \"green\": 1, \"blue\": 2}","{\"no\": 0, \"yes\": 1}","{\"no\": 0, \"yes\": 1}"}', '{20,40,60}', '{}', 1);

INSERT INTO privet.functions VALUES (1);

INSERT INTO privet.grants VALUES ('people', 'ada', 'infinity');

INSERT INTO privet.journal VALUES (1, '2026-11-18T00:43:53.036+00:00', 'cap', 'people', '', 'cap: epsilon 1e+09', '1000000000', '', '', '', '7c33407e30c7c947ecd2b23d59bdef6a26af397bf213d003b879f85cb400ab47');
INSERT INTO privet.journal VALUES (2, '2026-11-18T00:43:53.380+00:00', 'cap', 'people', 'ada', 'cap: epsilon 1e+07', '10000000', '', '', '', 'dc6048675836912491f53802a8a62b8de3a70821aa199139f8364151c9f5e68a');
INSERT INTO privet.journal VALUES (3, '2026-11-18T00:43:55.659+00:00', 'charge', 'people', 'ada', 'class counts: 1 partition, 1 cell', '100000', '5000000000', 'golden-1', 'e66e203cfbe81289adee1996ae6029243bcf98edf72d8875828eed364e645a83', '2f095a190a9a7d2f4835ebd42fe67421d66e30e7890a8b3d2a41d294c7987228');
INSERT INTO privet.journal VALUES (4, '2026-11-18T00:43:56.444+00:00', 'charge', 'people', 'ada', 'SQL: noisy count, 2 conditions', '100000', '5000000000', '9a9b7335-9d09-4110-8eef-a2a798a68514', '6abb3dd249304bd7b498958d0a2562afcf69837b93cf430f2dec24fdbceeed4a', 'ea75d8ee2d57adb9fee62d9928735063163915e70a17476ebe80a2d98d07baee');

INSERT INTO privet.ledger VALUES ('4878620101ddb42ad482b3077c4f6fcaeb2f8d5e73095e5667cba5bad7294577', 1, 4);

INSERT INTO privet.roles VALUES ('golden_ada', 'ada');

INSERT INTO privet.spent VALUES ('people', '', '200000', '10000000000');
INSERT INTO privet.spent VALUES ('people', 'ada', '200000', '10000000000');

INSERT INTO public.people VALUES ('red', 0, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 7, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 14, 'no', 'no');
INSERT INTO public.people VALUES ('red', 21, 'no', 'no');
INSERT INTO public.people VALUES ('green', 28, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 35, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 42, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 49, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 56, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 63, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 70, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 77, 'no', 'yes');
INSERT INTO public.people VALUES ('red', 4, 'no', 'no');
INSERT INTO public.people VALUES ('green', 11, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 18, 'no', 'no');
INSERT INTO public.people VALUES ('red', 25, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 32, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 39, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 46, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 53, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 60, 'no', 'no');
INSERT INTO public.people VALUES ('red', 67, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 74, 'no', 'yes');
INSERT INTO public.people VALUES ('blue', 1, 'no', 'no');
INSERT INTO public.people VALUES ('red', 8, 'no', 'no');
INSERT INTO public.people VALUES ('green', 15, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 22, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 29, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 36, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 43, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 50, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 57, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 64, 'no', 'no');
INSERT INTO public.people VALUES ('red', 71, 'no', 'no');
INSERT INTO public.people VALUES ('green', 78, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 5, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 12, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 19, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 26, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 33, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 40, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 47, 'no', 'no');
INSERT INTO public.people VALUES ('red', 54, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 61, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 68, 'no', 'yes');
INSERT INTO public.people VALUES ('red', 75, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 2, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 9, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 16, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 23, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 30, 'no', 'no');
INSERT INTO public.people VALUES ('red', 37, 'no', 'no');
INSERT INTO public.people VALUES ('green', 44, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 51, 'no', 'no');
INSERT INTO public.people VALUES ('red', 58, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 65, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 72, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 79, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 6, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 13, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 20, 'no', 'no');
INSERT INTO public.people VALUES ('green', 27, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 34, 'no', 'no');
INSERT INTO public.people VALUES ('red', 41, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 48, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 55, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 62, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 69, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 76, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 3, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 10, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 17, 'no', 'no');
INSERT INTO public.people VALUES ('red', 24, 'no', 'no');
INSERT INTO public.people VALUES ('green', 31, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 38, 'no', 'no');
INSERT INTO public.people VALUES ('red', 45, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 52, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 59, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 66, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 73, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 0, 'no', 'no');
INSERT INTO public.people VALUES ('red', 7, 'no', 'no');
INSERT INTO public.people VALUES ('green', 14, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 21, 'no', 'no');
INSERT INTO public.people VALUES ('red', 28, 'no', 'no');
INSERT INTO public.people VALUES ('green', 35, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 42, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 49, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 56, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 63, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 70, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 77, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 4, 'no', 'no');
INSERT INTO public.people VALUES ('red', 11, 'no', 'no');
INSERT INTO public.people VALUES ('green', 18, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 25, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 32, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 39, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 46, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 53, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 60, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 67, 'no', 'no');
INSERT INTO public.people VALUES ('red', 74, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 1, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 8, 'no', 'no');
INSERT INTO public.people VALUES ('red', 15, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 22, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 29, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 36, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 43, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 50, 'no', 'yes');
INSERT INTO public.people VALUES ('red', 57, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 64, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 71, 'no', 'no');
INSERT INTO public.people VALUES ('red', 78, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 5, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 12, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 19, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 26, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 33, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 40, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 47, 'no', 'yes');
INSERT INTO public.people VALUES ('blue', 54, 'no', 'no');
INSERT INTO public.people VALUES ('red', 61, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 68, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 75, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 2, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 9, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 16, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 23, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 30, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 37, 'no', 'no');
INSERT INTO public.people VALUES ('red', 44, 'no', 'no');
INSERT INTO public.people VALUES ('green', 51, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 58, 'no', 'no');
INSERT INTO public.people VALUES ('red', 65, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 72, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 79, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 6, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 13, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 20, 'no', 'no');
INSERT INTO public.people VALUES ('red', 27, 'no', 'no');
INSERT INTO public.people VALUES ('green', 34, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 41, 'no', 'yes');
INSERT INTO public.people VALUES ('red', 48, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 55, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 62, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 69, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 76, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 3, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 10, 'no', 'no');
INSERT INTO public.people VALUES ('green', 17, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 24, 'no', 'no');
INSERT INTO public.people VALUES ('red', 31, 'no', 'no');
INSERT INTO public.people VALUES ('green', 38, 'no', 'yes');
INSERT INTO public.people VALUES ('blue', 45, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 52, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 59, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 66, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 73, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 0, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 7, 'no', 'no');
INSERT INTO public.people VALUES ('red', 14, 'no', 'no');
INSERT INTO public.people VALUES ('green', 21, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 28, 'no', 'no');
INSERT INTO public.people VALUES ('red', 35, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 42, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 49, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 56, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 63, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 70, 'no', 'no');
INSERT INTO public.people VALUES ('red', 77, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 4, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 11, 'no', 'no');
INSERT INTO public.people VALUES ('red', 18, 'no', 'no');
INSERT INTO public.people VALUES ('green', 25, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 32, 'yes', 'yes');
INSERT INTO public.people VALUES ('red', 39, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 46, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 53, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 60, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 67, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 74, 'no', 'no');
INSERT INTO public.people VALUES ('red', 1, 'no', 'no');
INSERT INTO public.people VALUES ('green', 8, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 15, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 22, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 29, 'yes', 'yes');
INSERT INTO public.people VALUES ('blue', 36, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 43, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 50, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 57, 'no', 'no');
INSERT INTO public.people VALUES ('red', 64, 'no', 'yes');
INSERT INTO public.people VALUES ('green', 71, 'no', 'no');
INSERT INTO public.people VALUES ('blue', 78, 'no', 'no');
INSERT INTO public.people VALUES ('red', 5, 'yes', 'no');
INSERT INTO public.people VALUES ('green', 12, 'yes', 'no');
INSERT INTO public.people VALUES ('blue', 19, 'yes', 'no');
INSERT INTO public.people VALUES ('red', 26, 'yes', 'yes');
INSERT INTO public.people VALUES ('green', 33, 'yes', 'no');

ALTER TABLE ONLY privet.answers
    ADD CONSTRAINT answers_pkey PRIMARY KEY (number);

ALTER TABLE ONLY privet.asked
    ADD CONSTRAINT asked_pkey PRIMARY KEY (number);

ALTER TABLE ONLY privet.attributes
    ADD CONSTRAINT attributes_dataset_name_key UNIQUE (dataset, name);

ALTER TABLE ONLY privet.attributes
    ADD CONSTRAINT attributes_pkey PRIMARY KEY (dataset, "position");

ALTER TABLE ONLY privet.datasets
    ADD CONSTRAINT datasets_pkey PRIMARY KEY (dataset);

ALTER TABLE ONLY privet.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (number);

ALTER TABLE ONLY privet.caps
    ADD CONSTRAINT one_cap PRIMARY KEY (dataset, analyst);

ALTER TABLE ONLY privet.grants
    ADD CONSTRAINT one_grant PRIMARY KEY (dataset, analyst);

ALTER TABLE ONLY privet.spent
    ADD CONSTRAINT one_total PRIMARY KEY (dataset, analyst);

ALTER TABLE ONLY privet.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (role);

CREATE INDEX journal_by_dataset ON privet.journal USING btree (dataset, analyst);

CREATE UNIQUE INDEX journal_by_key ON privet.journal USING btree (analyst, key) WHERE (key <> ''::text);

CREATE UNIQUE INDEX one_ledger ON privet.ledger USING btree ((true));

CREATE TRIGGER answers_stay BEFORE DELETE OR UPDATE OR TRUNCATE ON privet.answers FOR EACH STATEMENT EXECUTE FUNCTION privet.keep('answers are kept');

ALTER TABLE privet.answers ENABLE ALWAYS TRIGGER answers_stay;

CREATE TRIGGER journal_stays BEFORE DELETE OR UPDATE OR TRUNCATE ON privet.journal FOR EACH STATEMENT EXECUTE FUNCTION privet.keep('the journal is append-only');

ALTER TABLE privet.journal ENABLE ALWAYS TRIGGER journal_stays;

ALTER TABLE ONLY privet.answers
    ADD CONSTRAINT answers_number_fkey FOREIGN KEY (number) REFERENCES privet.journal(number);

ALTER TABLE ONLY privet.asked
    ADD CONSTRAINT asked_number_fkey FOREIGN KEY (number) REFERENCES privet.journal(number);

ALTER TABLE ONLY privet.attributes
    ADD CONSTRAINT attributes_dataset_fkey FOREIGN KEY (dataset) REFERENCES privet.datasets(dataset) ON DELETE CASCADE;

GRANT USAGE ON SCHEMA privet TO golden_ada;

REVOKE ALL ON FUNCTION privet.allowed(condition jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.answer(ticket uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION privet.answer(ticket uuid) TO golden_ada;

REVOKE ALL ON FUNCTION privet.append(kind text, dataset text, analyst text, what text, epsilon text, rho text, key text, request text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.ask(dataset text, condition jsonb, epsilon numeric) FROM PUBLIC;
GRANT ALL ON FUNCTION privet.ask(dataset text, condition jsonb, epsilon numeric) TO golden_ada;

REVOKE ALL ON FUNCTION privet.denominator(amount text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.numerator(amount text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.at_most(a text, b text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.budget(dataset text) FROM PUBLIC;
GRANT ALL ON FUNCTION privet.budget(dataset text) TO golden_ada;

REVOKE ALL ON FUNCTION privet.caller() FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.charge(dataset text, analyst text, what text, epsilon text, rho text, key text, request text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.check_grant(dataset text, analyst text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.checked_epsilon(epsilon numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.discrete_laplace(epsilon text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.exact_count(dataset text, mask integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.exp_coin(numerator numeric, denominator numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.flush() FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.keep() FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.written(numerator numeric, denominator numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.less(a text, b text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.lock() FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.mask(dataset text, condition jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.mighty() FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.noise(epsilon text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.pad(salt bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.paid(ticket uuid, OUT line privet.journal, OUT answer bytea) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.plus(a text, b text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.random_bits() FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.receipt(ticket uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION privet.receipt(ticket uuid) TO golden_ada;

REVOKE ALL ON FUNCTION privet.sealed(number bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.spend(dataset text, analyst text, epsilon text, rho text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.tidy(amount text) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.uniform_below(n numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION privet.unsealed(answer bytea) FROM PUBLIC;

GRANT SELECT ON TABLE public.people TO golden_owner;
GRANT SELECT ON TABLE public.people TO golden_reader;


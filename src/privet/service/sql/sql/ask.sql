-- Ask for a ticket, and get the answer for it. What analysts call (privet.calls) runs with the rights of the ledger's owner, and with settings
-- of its own. Refusals have an SQLSTATE of class PV (see privet/accounting/ledger/sql/charge.sql), and nothing is charged then:
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

-- Which schema the data set has, where the analyst may ask it. Not at this transaction's start: it can be held open past the end of a grant.
CREATE OR REPLACE FUNCTION privet.check_grant(dataset text, analyst text) RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    fingerprint text;
BEGIN
    SELECT d.fingerprint INTO fingerprint FROM privet.grants AS g JOIN privet.datasets AS d USING (dataset)
    WHERE g.dataset = check_grant.dataset AND g.analyst = check_grant.analyst AND g.expires > clock_timestamp();
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PV005', MESSAGE = format('data set ''%s'' is unknown, or not granted to you', left(dataset, 500));
    END IF;
    RETURN fingerprint;
END $$;

-- The epsilon that is meant, as a written fraction.
CREATE OR REPLACE FUNCTION privet.checked_epsilon(epsilon numeric) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digits integer;
BEGIN
    IF epsilon IS NULL OR epsilon IN ('NaN', 'Infinity', '-Infinity') OR epsilon <= 0 OR length(trim_scale(epsilon)::text) > 60 THEN
        RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = 'epsilon must be a finite number above zero of at most 60 digits, such as epsilon => 0.1';
    ELSIF epsilon * 1099511627776 < 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PV006', MESSAGE = 'epsilon must be at least 2^-40: less would be nothing but noise';
    END IF;
    digits := min_scale(epsilon);
    RETURN privet.written(trim_scale(epsilon * ('1' || repeat('0', digits))::numeric), ('1' || repeat('0', digits))::numeric);
END $$;

-- A fraction as it is written; a decimal number is one, too.
CREATE OR REPLACE FUNCTION privet.fraction_of(said text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE WHEN said ~ '^[0-9]{1,50}[.][0-9]{1,50}$'
        THEN privet.written(replace(said, '.', '')::numeric, ('1' || repeat('0', length(split_part(said, '.', 2))))::numeric) ELSE said END;
END $$;

-- The amount that a program writes, as a fraction in lowest terms.
CREATE OR REPLACE FUNCTION privet.checked_amount(amount text) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    amount := privet.fraction_of(amount);
    IF amount IS NULL OR amount !~ '^[0-9]{1,100}(/[0-9]{1,100})?$' OR privet.numerator(amount) = 0 OR privet.denominator(amount) = 0 THEN
        PERFORM privet.refuse_question('an amount must be a fraction above zero, such as ''1/3'' or ''0.1''');
    END IF;
    RETURN privet.written(privet.numerator(amount), privet.denominator(amount));
END $$;

-- What the noise of each number is drawn with: epsilon, shared by so many numbers that one row can be in.
CREATE OR REPLACE FUNCTION privet.checked_share(epsilon text, sensitivity numeric) RETURNS text
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    share text := privet.written(privet.numerator(epsilon), privet.denominator(epsilon) * sensitivity);
BEGIN
    IF NOT privet.at_most('1/1099511627776', share) THEN
        PERFORM privet.refuse_question('epsilon must be at least 2^-40 for each number: less would be nothing but noise');
    END IF;
    RETURN share;
END $$;

-- Refuse where the server's statistics tell what was drawn.
CREATE OR REPLACE FUNCTION privet.check_statistics() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_setting('track_functions') <> 'none' THEN
        PERFORM privet.refuse_question('this server counts calls of functions, which tells how large the noise is; '
            'nothing is charged. Ask its administrator to set track_functions = none, for your role at least');
    END IF;
END $$;

-- Do nothing until the time since then is a whole number of hundredths of a second.
CREATE OR REPLACE FUNCTION privet.round_time_up(start timestamptz) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    until timestamptz := start + ceil(extract(epoch FROM clock_timestamp() - start) * 100)::double precision * interval '10 milliseconds';
BEGIN
    WHILE clock_timestamp() BETWEEN start AND until LOOP  -- not pg_sleep: pg_stat_activity tells when a session goes to sleep
    END LOOP;
END $$;

-- n draws of noise, where neither their time nor the server's statistics say anything about them.
CREATE OR REPLACE FUNCTION privet.noise(epsilon text, n integer) RETURNS bigint[] LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    start timestamptz := clock_timestamp();
    drawn bigint[];
BEGIN
    PERFORM privet.check_statistics();
    drawn := privet.many_laplace(epsilon, n);
    PERFORM privet.round_time_up(start);
    RETURN drawn;
END $$;

-- What the numbers of an answer are masked with, in turn. Its body is parsed here, and becomes part of what calls it.
CREATE OR REPLACE FUNCTION privet.pad(salt bytea, place integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ('x' || substr(encode(sha256(CASE place WHEN 1 THEN salt ELSE salt || int4send(place) END), 'hex'), 1, 16))::bit(64)::bigint;

-- An answer as it is kept: random bytes, and the numbers masked by their hashes; all of them missing where there is none. That hides nothing
-- from who can read it. But neither its length nor its SHA-256 tells what it is, nor does the length of the server's log, which may be
-- compressed.
CREATE OR REPLACE FUNCTION privet.sealed(numbers bigint[]) RETURNS bytea LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    salt bytea := uuid_send(gen_random_uuid());
BEGIN
    -- so that it never begins like JSON: the ledger archives answers of the service, which do
    salt := set_byte(salt, 0, get_byte(salt, 0) | 128);
    RETURN salt || (
        SELECT string_agg(int8send(coalesce(x.number, '-9223372036854775808') # privet.pad(salt, x.place::integer)), '' ORDER BY x.place)
        FROM unnest(numbers) WITH ORDINALITY AS x (number, place));
END $$;

CREATE OR REPLACE FUNCTION privet.unsealed(answer bytea) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    salt bytea := substr(answer, 1, 16);
    masked bytea := substr(answer, 17);  -- not as text, of which a far part takes long to find
BEGIN
    RETURN (
        SELECT array_agg(nullif(
                ('x' || encode(substr(masked, 8 * place - 7, 8), 'hex'))::bit(64)::bigint # privet.pad(salt, place), '-9223372036854775808')
            ORDER BY place)
        FROM generate_series(1, length(masked) / 8) AS place);
END $$;

-- The ticket that this request of the caller's has under this key already; none where the key is new or empty.
CREATE OR REPLACE FUNCTION privet.ticket_before(analyst text, key text, request text) RETURNS uuid
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    line privet.journal;
    ticket uuid;
BEGIN
    IF key IS NULL OR octet_length(key) > 500 THEN
        PERFORM privet.refuse_question('a key must be a text of at most 500 bytes');
    END IF;
    SELECT j.* INTO line FROM privet.journal AS j WHERE j.analyst = ticket_before.analyst AND j.key = ticket_before.key AND j.key <> '';
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF line.request <> request OR line.kind <> 'charge' THEN
        RAISE EXCEPTION USING ERRCODE = 'PV003',
            MESSAGE = format('the key ''%s'' belongs to another request (line %s of the ledger); use a new key', key, line.number);
    END IF;
    SELECT a.ticket INTO ticket FROM privet.asked AS a WHERE a.number = line.number;
    IF ticket IS NULL THEN  -- the functions were uninstalled since
        RAISE EXCEPTION USING ERRCODE = 'PV003', MESSAGE = format(
            'the key ''%s'' was charged for (line %s of the ledger), and its ticket ended when the functions were uninstalled; use a new key',
            key, line.number);
    END IF;
    RETURN ticket;
END $$;

-- What a request is recognised by.
CREATE OR REPLACE FUNCTION privet.digest(VARIADIC parts text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN encode(sha256(convert_to((
        SELECT string_agg(length(x.part) || ':' || x.part, ',' ORDER BY x.place) FROM unnest(parts) WITH ORDINALITY AS x (part, place)), 'UTF8')), 'hex');
END $$;

-- Charge epsilon for one row, for the neighbours of the data set's schema; the line. The caller of this must not have read a row. What it has
-- read of the schema must be that still: while this waits for the lock, the owner can add another table under the name, and of arrays that
-- were laid out for the codes of the old one, nothing holds of what was checked.
CREATE OR REPLACE FUNCTION privet.pay(
    dataset text, analyst text, schema text, epsilon text, what text, key text, request text, reservation text)
RETURNS privet.journal LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the privet.datasets;
    numerator numeric;
    denominator numeric := privet.denominator(epsilon);
BEGIN
    PERFORM privet.lock();
    IF privet.check_grant(dataset, analyst) <> schema THEN
        PERFORM privet.refuse_question('the owner has just added the data set again, with another schema; ask again');
    END IF;
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = pay.dataset;
    PERFORM FROM privet.accounts AS a WHERE a.dataset = pay.dataset AND the.neighbours = ''
        AND a.rows_per_person * CASE a.neighbours WHEN 'replace' THEN 2 ELSE 1 END <> the.factor;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PV009', MESSAGE = format('the account of data set ''%s'' is for other neighbours; nothing is charged', dataset),
            HINT = 'The owner can add the data set again, under the schema of the account.';
    END IF;
    numerator := privet.numerator(epsilon) * the.factor;
    RETURN privet.charge(
        dataset, analyst, what,
        privet.written(numerator, denominator),
        privet.written(numerator * numerator, 2 * denominator * denominator),
        key, request, reservation, '', the.neighbours, the.rows_per_person, the.fingerprint, the.person);
END $$;

-- Keep an answer that was paid for. What cannot be read whatever the rows are undoes the charge; what fails because of a row is an answer too.
CREATE OR REPLACE FUNCTION privet.keep_answer(line privet.journal, ticket uuid, answer bigint[], counted_by jsonb DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO privet.answers VALUES (line.number, privet.sealed(answer));
    INSERT INTO privet.asked VALUES (line.number, pg_current_xact_id(), ticket, counted_by);
    -- A transaction that has notified cannot be prepared (PREPARE TRANSACTION), and keep the ledger's lock for ever. Nobody can listen.
    PERFORM pg_notify(gen_random_uuid()::text, '');
    RETURN ticket;
END $$;

-- The exact numbers of a question that was paid for; none where a row could not be counted.
CREATE OR REPLACE FUNCTION privet.counted(dataset text, q privet.walks) RETURNS bigint[] LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM privet.hold_table(dataset);
    RETURN privet.exact_numbers(dataset, q);
EXCEPTION WHEN OTHERS THEN
    IF SQLSTATE ~ '^(40|42|55)' THEN  -- whatever the rows are: changed columns or owners, locks, conflicts
        RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = 'the table of the data set cannot be read now; nothing is charged';
    END IF;
    RETURN NULL;
END $$;

-- Charge, count by walks, add discrete Laplace noise, and keep the answer. Gives a ticket for it.
--
-- Sensitivity: the number of walks, times the largest weight. Neighbours: one row added or removed. Cost: epsilon, whatever the number of
-- numbers; charged is what that means for the schema's own neighbours. Nothing that the caller can see before the commit depends on the
-- answer: its record looks the same whatever it is, and a table that cannot be counted because of what it holds has an answer too.
CREATE OR REPLACE FUNCTION privet.measure(
    dataset text, analyst text, schema text, q privet.walks, epsilon text, what text, key text, request text, reservation text,
    counted_by jsonb)
RETURNS uuid LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    ticket uuid := gen_random_uuid();
    largest integer := (SELECT max(abs(w)) FROM unnest(q.weights) AS w);
    noise bigint[] := privet.noise(privet.checked_share(epsilon, cardinality(q.starts)::numeric * greatest(largest, 1)), q.total);
    line privet.journal := privet.pay(dataset, analyst, schema, epsilon, what, coalesce(nullif(key, ''), ticket::text), request, reservation);
    exact bigint[];
BEGIN
    IF EXISTS (SELECT FROM privet.asked AS a WHERE a.number = line.number) THEN  -- somebody was faster under the same key
        RETURN (SELECT a.ticket FROM privet.asked AS a WHERE a.number = line.number);
    END IF;
    exact := coalesce(privet.counted(dataset, q), array_fill(NULL::bigint, ARRAY[q.total]));
    RETURN privet.keep_answer(line, ticket, (
        SELECT array_agg(x.number + x.noise ORDER BY x.place) FROM unnest(exact, noise) WITH ORDINALITY AS x (number, noise, place)), counted_by);
END $$;

-- Count the rows that meet a condition, for each combination of the values of the attributes in "by", for epsilon once; or add up a number for
-- each value of an attribute. Under a key of the caller's own, the same question again gives the same ticket, and is charged once.
CREATE OR REPLACE FUNCTION privet.ask_partition(
    dataset text, condition jsonb, epsilon numeric, by text[], key text, attribute text, numbers integer[])
RETURNS uuid LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    analyst text := privet.caller();
    schema text := privet.check_grant(dataset, analyst);
    amount text := privet.checked_epsilon(epsilon);
    q privet.walks;
    the privet.attributes;
    request text;
    ticket uuid;
    what text;
BEGIN
    q := privet.partition(dataset, condition, by);
    IF attribute IS NOT NULL THEN
        the := privet.attribute_of(dataset, attribute);
        IF NOT privet.all_between(numbers, cardinality(the.labels), -2147483647, 2147483647) THEN
            PERFORM privet.refuse_question(format('numbers must be %s integers, one for each label of ''%s''', cardinality(the.labels), attribute));
        END IF;
        -- two more looks, which say what a row counts and not where; the second one is at the code that is always 0
        q.looks := ARRAY[the.position + 2, 1] || q.looks; q.strides := '{0,0}' || q.strides; q.weights := numbers;
        PERFORM privet.check_walks(dataset, q);
    END IF;
    request := privet.digest('ask', dataset, amount, condition::text, by::text, attribute, numbers::text);
    ticket := privet.ticket_before(analyst, key, request);
    IF ticket IS NOT NULL THEN
        RETURN ticket;
    END IF;
    SELECT concat('SQL: noisy ', CASE WHEN attribute IS NULL THEN 'count' ELSE 'sum' END, CASE WHEN by <> '{}' THEN 's' END,
        ' of ' || attribute, ' by ' || nullif(array_to_string(by, ', '), ''), ', ' || nullif(n, 0) || CASE n WHEN 1 THEN ' condition' ELSE ' conditions' END)
    INTO STRICT what FROM (SELECT CASE jsonb_typeof(condition) WHEN 'object' THEN (SELECT count(*) FROM jsonb_object_keys(condition)) ELSE 1 END AS n) AS c;
    RETURN privet.measure(dataset, analyst, schema, q, amount, what, key, request, '', (
        SELECT coalesce(jsonb_agg(jsonb_build_object('name', a.name, 'labels', a.labels) ORDER BY b.place), '[]')
        FROM unnest(by) WITH ORDINALITY AS b (name, place) JOIN privet.attributes AS a ON a.dataset = ask_partition.dataset AND a.name = b.name));
END $$;

-- How many rows meet a condition.
CREATE OR REPLACE FUNCTION privet.ask(
    dataset text, condition jsonb DEFAULT '{}', epsilon numeric DEFAULT NULL, by text[] DEFAULT '{}', key text DEFAULT '')
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN privet.ask_partition(dataset, condition, epsilon, by, key, NULL, NULL);
END $$;

-- The sum of a number for each label of an attribute, over the rows that meet a condition: for bins of ages, say, the middle of each.
CREATE OR REPLACE FUNCTION privet.ask_sum(
    dataset text, attribute text, numbers integer[], condition jsonb DEFAULT '{}', epsilon numeric DEFAULT NULL, by text[] DEFAULT '{}',
    key text DEFAULT '')
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN privet.ask_partition(dataset, condition, epsilon, by, key, coalesce(attribute, ''), numbers);
END $$;

-- The same for a program, whose question is walks already: see privet.walks, and privet/client/sql/walks.py.
CREATE OR REPLACE FUNCTION privet.ask_walks(
    dataset text, epsilon text, key text, reservation text, total integer, steps integer, starts integer[], bases integer[], widths integer[],
    looks integer[], strides integer[], tests integer[], firsts integer[], cells integer[], branches integer[], weights integer[])
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    analyst text := privet.caller();
    amount text := privet.checked_amount(epsilon);
    q privet.walks := ROW(total, steps, starts, bases, widths, looks, strides, tests, firsts, cells, branches, weights);
    request text := privet.digest('walks', dataset, amount, reservation, q::text);
    ticket uuid := privet.ticket_before(analyst, key, request);
    schema text;
BEGIN
    IF ticket IS NOT NULL THEN
        RETURN ticket;
    END IF;
    schema := privet.check_grant(dataset, analyst);
    PERFORM privet.check_walks(dataset, q);
    RETURN privet.measure(
        dataset, analyst, schema, q, amount, format('SQL: %s noisy numbers of %s partitions', total, cardinality(starts)), key, request,
        coalesce(reservation, ''), NULL);
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
    SELECT k.transaction, a.body INTO transaction, answer
    FROM privet.asked AS k JOIN privet.answers AS a USING (number) JOIN privet.journal AS j USING (number)
    WHERE k.ticket = paid.ticket AND j.analyst = caller;
    SELECT j.* INTO line FROM privet.asked AS k JOIN privet.journal AS j USING (number) WHERE k.ticket = paid.ticket AND j.analyst = caller;
    IF answer IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'you have no such ticket, or its transaction has not committed';
    ELSIF transaction = pg_current_xact_id_if_assigned() THEN  -- a rollback could still take the charge back
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'the answer is given in a later transaction; COMMIT first';
    END IF;
    PERFORM privet.flush();
END $$;

-- The numbers of an answer, in turn.
CREATE OR REPLACE FUNCTION privet.numbers(ticket uuid) RETURNS bigint[] LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    numbers bigint[] := privet.unsealed((privet.paid(ticket)).answer);
BEGIN
    IF numbers[1] IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'the table could not be counted; the charge stands. Its owner can find out why';
    END IF;
    RETURN numbers;
END $$;

-- The one number of an answer.
CREATE OR REPLACE FUNCTION privet.answer(ticket uuid) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    numbers bigint[] := privet.numbers(ticket);
BEGIN
    IF cardinality(numbers) > 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'this answer has many numbers: SELECT * FROM privet.counts(ticket) has them with their labels';
    END IF;
    RETURN numbers[1];
END $$;

-- The numbers of an answer to privet.ask, with the labels of the attributes that it counted by.
CREATE OR REPLACE FUNCTION privet.counts(ticket uuid) RETURNS TABLE (cell jsonb, noisy_count bigint) LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    numbers bigint[] := privet.numbers(ticket);
    counted_by jsonb := (SELECT a.counted_by FROM privet.asked AS a WHERE a.ticket = counts.ticket);
    cells jsonb[] := '{"{}"}';
    attribute jsonb;
BEGIN
    IF counted_by IS NULL AND cardinality(numbers) > 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PV007', MESSAGE = 'this answer was asked for by a program, which knows what its numbers are: privet.numbers(ticket) has them';
    END IF;
    FOR attribute IN SELECT a.value FROM jsonb_array_elements(counted_by) WITH ORDINALITY AS a (value, place) ORDER BY a.place LOOP
        cells := ARRAY(
            SELECT c.cell || jsonb_build_object(attribute ->> 'name', l.label)
            FROM unnest(cells) WITH ORDINALITY AS c (cell, place), jsonb_array_elements_text(attribute -> 'labels') WITH ORDINALITY AS l (label, code)
            ORDER BY c.place, l.code);
    END LOOP;
    RETURN QUERY SELECT x.cell, x.number FROM unnest(cells, numbers) WITH ORDINALITY AS x (cell, number, place) ORDER BY x.place;
END $$;

-- Proves the line of the answer (see privet/accounting/ledger/journal.py).
CREATE OR REPLACE FUNCTION privet.receipt(ticket uuid) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN (
        SELECT format('privet-receipt-1.%s.%s.%s.%s', l.identity, (p.line).number, (p.line).hash, encode(sha256(p.answer), 'hex'))
        FROM privet.ledger AS l, privet.paid(ticket) AS p);
END $$;

-- The one way to charge. The rules of reservations are those of privet/accounting/ledger/reservations.py. Refusals have an SQLSTATE of class PV, and
-- nothing is charged then:
--   PV001 the budget does not allow it (DETAIL: asked, left, unit and account as JSON)
--   PV002 the ledger does not know the account, or is damaged
--   PV003 the key belongs to another request
--   PV004 the data set's budget is pure, and the cost is not
--   PV008 there is no such open reservation
--   PV009 the account is for other neighbours (DETAIL: dataset, recorded and stated as JSON)

-- Wait until no other transaction writes. Who writes changes the locked row, so that a REPEATABLE READ or SERIALIZABLE transaction whose
-- snapshot is older fails with a serialization error instead of reading old totals.
CREATE OR REPLACE FUNCTION privet.lock() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM privet.ledger FOR UPDATE;
END $$;

-- The time in a line, as Python writes it.
CREATE OR REPLACE FUNCTION privet.now() RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"');
END $$;

-- The latest time of any line; clocks may have gone back since.
CREATE OR REPLACE FUNCTION privet.latest() RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN coalesce((SELECT max(j.time COLLATE "C") FROM privet.journal AS j), '');
END $$;

-- A reservation that was last used then, or earlier, is idle: after 7 days (IDLE in privet/accounting/ledger/reservations.py).
CREATE OR REPLACE FUNCTION privet.idle_since() RETURNS text LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN to_char(
        greatest(privet.now() COLLATE "C", privet.latest())::timestamptz AT TIME ZONE 'UTC' - interval '168 hours',
        'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"');
END $$;

-- Append a line, chained to the one before as in privet/accounting/ledger/journal.py. The caller holds the lock.
CREATE OR REPLACE FUNCTION privet.append(
    kind text, dataset text, analyst text, what text, epsilon text, rho text, key text, request text, more text DEFAULT '')
RETURNS privet.journal LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
    line.time := privet.now();
    line.kind := kind; line.dataset := dataset; line.analyst := analyst; line.what := what;
    line.epsilon := epsilon; line.rho := rho; line.key := key; line.request := request; line.more := more;
    SELECT string_agg(octet_length(convert_to(field, 'UTF8')) || ':' || field || ',', '' ORDER BY position) INTO STRICT written
    FROM unnest(ARRAY[line.number::text, line.time, kind, dataset, analyst, what, epsilon, rho, key, request] || nullif(more, ''))
        WITH ORDINALITY AS fields (field, position)
    WHERE field IS NOT NULL;
    line.hash := encode(sha256(convert_to(before || written, 'UTF8')), 'hex');
    INSERT INTO privet.journal VALUES (line.*);
    RETURN line;
END $$;

-- What open reservations can still charge, of one analyst or of all ('').
CREATE OR REPLACE FUNCTION privet.held(dataset text, analyst text) RETURNS text LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    total text := '0';
    one record;
BEGIN
    FOR one IN
        SELECT r.reserved, r.charged FROM privet.reservations AS r
        WHERE r.dataset = held.dataset AND r.state = 'open' AND (held.analyst = '' OR r.analyst = held.analyst)
        ORDER BY r.number
    LOOP
        total := privet.tidy(privet.plus(total, privet.less(one.reserved, one.charged)));
    END LOOP;
    RETURN total;
END $$;

-- Close the open reservations that are idle; their lines. The caller holds the lock.
CREATE OR REPLACE FUNCTION privet.expire() RETURNS bigint[] LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    since text;
    expired bigint[] := '{}';
    one record;
    line privet.journal;
BEGIN
    PERFORM FROM privet.reservations AS r WHERE r.state = 'open' LIMIT 1;
    IF NOT FOUND THEN  -- mostly
        RETURN expired;
    END IF;
    since := privet.idle_since();
    FOR one IN
        SELECT r.number, r.dataset, r.analyst FROM privet.reservations AS r WHERE r.state = 'open' AND r.touched <= since ORDER BY r.number
    LOOP
        line := privet.append(
            'close', one.dataset, one.analyst, format('reservation of line %s: expired', one.number), '', '', '', '',
            format('{"reservation":%s,"why":"expired"}', one.number));
        UPDATE privet.reservations AS r SET state = 'expired', closed = line.number WHERE r.number = one.number;
        expired := expired || one.number;
    END LOOP;
    RETURN expired;
END $$;

-- Add a cost to an account, if its cap allows that exactly, next to what is held. An empty epsilon: the cost has no pure guarantee.
CREATE OR REPLACE FUNCTION privet.spend(dataset text, analyst text, epsilon text, rho text, held text)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
        asked := privet.amount_in(epsilon, rho, cap.unit, dataset);
        remaining := coalesce(
            privet.less(cap.amount, privet.plus(CASE cap.unit WHEN 'epsilon' THEN spent.epsilon ELSE spent.rho END, held)), '0');
        IF NOT privet.at_most(asked, remaining) THEN
            PERFORM privet.refuse(asked, remaining, cap.unit, account);
        END IF;
    END IF;
    spent.epsilon := privet.tidy(privet.plus(spent.epsilon, nullif(epsilon, '')));
    spent.rho := privet.tidy(privet.plus(spent.rho, rho));
    INSERT INTO privet.spent AS s VALUES (spent.*)
        ON CONFLICT ON CONSTRAINT one_total DO UPDATE SET epsilon = excluded.epsilon, rho = excluded.rho;
END $$;

CREATE OR REPLACE FUNCTION privet.amount_in(epsilon text, rho text, unit text, dataset text)
RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF unit = 'epsilon' AND epsilon = '' THEN
        RAISE EXCEPTION USING ERRCODE = 'PV004', MESSAGE = format(
            'data set ''%s'' has a pure epsilon budget, and this mechanism only gives a rho (zCDP) guarantee; '
            'use a pure mechanism, or ask the owner for a budget in rho', dataset);
    END IF;
    RETURN CASE unit WHEN 'epsilon' THEN epsilon ELSE rho END;
END $$;

CREATE OR REPLACE FUNCTION privet.refuse(asked text, remaining text, unit text, account text)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'PV001',
        MESSAGE = format('the budget of %s does not allow this: asked %s %s, left %2$s %4$s', account, unit, asked, remaining),
        DETAIL = json_build_object('asked', asked, 'left', remaining, 'unit', unit, 'account', account);
END $$;

-- Note who the neighbours of an account are, if it does not know yet: whether a line has to state them. Refused where they are others.
CREATE OR REPLACE FUNCTION privet.relate(dataset text, neighbours text, rows_per_person bigint, person text)
RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known privet.accounts;
BEGIN
    IF neighbours = '' THEN
        RETURN false;
    END IF;
    SELECT a.* INTO known FROM privet.accounts AS a WHERE a.dataset = relate.dataset;
    IF NOT FOUND THEN
        INSERT INTO privet.accounts VALUES (relate.dataset, relate.neighbours, relate.rows_per_person, relate.person);
        RETURN true;
    ELSIF (known.neighbours, known.rows_per_person, coalesce(known.person, person)) <> (neighbours, rows_per_person, person) THEN
        RAISE EXCEPTION USING ERRCODE = 'PV009',
            MESSAGE = format('the account of data set ''%s'' is for other neighbours; nothing is charged', dataset),
            HINT = 'Ask under a schema with the neighbours, rows_per_person and person of the account.',
            DETAIL = json_build_object(
                'dataset', dataset,
                'recorded', json_build_array(known.neighbours, known.rows_per_person, known.person),
                'stated', json_build_array(neighbours, rows_per_person, person));
    ELSIF known.person IS NULL THEN
        UPDATE privet.accounts AS a SET person = relate.person WHERE a.dataset = relate.dataset;
        RETURN true;
    END IF;
    RETURN false;
END $$;

-- The line of the analyst's open reservation of this key, if the cost fits into what is left of it. What is given of the schema's
-- fingerprint, the neighbours ('': not given, and then nor are the rows per person and the person) must be that of the reservation.
CREATE OR REPLACE FUNCTION privet.reserved_for(
    dataset text, analyst text, epsilon text, rho text, key text, neighbours text, rows_per_person bigint, schema text,
    person text)
RETURNS bigint LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the record;
    asked text;
    remaining text;
    other text;
BEGIN
    SELECT r.number, r.dataset, r.unit, r.reserved, r.charged, r.state,
        j.more::jsonb ->> 'schema' AS schema, j.more::jsonb ->> 'neighbours' AS neighbours,
        (j.more::jsonb ->> 'rows_per_person')::bigint AS rows_per_person, j.more::jsonb ->> 'person' AS person
    INTO the
    FROM privet.journal AS j JOIN privet.reservations AS r USING (number)
    WHERE j.analyst = reserved_for.analyst AND j.key = reserved_for.key AND j.key <> '';
    IF the.number IS NULL OR the.dataset <> dataset THEN
        RAISE EXCEPTION USING ERRCODE = 'PV008', MESSAGE = format(
            'analyst ''%s'' has no reservation ''%s'' on data set ''%s''; nothing is charged', analyst, key, dataset);
    ELSIF the.state <> 'open' THEN
        RAISE EXCEPTION USING ERRCODE = 'PV008', MESSAGE = format(
            'the reservation ''%s'' of analyst ''%s'' is closed (%s); nothing is charged. Reserve again under a new key',
            key, analyst, the.state);
    END IF;
    other := CASE
        WHEN schema <> '' AND schema <> the.schema THEN format('schema %s, not %s', the.schema, schema)
        WHEN neighbours <> '' AND neighbours <> the.neighbours THEN format('neighbours %s, not %s', the.neighbours, neighbours)
        WHEN rows_per_person <> 0 AND rows_per_person <> the.rows_per_person
        THEN format('rows per person %s, not %s', the.rows_per_person, rows_per_person)
        WHEN neighbours <> '' AND person <> the.person THEN format('person %s, not %s', the.person, person) END;
    IF other IS NOT NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV008', MESSAGE = format(
            'the reservation ''%s'' of analyst ''%s'' is for %s; nothing is charged', key, analyst, other);
    END IF;
    asked := privet.amount_in(epsilon, rho, the.unit, dataset);
    remaining := privet.less(the.reserved, the.charged);
    IF NOT privet.at_most(asked, remaining) THEN
        PERFORM privet.refuse(asked, remaining, the.unit, format('reservation ''%s'' of analyst ''%s''', key, analyst));
    END IF;
    RETURN the.number;
END $$;

-- "reservation" is the key of the analyst's reservation to charge, or ''. See privet/accounting/ledger/base.py for the others.
CREATE OR REPLACE FUNCTION privet.charge(
    dataset text, analyst text, what text, epsilon text, rho text, key text, request text,
    reservation text DEFAULT '', asked text DEFAULT '', neighbours text DEFAULT '', rows_per_person bigint DEFAULT 0,
    schema text DEFAULT '', person text DEFAULT '')
RETURNS privet.journal LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    line privet.journal;
    within bigint;
    stated boolean;
    particulars text;
BEGIN
    IF NOT (epsilon ~ '^([0-9]+(/[0-9]+)?)?$' AND rho ~ '^[0-9]+(/[0-9]+)?$' AND analyst <> '') THEN
        RAISE EXCEPTION USING ERRCODE = 'PV002', MESSAGE = 'a charge needs an analyst and written fractions';
    END IF;
    PERFORM privet.lock();
    PERFORM privet.expire();
    IF key <> '' THEN
        SELECT j.* INTO line FROM privet.journal AS j WHERE j.analyst = charge.analyst AND j.key = charge.key AND j.key <> '';
        IF line.request <> request OR line.kind <> 'charge' THEN
            RAISE EXCEPTION USING ERRCODE = 'PV003',
                MESSAGE = format('the key ''%s'' belongs to another request (line %s of the ledger); use a new key', key, line.number);
        ELSIF line.number IS NOT NULL THEN
            RETURN line;
        END IF;
    END IF;
    IF reservation <> '' THEN
        within := privet.reserved_for(dataset, analyst, epsilon, rho, reservation, neighbours, rows_per_person, schema, person);
    END IF;
    stated := privet.relate(dataset, neighbours, rows_per_person, person);
    -- within a reservation, only what was spent counts: caps may have been lowered since
    PERFORM privet.spend(dataset, '', epsilon, rho, CASE WHEN within IS NULL THEN privet.held(dataset, '') ELSE '0' END);
    PERFORM privet.spend(dataset, analyst, epsilon, rho, CASE WHEN within IS NULL THEN privet.held(dataset, analyst) ELSE '0' END);
    particulars := concat_ws(
        ',',
        CASE WHEN asked <> '' THEN '"asked":' || to_json(asked)::text END,
        CASE WHEN stated THEN '"neighbours":' || to_json(neighbours)::text || ',"person":' || to_json(person)::text END,
        '"reservation":' || within::text,
        CASE WHEN stated THEN '"rows_per_person":' || rows_per_person::text END);
    line := privet.append(
        'charge', dataset, analyst, what, epsilon, rho, key, request, CASE particulars WHEN '' THEN '' ELSE '{' || particulars || '}' END);
    IF within IS NOT NULL THEN
        UPDATE privet.reservations AS r SET
            charged = privet.tidy(privet.plus(r.charged, CASE r.unit WHEN 'epsilon' THEN charge.epsilon ELSE charge.rho END)),
            touched = privet.latest()
        WHERE r.number = within;
    END IF;
    RETURN line;
END $$;

REVOKE ALL ON SCHEMA privet FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA privet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privet FROM PUBLIC;

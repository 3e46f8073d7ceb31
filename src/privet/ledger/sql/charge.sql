-- The one way to charge. Refusals have an SQLSTATE of class PV, and nothing is charged then:
--   PV001 the budget does not allow it (DETAIL: asked, left, unit and account as JSON)
--   PV002 the ledger does not know the account, or is damaged
--   PV003 the key belongs to another request
--   PV004 the data set's budget is pure, and the cost is not

-- Wait until no other transaction writes. Who writes changes the locked row, so that a REPEATABLE READ or SERIALIZABLE transaction whose
-- snapshot is older fails with a serialization error instead of reading old totals.
CREATE FUNCTION privet.lock() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM FROM privet.ledger FOR UPDATE;
END $$;

-- Append a line, chained to the one before as in privet/ledger/journal.py. The caller holds the lock.
CREATE FUNCTION privet.append(kind text, dataset text, analyst text, what text, epsilon text, rho text, key text, request text)
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

-- Add a cost to an account, if its cap allows that exactly. An empty epsilon: the cost has no pure guarantee.
CREATE FUNCTION privet.spend(dataset text, analyst text, epsilon text, rho text)
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
END $$;

CREATE FUNCTION privet.charge(dataset text, analyst text, what text, epsilon text, rho text, key text, request text)
RETURNS privet.journal LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
END $$;

REVOKE ALL ON SCHEMA privet FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA privet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privet FROM PUBLIC;

-- Set an amount aside for a fit, and end that: the rules of privet/accounting/ledger/reservations.py, for the caller's own account.

CREATE OR REPLACE FUNCTION privet.reserve(dataset text, epsilon text, rho text, what text, key text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    caller text := privet.caller();
    the privet.datasets;
    cap privet.caps;
    unit text;
    amount text;
    request text;
    before privet.journal;
    more text;
    line privet.journal;
    spent privet.spent;
BEGIN
    IF coalesce(key, '') = '' OR octet_length(key) > 500 OR what IS NULL OR octet_length(what) > 2000 OR what ~ '[[:cntrl:]]' THEN
        PERFORM privet.refuse_question('a reservation needs a key of at most 500 bytes, and one line that says what it is for');
    END IF;
    PERFORM privet.lock();
    PERFORM privet.check_grant(dataset, caller);
    PERFORM privet.expire();
    SELECT d.* INTO STRICT the FROM privet.datasets AS d WHERE d.dataset = reserve.dataset;
    SELECT c.unit INTO unit FROM privet.caps AS c WHERE c.dataset = reserve.dataset AND c.analyst = '';
    IF unit IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'PV002', MESSAGE = format('the ledger has no budget for data set ''%s''; set one first', dataset);
    ELSIF the.schema = '' THEN
        PERFORM privet.refuse_question('the data set was added by an older version; its owner can add it again, for programs to ask');
    END IF;
    -- what is reserved is, like what is charged, for the neighbours of the schema
    amount := privet.checked_amount(CASE unit WHEN 'epsilon' THEN epsilon ELSE rho END);
    amount := privet.written(privet.numerator(amount) * the.factor * CASE unit WHEN 'epsilon' THEN 1 ELSE the.factor END, privet.denominator(amount));
    request := encode(sha256(convert_to(what || chr(10) || amount, 'UTF8')), 'hex');
    SELECT j.* INTO before FROM privet.journal AS j WHERE j.analyst = caller AND j.key = reserve.key AND j.key <> '';
    IF FOUND THEN
        IF before.kind = 'reserve' AND before.dataset = dataset AND before.request = request THEN
            RETURN;
        END IF;
        RAISE EXCEPTION USING ERRCODE = 'PV003',
            MESSAGE = format('the key ''%s'' belongs to another request (line %s of the ledger); use a new key', key, before.number);
    END IF;
    PERFORM privet.relate(dataset, the.neighbours, the.rows_per_person, the.person);
    IF (SELECT count(*) >= 16 FROM privet.reservations AS r WHERE r.dataset = reserve.dataset AND r.analyst = caller AND r.state = 'open') THEN
        RAISE EXCEPTION USING ERRCODE = 'PV008', MESSAGE = 'you have 16 open reservations on this data set, which is the limit; '
            'finish an interrupted fit with the command that began it, or end one with privet.close_reservation';
    END IF;
    FOR cap IN SELECT c.* FROM privet.caps AS c WHERE c.dataset = reserve.dataset AND c.analyst IN ('', caller) ORDER BY c.analyst DESC LOOP
        SELECT s.* INTO spent FROM privet.spent AS s WHERE s.dataset = cap.dataset AND s.analyst = cap.analyst;
        IF NOT privet.at_most(
            privet.plus(amount, privet.plus(coalesce(CASE unit WHEN 'epsilon' THEN spent.epsilon ELSE spent.rho END, '0'), privet.held(dataset, cap.analyst))),
            cap.amount) THEN
            PERFORM privet.refuse(
                amount,
                coalesce(privet.less(cap.amount, privet.plus(
                    coalesce(CASE unit WHEN 'epsilon' THEN spent.epsilon ELSE spent.rho END, '0'), privet.held(dataset, cap.analyst))), '0'),
                unit, CASE WHEN cap.analyst = '' THEN '' ELSE format('analyst ''%s'' on ', cap.analyst) END || format('data set ''%s''', dataset));
        END IF;
    END LOOP;
    more := format(
        '{"neighbours":%s,"person":%s,"rows_per_person":%s,"schema":%s}',
        to_json(the.neighbours), to_json(the.person), the.rows_per_person, to_json(the.fingerprint));
    line := privet.append(
        'reserve', dataset, caller, what, CASE unit WHEN 'epsilon' THEN amount ELSE '' END, CASE unit WHEN 'rho' THEN amount ELSE '' END, key, request, more);
    INSERT INTO privet.reservations VALUES (line.number, dataset, caller, unit, amount, '0', privet.latest(), 'open', 0);
END $$;

-- "claimed" is the digest of the model that the caller says was paid for, or ''.
CREATE OR REPLACE FUNCTION privet.close_reservation(key text, why text DEFAULT 'done', claimed text DEFAULT '')
RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    caller text := privet.caller();
    the privet.reservations;
    line privet.journal;
BEGIN
    IF why NOT IN ('done', 'cancelled') OR claimed !~ '^[0-9A-Za-z:-]{0,200}$' OR why IS NULL OR claimed IS NULL THEN
        PERFORM privet.refuse_question('why must be done or cancelled, and claimed a digest');
    END IF;
    PERFORM privet.lock();
    SELECT r.* INTO the FROM privet.journal AS j JOIN privet.reservations AS r USING (number)
    WHERE j.analyst = caller AND j.key = close_reservation.key AND j.key <> '';
    IF NOT FOUND OR the.state <> 'open' AND the.state <> why THEN
        RAISE EXCEPTION USING ERRCODE = 'PV008', MESSAGE = format('you have no open reservation ''%s''', key);
    ELSIF the.state = 'open' THEN
        line := privet.append(
            'close', the.dataset, caller, format('reservation of line %s: %s', the.number, why), '', '', '', '',
            CASE claimed WHEN '' THEN '{' ELSE '{"claimed_model":' || to_json(claimed) || ',' END
            || format('"reservation":%s,"why":%s}', the.number, to_json(why)));
        UPDATE privet.reservations AS r SET state = why, closed = line.number WHERE r.number = the.number;
    END IF;
END $$;

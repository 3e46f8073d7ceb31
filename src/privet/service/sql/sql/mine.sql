-- What an analyst sees of their own, like views: SELECT * FROM privet.my_history(). Views would be rights on relations of the ledger, and
-- nobody has any; rows of others never get out of these.

-- The data sets that are granted to the caller, and what is public about them. A schema is '' where an older version added the data set.
CREATE OR REPLACE FUNCTION privet.my_datasets() RETURNS TABLE (
    dataset text, expires timestamptz, unit text, neighbours text, rows_per_person bigint, account text, fingerprint text, schema text)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    caller text := privet.caller();
BEGIN
    RETURN QUERY
    SELECT d.dataset, g.expires, c.unit, d.neighbours, d.rows_per_person,
        left(encode(sha256(convert_to(l.identity || chr(10) || d.dataset, 'UTF8')), 'hex'), 32), d.fingerprint, d.schema
    FROM privet.ledger AS l, privet.grants AS g JOIN privet.datasets AS d USING (dataset)
    LEFT JOIN privet.caps AS c ON c.dataset = d.dataset AND c.analyst = ''
    WHERE g.analyst = caller AND g.expires > clock_timestamp() ORDER BY d.dataset;
END $$;

-- What conditions can name: attributes and the target, which comes last, with their labels in order.
CREATE OR REPLACE FUNCTION privet.my_labels(dataset text) RETURNS TABLE (attribute text, labels text[], edges text[])
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM privet.check_grant(dataset, privet.caller());
    RETURN QUERY SELECT a.name, a.labels, a.edges FROM privet.attributes AS a WHERE a.dataset = my_labels.dataset ORDER BY a.position;
END $$;

-- The charges of the caller, whoever wrote them down: this, or the service. A ticket is there for what was asked here.
CREATE OR REPLACE FUNCTION privet.my_history() RETURNS TABLE (
    number bigint, dataset text, "time" timestamptz, what text, epsilon text, rho text, key text, ticket uuid, answered boolean)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    caller text := privet.caller();
BEGIN
    RETURN QUERY
    SELECT j.number, j.dataset, j.time::timestamptz, j.what, j.epsilon, j.rho, j.key, a.ticket, k.number IS NOT NULL
    FROM privet.journal AS j LEFT JOIN privet.asked AS a USING (number) LEFT JOIN privet.answers AS k USING (number)
    WHERE j.analyst = caller AND j.kind = 'charge' ORDER BY j.number;
END $$;

-- The reservations of the caller.
CREATE OR REPLACE FUNCTION privet.my_reservations() RETURNS TABLE (
    number bigint, dataset text, what text, key text, unit text, reserved text, charged text, state text)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    caller text := privet.caller();
BEGIN
    RETURN QUERY
    SELECT j.number, j.dataset, j.what, j.key, r.unit, r.reserved, r.charged, r.state
    FROM privet.journal AS j JOIN privet.reservations AS r USING (number) WHERE j.analyst = caller ORDER BY j.number;
END $$;

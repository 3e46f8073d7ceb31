-- What the caller can still spend, by each of the caps, next to what open reservations hold; rounded down, and exactly.
CREATE OR REPLACE FUNCTION privet.budget(dataset text) RETURNS TABLE (account text, unit text, remaining numeric, exactly text)
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    caller text := privet.caller();
BEGIN
    PERFORM privet.check_grant(dataset, caller);
    RETURN QUERY
    SELECT c.account, c.unit, trim_scale(div(privet.numerator(c.exact) * 1e20, privet.denominator(c.exact)) * 1e-20), c.exact
    FROM (
        SELECT CASE WHEN k.analyst = '' THEN 'data set' ELSE 'analyst' END AS account, k.unit AS unit, coalesce(privet.less(k.amount, privet.plus(
            CASE WHEN s.rho IS NULL THEN '0' WHEN k.unit = 'epsilon' THEN s.epsilon ELSE s.rho END,
            privet.held(k.dataset, k.analyst))), '0') AS exact
        FROM privet.caps AS k LEFT JOIN privet.spent AS s ON s.dataset = k.dataset AND s.analyst = k.analyst
        WHERE k.dataset = budget.dataset AND k.analyst IN ('', caller)
        ORDER BY k.analyst
    ) AS c;
END $$;

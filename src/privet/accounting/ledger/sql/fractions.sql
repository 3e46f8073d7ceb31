-- Exact amounts. A written fraction is text as Python writes one, '1/3' or '2', never negative. Bodies are parsed when they are made,
-- so that nobody's search_path matters.

CREATE FUNCTION privet.numerator(amount text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN split_part(amount, '/', 1)::numeric;

CREATE FUNCTION privet.denominator(amount text) RETURNS numeric LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN coalesce(nullif(split_part(amount, '/', 2), ''), '1')::numeric;

CREATE FUNCTION privet.written(numerator numeric, denominator numeric) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT div(numerator, common)::text || CASE WHEN denominator = common THEN '' ELSE '/' || div(denominator, common)::text END
    FROM (SELECT gcd(numerator, denominator) AS common) AS c
);

CREATE FUNCTION privet.plus(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN privet.written(
    privet.numerator(a) * privet.denominator(b) + privet.numerator(b) * privet.denominator(a),
    privet.denominator(a) * privet.denominator(b)
);

CREATE FUNCTION privet.at_most(a text, b text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN privet.numerator(a) * privet.denominator(b) <= privet.numerator(b) * privet.denominator(a);

-- a - b, or nothing where b is more.
CREATE FUNCTION privet.less(a text, b text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE WHEN privet.at_most(a, b) THEN '0' ELSE privet.written(
    privet.numerator(a) * privet.denominator(b) - privet.numerator(b) * privet.denominator(a),
    privet.denominator(a) * privet.denominator(b)
) END;

-- Beyond 300 digits rounded up, so that odd fractions of one analyst cannot choke the account.
CREATE FUNCTION privet.tidy(amount text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (
    SELECT CASE WHEN privet.denominator(amount) <= digits THEN amount
           ELSE privet.written(div(privet.numerator(amount) * digits + privet.denominator(amount) - 1, privet.denominator(amount)), digits) END
    FROM (SELECT ('1' || repeat('0', 300))::numeric AS digits) AS d
);

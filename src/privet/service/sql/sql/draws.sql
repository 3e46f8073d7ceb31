-- Many draws at once, exact, and with the same work whatever is drawn: words are looked up in tables of thresholds.
--
-- With q = exp(-ratio), a geometric number G, P(G >= k) = q^k, has independent digits to the base 256: digit i is d with probability
-- proportional to q^(256^i d). Discrete Laplace noise is the difference of two such numbers. A word of 48 bits that lies beside a threshold is
-- decided by further bits against further digits, so that the distributions are exact.

-- 104 random bits: bytes 6 to 8 of a random UUID hold its version and variant, the others are random.
CREATE OR REPLACE FUNCTION privet.random_bits() RETURNS numeric LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    hex text := encode(uuid_send(gen_random_uuid()), 'hex');
BEGIN
    RETURN ('x' || substr(hex, 1, 12))::bit(48)::bigint * 72057594037927936::numeric + ('x' || substr(hex, 19, 14))::bit(56)::bigint;
END $$;

-- About 2^bits * exp(-ratio * d), for d = 1 .. 256; each less than 1 off. Fixed point: a Taylor series that alternates, and squarings. They
-- begin below 2^-13, and errors shrink where the power is less than 1/2, so that 64 more bits are enough for every ratio.
CREATE OR REPLACE FUNCTION privet.powers(ratio text, bits integer) RETURNS numeric[] LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    halvings integer := 20;
    one CONSTANT numeric := power(2::numeric, bits + 64);  -- 64 more bits than are given
    s numeric := privet.numerator(ratio);
    t numeric := privet.denominator(ratio) * 1048576;  -- 2^halvings
    term numeric := one;
    q numeric := one;
    sign integer := -1;
    k integer := 1;
    p numeric;
    listed numeric[] := '{}';
BEGIN
    WHILE s * 8192 > t LOOP
        t := t * 2;
        halvings := halvings + 1;
    END LOOP;
    WHILE term > 0 LOOP
        term := div(term * s, t * k);
        q := q + sign * term;
        sign := -sign;
        k := k + 1;
    END LOOP;
    FOR i IN 1 .. halvings LOOP
        q := div(q * q, one);
    END LOOP;
    p := one;
    FOR d IN 1 .. 256 LOOP
        p := div(p * q, one);
        listed := listed || div(p, 18446744073709551616);
    END LOOP;
    RETURN listed;
END $$;

-- About 2^bits * P(digit < d), d = 1, 2, ..., for digits of this ratio; each less than 2 off. All digits but the last are below 256; what the
-- last one leaves is the probability of 256 or more.
CREATE OR REPLACE FUNCTION privet.digit_law(ratio text, last boolean, bits integer) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    one CONSTANT numeric := power(2::numeric, bits + 96);  -- also where 256 powers are about the same
    powers numeric[] := privet.powers(ratio, bits + 96);
BEGIN
    IF last THEN
        RETURN (SELECT array_agg(div(one - p, 79228162514264337593543950336) ORDER BY d) FROM unnest(powers) WITH ORDINALITY AS x (p, d));
    END IF;
    RETURN (
        SELECT array_agg(div((one - p) * power(2::numeric, bits), one - powers[256]) ORDER BY d)
        FROM unnest(powers) WITH ORDINALITY AS x (p, d) WHERE d < 256);
END $$;

-- The digit of a word of so many bits that lies beside a threshold: with further bits, until it lies beside none.
CREATE OR REPLACE FUNCTION privet.digit_exactly(word numeric, bits integer, ratio text, last boolean) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    law numeric[];
    digit bigint;
BEGIN
    LOOP
        law := privet.digit_law(ratio, last, bits);
        SELECT count(*) INTO STRICT digit FROM unnest(law) AS x (threshold) WHERE threshold <= word;
        EXIT WHEN NOT EXISTS (SELECT FROM unnest(law) AS x (threshold) WHERE abs(threshold - word) <= 2);
        word := word * 20282409603651670423947251286016 + privet.random_bits();
        bits := bits + 104;
    END LOOP;
    IF digit = 256 THEN  -- a geometric number forgets how large it is already
        digit := digit + privet.digit_exactly(0, 0, ratio, last);
    END IF;
    RETURN digit;
END $$;

-- n draws of discrete Laplace noise of scale 1/epsilon, epsilon a written fraction of at least 2^-40.
CREATE OR REPLACE FUNCTION privet.many_laplace(epsilon text, n integer) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off AS $$
DECLARE
    ratios text[] := '{}';
    ratio text := epsilon;
    laws bigint[];
    drawn bigint[];
    hexes text := '';
    words text := '';
    digits text := '';
    total text := '0';
BEGIN
    LOOP
        ratios := ratios || ratio;
        ratio := privet.written(privet.numerator(ratio) * 256, privet.denominator(ratio));
        EXIT WHEN privet.at_most('128', ratio);
    END LOOP;
    FOR i IN 1 .. cardinality(ratios) LOOP  -- a law of 256 thresholds for each digit; text of this function's own only
        laws := laws || (SELECT array_agg(least(x, 281474976710655)::bigint ORDER BY d)
            FROM unnest(privet.digit_law(ratios[i], i = cardinality(ratios), 48) || 281474976710656) WITH ORDINALITY AS l (x, d) WHERE d <= 256);
        hexes := hexes || format(', encode(uuid_send(gen_random_uuid()), ''hex'') AS h%s', i);
        FOR j IN 0 .. 1 LOOP
            words := words || format(', (''x'' || substr(h%s, %s, 12))::bit(48)::bigint AS w%1$s_%3$s', i, CASE j WHEN 0 THEN 1 ELSE 19 END, j);
            digits := digits || format(', w%s_%s, width_bucket(w%1$s_%2$s, ($2)[%s:%s]) AS d%1$s_%2$s', i, j, 256 * i - 255, 256 * i);
            total := total || format(
                ' %s %s * CASE WHEN abs(($2)[%s + greatest(d%s_%s, 1)] - w%4$s_%5$s) <= 2 OR abs(($2)[%3$s + least(d%4$s_%5$s + 1, 256)] - w%4$s_%5$s) <= 2 '
                'THEN privet.digit_exactly(w%4$s_%5$s, 48, ($3)[%4$s], %6$L) ELSE d%4$s_%5$s END',
                CASE j WHEN 0 THEN '+' ELSE '-' END, power(256::numeric, i - 1)::bigint, 256 * (i - 1), i, j, i = cardinality(ratios));
        END LOOP;
    END LOOP;
    EXECUTE 'SELECT coalesce(array_agg(' || total || '), ''{}'') FROM (SELECT ' || substr(digits, 3) || ' FROM (SELECT ' || substr(words, 3)
        || ' FROM (SELECT ' || substr(hexes, 3) || ' FROM generate_series(1, $1) OFFSET 0) AS h OFFSET 0) AS w OFFSET 0) AS d'
    INTO STRICT drawn USING n, laws, ratios;
    RETURN drawn;
END $$;

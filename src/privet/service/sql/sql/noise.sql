-- Discrete Laplace noise, exact: in integers, from the server's cryptographic source.
-- Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy" (2020), algorithms 1 and 2.

-- 104 random bits: bytes 6 to 8 of a random UUID hold its version and variant, the others are random.
CREATE FUNCTION privet.random_bits() RETURNS numeric LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    hex text := encode(uuid_send(gen_random_uuid()), 'hex');
BEGIN
    RETURN ('x' || substr(hex, 1, 12))::bit(48)::bigint * 72057594037927936::numeric + ('x' || substr(hex, 19, 14))::bit(56)::bigint;
END $$;

-- A uniform integer from 0 to n - 1.
CREATE FUNCTION privet.uniform_below(n numeric) RETURNS numeric LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

-- True with probability exp(-numerator/denominator), for a ratio of at most one.
CREATE FUNCTION privet.exp_coin(numerator numeric, denominator numeric)
RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    k bigint := 1;
BEGIN
    WHILE privet.uniform_below(denominator * k) < numerator LOOP
        k := k + 1;
    END LOOP;
    RETURN k % 2 = 1;
END $$;

-- k with probability proportional to exp(-|k| epsilon), epsilon a written fraction.
CREATE FUNCTION privet.discrete_laplace(epsilon text) RETURNS numeric LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

-- The same, where neither its time nor the server's statistics say anything about what was drawn.
CREATE FUNCTION privet.noise(epsilon text) RETURNS numeric LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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

-- Private selection by permute-and-flip (McKenna and Sheldon 2020): the candidates stand in random order, and each is taken with probability
-- exp(-epsilon (best - score) / range); the first one that is taken is chosen. How many are taken is nobody's business: every candidate's coin
-- is thrown, with as many words and steps whatever its score is, and all of them are kept until the first is found.

-- A coin with probability exp(-ratio d), whose first bits lie beside the threshold: with further bits.
CREATE OR REPLACE FUNCTION privet.coin_exactly(word numeric, bits integer, ratio text, d integer) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    threshold numeric;
BEGIN
    LOOP
        threshold := (privet.powers(ratio, bits))[d];
        EXIT WHEN abs(threshold - word) > 2;
        word := word * 20282409603651670423947251286016 + privet.random_bits();
        bits := bits + 104;
    END LOOP;
    RETURN word < threshold;
END $$;

-- The number of a good candidate in each cell, counted from 0 within the cell, in the order of the cells. Candidates of a cell stand together.
--
-- Sensitivity: one row changes the scores of one cell only, and those of two of its candidates by at most "range" differently. Cost: epsilon.
CREATE OR REPLACE FUNCTION privet.choose_candidates(cells integer[], scores bigint[], epsilon text, range bigint) RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off SET work_mem = '256MB' AS $$
DECLARE
    places CONSTANT integer := 7;  -- digits to the base 256; scores are below 2^56
    certain CONSTANT bigint := 281474976710664;  -- above all words, and beside none: the threshold of the digit 0
    ratios text[] := '{}';
    thresholds bigint[] := '{}';
    chosen bigint[];
BEGIN
    FOR i IN 0 .. places - 1 LOOP
        ratios := ratios || privet.written(privet.numerator(epsilon) * power(256::numeric, i), privet.denominator(epsilon) * range);
        thresholds := thresholds || certain || (
            SELECT array_agg(p::bigint ORDER BY d) FROM unnest(privet.powers(ratios[i + 1], 48)) WITH ORDINALITY AS x (p, d) WHERE d < 256);
    END LOOP;
    -- a turn is 32 random digits, and the candidate's number after them; '~' is after all turns
    SELECT array_agg(substr(f.first, 33)::bigint ORDER BY f.cell) INTO STRICT chosen FROM (
        SELECT t.cell, min(CASE WHEN t.taken THEN t.turn ELSE '~' END COLLATE "C") AS first FROM (
            SELECT w.cell, w.turn, bool_and(CASE
                WHEN abs(thresholds[256 * w.i + w.digit + 1] - w.word) <= 2 THEN privet.coin_exactly(w.word, 48, ratios[w.i + 1], w.digit)
                ELSE w.word < thresholds[256 * w.i + w.digit + 1] END) AS taken
            FROM (
                SELECT g.cell, g.turn, i, (g.gap >> (8 * i) & 255)::integer AS digit,
                    ('x' || substr(encode(uuid_send(gen_random_uuid()), 'hex'), 1, 12))::bit(48)::bigint AS word
                FROM (
                    SELECT x.cell, max(x.score) OVER (PARTITION BY x.cell) - x.score AS gap,
                        encode(uuid_send(gen_random_uuid()), 'hex') || row_number() OVER (PARTITION BY x.cell ORDER BY x.place) - 1 AS turn
                    FROM unnest(cells, scores) WITH ORDINALITY AS x (cell, score, place) OFFSET 0
                ) AS g CROSS JOIN generate_series(0, places - 1) AS i OFFSET 0
            ) AS w GROUP BY w.cell, w.turn OFFSET 0
        ) AS t GROUP BY t.cell
    ) AS f;
    RETURN chosen;
END $$;

-- The score of each candidate split in its cell: see privet/mechanisms/criteria.py, whose numbers these are. A table is the counts of one
-- attribute by cell, value and class; a split says for each value of its table's attribute which child it goes to.
CREATE OR REPLACE FUNCTION privet.split_scores(
    exact bigint[], criterion text, classes integer, table_starts integer[], table_sizes integer[],
    cells integer[], splits integer[], split_tables integer[], split_firsts integer[], children integer[])
RETURNS bigint[] LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET jit = off SET work_mem = '256MB' AS $$
BEGIN
    RETURN (
        SELECT array_agg(s.score ORDER BY s.place) FROM (
            SELECT c.place, sum(CASE criterion WHEN 'max' THEN c.largest
                ELSE ((c.squares / c.size) << 20) + ((c.squares % c.size) << 20) / c.size END)::bigint AS score
            FROM (
                SELECT n.place, n.child, max(n.rows) AS largest, sum(n.bounded * n.bounded)::bigint AS squares,
                    greatest(sum(n.bounded), 1)::bigint AS size
                FROM (
                    SELECT o.place, children[split_firsts[o.split] + code] AS child, y, sum(x.number)::bigint AS rows,
                        least(sum(x.number), 1073741824 / classes)::bigint AS bounded
                    FROM unnest(cells, splits) WITH ORDINALITY AS o (cell, split, place)
                    CROSS JOIN LATERAL (SELECT split_tables[o.split] AS t) AS l
                    CROSS JOIN LATERAL generate_series(0, table_sizes[l.t] - 1) AS code
                    CROSS JOIN generate_series(0, classes - 1) AS y
                    CROSS JOIN LATERAL (SELECT exact[table_starts[l.t] + (o.cell * table_sizes[l.t] + code) * classes + y + 1] AS number) AS x
                    GROUP BY o.place, 2, y
                ) AS n GROUP BY n.place, n.child
            ) AS c GROUP BY c.place
        ) AS s);
END $$;

-- Charge, and choose a good split for each cell. The cells are those of one walk: "attributes" says which codes the tables are counted by,
-- and each split is of one table. Without "offered_cells", all splits are candidates in all cells.
--
-- Sensitivity: a row is in one cell, so the criterion's range. Neighbours: one row added or removed. Cost: epsilon, for all cells together.
CREATE OR REPLACE FUNCTION privet.choose(
    dataset text, epsilon text, key text, reservation text, criterion text, n_cells integer, steps integer, start integer,
    tests integer[], firsts integer[], cells integer[], branches integer[], attributes integer[],
    split_tables integer[], children integer[], offered_cells integer[], offered_splits integer[])
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    analyst text := privet.caller();
    amount text := privet.checked_amount(epsilon);
    ticket uuid := gen_random_uuid();
    sizes integer[];
    table_sizes integer[];
    table_starts integer[];
    split_firsts integer[];
    of_cells integer[] := offered_cells;
    of_splits integer[] := offered_splits;
    classes integer;
    tables integer := cardinality(attributes);
    q privet.walks;
    request text := privet.digest(
        'choose', dataset, amount, reservation, criterion, n_cells::text, steps::text, start::text, tests::text, firsts::text, cells::text,
        branches::text, attributes::text, split_tables::text, children::text, offered_cells::text, offered_splits::text);
    before uuid := privet.ticket_before(analyst, key, request);
    schema text;
    line privet.journal;
    exact bigint[];
    began timestamptz;
    chosen bigint[];
BEGIN
    IF before IS NOT NULL THEN
        RETURN before;
    END IF;
    schema := privet.check_grant(dataset, analyst);
    sizes := privet.sizes(dataset);
    classes := sizes[cardinality(sizes)];
    IF NOT (criterion IN ('max', 'gini') AND n_cells BETWEEN 1 AND 100000 AND privet.all_between(attributes, tables, 2, cardinality(sizes) - 1)
        AND privet.all_between(split_tables, cardinality(split_tables), 1, tables) AND cardinality(split_tables) BETWEEN 1 AND 100000) IS TRUE THEN
        PERFORM privet.refuse_question('the criterion must be max or gini, and splits must be of attributes');
    END IF;
    SELECT array_agg(sizes[t.code] ORDER BY t.place) INTO STRICT table_sizes FROM unnest(attributes) WITH ORDINALITY AS t (code, place);
    SELECT array_agg(t.until - n_cells::bigint * classes * table_sizes[t.place] ORDER BY t.place) INTO STRICT table_starts FROM (
        SELECT place, sum(n_cells::bigint * classes * table_sizes[place]) OVER (ORDER BY place) AS until FROM generate_series(1, tables) AS place) AS t;
    SELECT array_agg(s.until - table_sizes[split_tables[s.place]] + 1 ORDER BY s.place) INTO STRICT split_firsts FROM (
        SELECT place, sum(table_sizes[split_tables[place]]) OVER (ORDER BY place) AS until FROM generate_series(1, cardinality(split_tables)) AS place) AS s;
    IF coalesce(cardinality(of_cells), 0) = 0 AND n_cells::bigint * cardinality(split_tables) <= 1000000 THEN
        SELECT array_agg(c ORDER BY c, s), array_agg(s ORDER BY c, s) INTO STRICT of_cells, of_splits
        FROM generate_series(0, n_cells - 1) AS c, generate_series(1, cardinality(split_tables)) AS s;
    END IF;
    IF NOT (privet.all_between(of_cells, cardinality(of_splits), 0, n_cells - 1)
        AND privet.all_between(of_splits, cardinality(of_cells), 1, cardinality(split_tables))
        AND privet.all_between(children, split_firsts[cardinality(split_tables)] + table_sizes[split_tables[cardinality(split_tables)]] - 1, 0, 100000)
        AND (SELECT count(DISTINCT c) = n_cells AND sum(table_sizes[split_tables[s]]::bigint * classes) <= 20000000 FROM unnest(of_cells, of_splits) AS o (c, s))) IS TRUE THEN
        PERFORM privet.refuse_question('each cell needs candidates among the splits, and not more than can be scored: 20000000 counts in all');
    END IF;
    q.total := n_cells::bigint * classes * (SELECT sum(s) FROM unnest(table_sizes) AS s);
    q.steps := steps; q.tests := tests; q.firsts := firsts; q.cells := cells; q.branches := branches; q.weights := '{1}';
    q.starts := array_fill(start, ARRAY[tables]); q.bases := table_starts;
    SELECT array_agg(s * classes ORDER BY place) INTO STRICT q.widths FROM unnest(table_sizes) WITH ORDINALITY AS t (s, place);
    SELECT array_agg(CASE l WHEN 0 THEN a ELSE cardinality(sizes) END ORDER BY place, l), array_agg(CASE l WHEN 0 THEN classes ELSE 1 END ORDER BY place, l)
    INTO STRICT q.looks, q.strides FROM unnest(attributes) WITH ORDINALITY AS t (a, place), generate_series(0, 1) AS l;
    PERFORM privet.check_walks(dataset, q);
    IF NOT (SELECT max(c) < n_cells FROM unnest(cells) AS c) THEN
        PERFORM privet.refuse_question('the arrays of the question do not fit together');
    END IF;
    PERFORM privet.check_statistics();
    PERFORM privet.checked_share(amount, CASE criterion WHEN 'max' THEN 1 ELSE 2 END);
    line := privet.pay(
        dataset, analyst, schema, amount, format('SQL: private selection of a split in %s cells, by %s', n_cells, criterion),
        coalesce(nullif(key, ''), ticket::text), request, coalesce(reservation, ''));
    IF EXISTS (SELECT FROM privet.asked AS a WHERE a.number = line.number) THEN  -- somebody was faster under the same key
        RETURN (SELECT a.ticket FROM privet.asked AS a WHERE a.number = line.number);
    END IF;
    exact := privet.counted(dataset, q);
    began := clock_timestamp();
    chosen := CASE WHEN exact IS NULL THEN array_fill(NULL::bigint, ARRAY[n_cells]) ELSE privet.choose_candidates(
        of_cells,
        privet.split_scores(exact, criterion, classes, table_starts, table_sizes, of_cells, of_splits, split_tables, split_firsts, children),
        amount, CASE criterion WHEN 'max' THEN 1 ELSE 2097154 END) END;
    PERFORM privet.round_time_up(began);
    RETURN privet.keep_answer(line, ticket, chosen);
END $$;

-- Charge, and choose a code of an attribute by the rows that meet a condition: the one that about holds a quantile, share = a/b of the rows
-- below it; or, without a share, one that about most rows have. The first code is 0.
--
-- Sensitivity: of a quantile, range 2 max(a, b - a), and 1 for the least and the largest, as in privet/queries/quantile.py; of counts, range
-- 1. Neighbours: one row added or removed. Cost: epsilon.
CREATE OR REPLACE FUNCTION privet.choose_code(
    dataset text, attribute privet.attributes, share text, epsilon text, condition jsonb, key text, reservation text)
RETURNS uuid LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    analyst text := privet.caller();
    amount text := privet.checked_amount(epsilon);
    ticket uuid := gen_random_uuid();
    request text := privet.digest(
        CASE WHEN share IS NULL THEN 'label' ELSE 'quantile' END, dataset, amount, reservation, attribute.name, share, nullif(condition, '{}')::text);
    before uuid := privet.ticket_before(analyst, key, request);
    codes integer := CASE WHEN share IS NULL THEN cardinality(attribute.labels) ELSE cardinality(attribute.edges) - 1 END;
    a bigint := privet.numerator(share);
    b bigint := privet.denominator(share);
    range bigint := CASE WHEN share IS NULL OR a = 0 OR a = b THEN 1 ELSE 2 * greatest(a, b - a) END;
    q privet.walks;
    schema text;
    line privet.journal;
    exact bigint[];
    scores bigint[];
    began timestamptz;
    chosen bigint[];
BEGIN
    IF before IS NOT NULL THEN
        RETURN before;
    END IF;
    schema := privet.check_grant(dataset, analyst);
    q := privet.partition(dataset, condition, ARRAY[attribute.name]);
    PERFORM privet.check_statistics();
    PERFORM privet.checked_share(amount, range);
    line := privet.pay(
        dataset, analyst, schema, amount, format('SQL: private selection of %s of %s, in %s %s', CASE WHEN share IS NULL THEN 'a frequent label' ELSE
            'a quantile' END, attribute.name, codes, CASE WHEN share IS NULL THEN 'labels' ELSE 'bins' END),
        coalesce(nullif(key, ''), ticket::text), request, coalesce(reservation, ''));
    IF EXISTS (SELECT FROM privet.asked AS k WHERE k.number = line.number) THEN  -- somebody was faster under the same key
        RETURN (SELECT k.ticket FROM privet.asked AS k WHERE k.number = line.number);
    END IF;
    exact := privet.counted(dataset, q);
    began := clock_timestamp();
    IF exact IS NULL THEN
        chosen := ARRAY[NULL::bigint];
    ELSE
        SELECT array_agg(CASE WHEN share IS NULL THEN s.n ELSE -greatest(0, b * (s.until - s.n) - a * s.total, a * s.total - b * s.until) END ORDER BY s.code)
        INTO STRICT scores FROM (
            SELECT x.code, sum(x.n) OVER (ORDER BY x.code)::bigint AS until, x.n, sum(x.n) OVER ()::bigint AS total
            FROM unnest(exact[:codes]) WITH ORDINALITY AS x (n, code)) AS s;
        chosen := privet.choose_candidates(array_fill(0, ARRAY[codes]), scores, amount, range);
    END IF;
    PERFORM privet.round_time_up(began);
    RETURN privet.keep_answer(line, ticket, chosen);
END $$;

-- Choose the bin of an ordered attribute that about holds a quantile.
CREATE OR REPLACE FUNCTION privet.choose_quantile(
    dataset text, attribute text, share text, epsilon text, key text DEFAULT '', reservation text DEFAULT '', condition jsonb DEFAULT '{}')
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    schema text := privet.check_grant(dataset, privet.caller());
    the privet.attributes := privet.attribute_of(dataset, attribute);
BEGIN
    IF cardinality(the.edges) < 2 THEN
        PERFORM privet.refuse_question(format('''%s'' has no order, so it has no quantiles; choose a frequent label instead', attribute));
    END IF;
    share := privet.fraction_of(share);
    IF share IS NULL OR share !~ '^[0-9]{1,6}(/[0-9]{1,6})?$' OR privet.denominator(share) = 0 OR privet.numerator(share) > privet.denominator(share) THEN
        PERFORM privet.refuse_question('share must be a fraction from 0 to 1, such as ''1/2'' or ''0.5'', of at most six digits');
    END IF;
    RETURN privet.choose_code(dataset, the, privet.written(privet.numerator(share), privet.denominator(share)), epsilon, condition, key, reservation);
END $$;

-- Choose a label of an attribute, or of the target, that about most rows have.
CREATE OR REPLACE FUNCTION privet.choose_label(dataset text, attribute text, epsilon text, condition jsonb DEFAULT '{}', key text DEFAULT '')
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    schema text := privet.check_grant(dataset, privet.caller());
BEGIN
    RETURN privet.choose_code(dataset, privet.attribute_of(dataset, attribute), NULL, epsilon, condition, key, '');
END $$;

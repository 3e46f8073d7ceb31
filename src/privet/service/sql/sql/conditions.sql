-- Conditions, and the partitions that they and the attributes to count by make, as walks.
--
-- A condition is JSON: an object says for some attributes what is allowed of each, and all of it must hold; a list ["and", ...], ["or", ...]
-- or ["not", ...] holds other conditions. Allowed is a list of labels, {"not": [labels]}, or, of an ordered attribute, {"from": ..., "to": ...}
-- (or one of both): labels, which are included, or edges of bins. Nothing of it becomes part of a statement.

-- What a label may be written as. A number or truth value stands for its label; anything else that is no text stands for none.
CREATE OR REPLACE FUNCTION privet.label_of(value jsonb) RETURNS text LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN CASE
        WHEN jsonb_typeof(value) IN ('string', 'boolean') THEN value #>> '{}'
        WHEN jsonb_typeof(value) <> 'number' THEN NULL
        WHEN abs(value::numeric) < 1e400 AND scale(value::numeric) < 400 THEN trim_scale(value::numeric)::text END;
END $$;

-- The code of the bin that a range begins or ends with.
CREATE OR REPLACE FUNCTION privet.bound_of(the privet.attributes, value jsonb, is_end boolean) RETURNS integer
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    said text := privet.label_of(value);
    bins integer := cardinality(the.edges) - 1;
    found integer := array_position(the.labels[:bins], said);
BEGIN
    IF found IS NOT NULL THEN
        RETURN found - 1;
    END IF;
    found := array_position(the.edges, said);
    IF found IS NULL OR said IS NULL THEN
        PERFORM privet.refuse_question(format(
            'condition: %s is no edge of a bin of ''%s''; there are %s', left(value::text, 200), the.name,
            left(array_to_string(the.edges[:200], ', '), 2000)));
    END IF;
    RETURN found - 1 - CASE WHEN is_end THEN 1 ELSE 0 END;
END $$;

-- The codes of an attribute that are allowed.
CREATE OR REPLACE FUNCTION privet.allowed(the privet.attributes, allowed jsonb) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    listed jsonb := CASE jsonb_typeof(allowed) WHEN 'array' THEN allowed WHEN 'object' THEN allowed -> 'not' END;
    codes integer[] := '{}';
    code integer;
    value jsonb;
    bins integer := cardinality(the.edges) - 1;
BEGIN
    IF jsonb_typeof(allowed) = 'object' AND allowed <> '{}' AND allowed - 'from' - 'to' = '{}' THEN
        IF bins < 1 THEN
            PERFORM privet.refuse_question(format('condition: ''%s'' has no order; list its labels instead of a range', the.name));
        END IF;
        RETURN ARRAY(SELECT generate_series(
            CASE WHEN allowed ? 'from' THEN privet.bound_of(the, allowed -> 'from', false) ELSE 0 END,
            CASE WHEN allowed ? 'to' THEN privet.bound_of(the, allowed -> 'to', true) ELSE bins - 1 END));
    ELSIF jsonb_typeof(listed) IS DISTINCT FROM 'array' OR jsonb_typeof(allowed) = 'object' AND allowed - 'not' <> '{}' THEN
        PERFORM privet.refuse_question(format(
            'condition: what is allowed of ''%s'' must be a list of labels, {"not": [labels]} or {"from": edge, "to": edge}', the.name));
    END IF;
    FOR value IN SELECT jsonb_array_elements(listed) LOOP
        code := array_position(the.labels, privet.label_of(value)) - 1;
        IF code IS NULL OR privet.label_of(value) IS NULL THEN
            PERFORM privet.refuse_question(format(
                'condition: %s is no label of ''%s''; there are %s', left(value::text, 200), the.name,
                left(array_to_string(the.labels[:200], ', '), 2000)));
        END IF;
        codes := codes || code;
    END LOOP;
    IF jsonb_typeof(allowed) = 'object' THEN
        RETURN ARRAY(SELECT c FROM generate_series(0, cardinality(the.labels) - 1) AS c WHERE c <> ALL (codes));
    END IF;
    RETURN ARRAY(SELECT DISTINCT c FROM unnest(codes) AS c ORDER BY c);
END $$;

-- An attribute, or the target, by its name.
CREATE OR REPLACE FUNCTION privet.attribute_of(dataset text, name text) RETURNS privet.attributes
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the privet.attributes;
BEGIN
    SELECT a.* INTO the FROM privet.attributes AS a WHERE a.dataset = attribute_of.dataset AND a.name = attribute_of.name;
    IF NOT FOUND THEN
        PERFORM privet.refuse_question(format('no attribute ''%s''; there are %s', left(name, 200), (
            SELECT left(string_agg(a.name, ', ' ORDER BY a.position), 2000) FROM privet.attributes AS a WHERE a.dataset = attribute_of.dataset)));
    END IF;
    RETURN the;
END $$;

-- A condition of codes: true, false, ["is", place of the code, [codes]], ["and", ...], ["or", ...] or ["not", condition].
CREATE OR REPLACE FUNCTION privet.resolved(dataset text, condition jsonb) RETURNS jsonb LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    the privet.attributes;
    parts jsonb := '["and"]';
    entry record;
BEGIN
    IF jsonb_typeof(condition) = 'object' THEN
        FOR entry IN SELECT c.key, c.value FROM jsonb_each(condition) AS c ORDER BY c.key COLLATE "C" LOOP
            the := privet.attribute_of(dataset, entry.key);
            parts := parts || jsonb_build_array(jsonb_build_array('is', the.position + 2, to_jsonb(privet.allowed(the, entry.value))));
        END LOOP;
        RETURN parts;
    ELSIF jsonb_typeof(condition) = 'array' AND (
        condition ->> 0 IN ('and', 'or') OR condition ->> 0 = 'not' AND jsonb_array_length(condition) = 2) THEN
        RETURN (
            SELECT jsonb_agg(CASE WHEN c.number = 1 THEN c.part ELSE privet.resolved(dataset, c.part) END ORDER BY c.number)
            FROM jsonb_array_elements(condition) WITH ORDINALITY AS c (part, number));
    END IF;
    PERFORM privet.refuse_question(
        'condition: it must be an object from attributes to lists of labels, or ["and", ...], ["or", ...] or ["not", condition]');
END $$;

-- What is left of a condition where the code at this place is known.
CREATE OR REPLACE FUNCTION privet.decided(condition jsonb, place integer, code integer) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    neutral jsonb;
    parts jsonb := '[]';
    part jsonb;
BEGIN
    IF jsonb_typeof(condition) = 'boolean' THEN
        RETURN condition;
    ELSIF condition ->> 0 = 'is' THEN
        RETURN CASE WHEN (condition ->> 1)::integer = place THEN to_jsonb(condition -> 2 @> to_jsonb(code)) ELSE condition END;
    ELSIF condition ->> 0 = 'not' THEN
        part := privet.decided(condition -> 1, place, code);
        RETURN CASE jsonb_typeof(part) WHEN 'boolean' THEN to_jsonb(NOT part::boolean) ELSE jsonb_build_array('not', part) END;
    END IF;
    neutral := to_jsonb(condition ->> 0 = 'and');
    FOR part IN SELECT c.part FROM jsonb_array_elements(condition) WITH ORDINALITY AS c (part, number) WHERE c.number > 1 ORDER BY c.number LOOP
        part := privet.decided(part, place, code);
        IF jsonb_typeof(part) = 'boolean' AND part <> neutral THEN
            RETURN part;
        ELSIF part <> neutral AND NOT EXISTS (SELECT FROM jsonb_array_elements(parts) AS p (other) WHERE other = part) THEN
            parts := parts || jsonb_build_array(part);
        END IF;
    END LOOP;
    RETURN CASE jsonb_array_length(parts) WHEN 0 THEN neutral WHEN 1 THEN parts -> 0 ELSE jsonb_build_array(condition -> 0) || parts END;
END $$;

-- The first code that a condition looks at; none where it is decided.
CREATE OR REPLACE FUNCTION privet.first_place(condition jsonb) RETURNS integer LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF jsonb_typeof(condition) = 'boolean' THEN
        RETURN NULL;
    ELSIF condition ->> 0 = 'is' THEN
        RETURN (condition ->> 1)::integer;
    END IF;
    RETURN (
        SELECT min(privet.first_place(c.part)) FROM jsonb_array_elements(condition) WITH ORDINALITY AS c (part, number) WHERE c.number > 1);
END $$;

-- The rows that meet a condition, counted by all values of some attributes: a decision diagram, whose node 1 is for rows that are counted
-- and whose node 2 for the others.
CREATE OR REPLACE FUNCTION privet.partition(dataset text, condition jsonb, by text[]) RETURNS privet.walks
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    q privet.walks;
    sizes integer[] := privet.sizes(dataset);
    found jsonb[] := '{true,false}';
    left_over jsonb;
    node integer := 3;
    next integer;
    place integer;
    name text;
    stride bigint := 1;
BEGIN
    IF condition IS NULL THEN
        PERFORM privet.refuse_question('condition: it must be an object from attributes to lists of labels; {} counts all rows');
    ELSIF length(condition::text) > 1000000 THEN
        PERFORM privet.refuse_question('condition: it must be shorter than a million bytes');
    END IF;
    -- the place of a look that says nothing, so that there is one
    q.looks := '{}'; q.strides := '{}'; q.tests := '{1,1}'; q.firsts := '{1,2}'; q.branches := '{1,2}'; q.cells := '{0,-1}';
    q.bases := '{0}'; q.weights := '{1}'; q.steps := 0;
    FOR i IN REVERSE coalesce(cardinality(by), 0) .. 1 LOOP
        name := by[i];
        IF name IS NULL OR name = ANY (by[i + 1:]) THEN
            PERFORM privet.refuse_question('by must name attributes, each once');
        END IF;
        place := (privet.attribute_of(dataset, name)).position + 2;
        q.looks := place || q.looks;
        q.strides := stride::integer || q.strides;
        stride := stride * sizes[place];
        IF stride > 1000000 THEN
            PERFORM privet.refuse_question('by makes more than 1000000 combinations; name fewer attributes');
        END IF;
    END LOOP;
    IF cardinality(q.looks) = 0 THEN
        q.looks := '{1}'; q.strides := '{0}';
    END IF;
    q.total := stride; q.widths := ARRAY[stride::integer];
    -- what is decided without a code, such as {}
    found := found || privet.decided(privet.resolved(dataset, condition), 0, 0);
    q.starts := ARRAY[CASE found[3] WHEN 'true' THEN 1 WHEN 'false' THEN 2 ELSE 3 END];
    IF q.starts = '{3}' THEN
        WHILE node <= cardinality(found) LOOP
            place := privet.first_place(found[node]);
            q.tests := q.tests || place; q.firsts := q.firsts || cardinality(q.branches) + 1; q.cells := q.cells || -1;
            FOR code IN 0 .. sizes[place] - 1 LOOP
                left_over := privet.decided(found[node], place, code);
                next := array_position(found, left_over);
                IF next IS NULL THEN
                    found := found || left_over;
                    next := cardinality(found);
                END IF;
                q.branches := q.branches || next;
            END LOOP;
            IF cardinality(found) > 2000 THEN
                PERFORM privet.refuse_question('condition: it has too many cases; ask several simpler ones');
            END IF;
            node := node + 1;
        END LOOP;
        -- each step looks at a later code than the one before
        q.steps := (SELECT count(DISTINCT t) FROM unnest(q.tests[3:]) AS t);
    END IF;
    RETURN q;
END $$;

-- Version 5: questions of many numbers. Runs on the tables of any version before.

-- The rows of a data set as codes, and its schema as a file has it. A data set that was added before has no schema here, and is asked as it
-- was before until its owner adds it again.
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS encoded text;
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS schema text NOT NULL DEFAULT '';
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS fingerprint text NOT NULL DEFAULT '';
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'privet.datasets'::regclass AND attname = 'statement' AND NOT attisdropped) THEN
        -- it is SELECT sum(...) FROM (encoded) AS counted
        UPDATE privet.datasets SET encoded = regexp_replace(
            substr(statement, position(') FROM (' IN statement) + 8), '\) AS counted$', '');
        ALTER TABLE privet.datasets DROP COLUMN statement;
    END IF;
    ALTER TABLE privet.datasets ALTER COLUMN encoded SET NOT NULL;
END $$;

-- The edges of the bins that have an order, one more than there are bins, as text (the last one may have none); empty without an order.
ALTER TABLE privet.attributes ADD COLUMN IF NOT EXISTS edges text[] NOT NULL DEFAULT '{}';

-- A ticket is found by itself: whoever names a key of their own may have lost it. What is asked of a partition says how to label its counts.
ALTER TABLE privet.asked ADD COLUMN IF NOT EXISTS ticket uuid;
ALTER TABLE privet.asked ADD COLUMN IF NOT EXISTS counted_by jsonb;
UPDATE privet.asked AS a SET ticket = j.key::uuid FROM privet.journal AS j WHERE j.number = a.number AND a.ticket IS NULL;
ALTER TABLE privet.asked ALTER COLUMN ticket SET NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS asked_by_ticket ON privet.asked (ticket);

-- Also where an analyst has a view of it, who could hold an upgrade up with one.
DROP FUNCTION IF EXISTS privet.ask(text, jsonb, numeric) CASCADE;
DROP FUNCTION IF EXISTS privet.check_grant(text, text);
DROP FUNCTION IF EXISTS privet.sealed(bigint), privet.unsealed(bytea), privet.pad(bytea);
DROP FUNCTION IF EXISTS privet.mask(text, jsonb), privet.exact_count(text, integer[]), privet.noise(text);
DROP FUNCTION IF EXISTS privet.discrete_laplace(text), privet.exp_coin(numeric, numeric), privet.uniform_below(numeric), privet.allowed(jsonb);

-- What is counted, as walks over the codes of a row. Each walk ends at one node, so a row is in one number of each at most, whatever the
-- arrays hold. Codes are counted from 0, places in arrays from 1. The codes of a row are (0, those of the attributes, that of the target).
DROP TYPE IF EXISTS privet.walks CASCADE;  -- and what takes one, which is made anew
CREATE TYPE privet.walks AS (
    total integer,      -- how many numbers there are
    steps integer,      -- how far each walk goes
    starts integer[],   -- of each walk: the node at which it begins,
    bases integer[],    -- where its numbers begin,
    widths integer[],   -- how many each of its cells has,
    looks integer[],    -- which codes say which of these it is (as many for each walk),
    strides integer[],  -- and how far apart the numbers of neighbouring codes are
    tests integer[],    -- of each node: which code it looks at,
    firsts integer[],   -- where its branches begin,
    cells integer[],    -- and its cell; -1: rows that end here are in no number
    branches integer[], -- the node that each code leads to
    weights integer[]   -- what a row counts, by the codes of the first two looks; one number: the same for all
);

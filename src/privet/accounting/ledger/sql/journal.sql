-- What counts is the journal. Caps and totals follow from it, and are kept so that a charge need not read it all.
-- Text is compared byte by byte, whatever collation the database has. No analyst ('') stands for everybody.

CREATE TABLE privet.ledger (identity text NOT NULL, version integer NOT NULL, lines bigint NOT NULL);
CREATE UNIQUE INDEX one_ledger ON privet.ledger ((true));

CREATE TABLE privet.journal (
    number bigint PRIMARY KEY,
    time text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('charge', 'cap')),
    dataset text COLLATE "C" NOT NULL,
    analyst text COLLATE "C" NOT NULL,
    what text NOT NULL,
    epsilon text NOT NULL,
    rho text NOT NULL,
    key text COLLATE "C" NOT NULL,
    request text COLLATE "C" NOT NULL,
    hash text NOT NULL
);
CREATE INDEX journal_by_dataset ON privet.journal (dataset, analyst);
CREATE UNIQUE INDEX journal_by_key ON privet.journal (analyst, key) WHERE key <> '';

CREATE TABLE privet.caps (
    dataset text COLLATE "C" NOT NULL,
    analyst text COLLATE "C" NOT NULL,
    amount text NOT NULL,
    unit text NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    CONSTRAINT one_cap PRIMARY KEY (dataset, analyst)
);

CREATE TABLE privet.spent (
    dataset text COLLATE "C" NOT NULL,
    analyst text COLLATE "C" NOT NULL,
    epsilon text,
    rho text NOT NULL,
    CONSTRAINT one_total PRIMARY KEY (dataset, analyst)
);

CREATE TABLE privet.answers (number bigint PRIMARY KEY REFERENCES privet.journal (number), body bytea NOT NULL);

CREATE FUNCTION privet.keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = TG_ARGV[0];
END $$;
CREATE TRIGGER journal_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON privet.journal
    FOR EACH STATEMENT EXECUTE FUNCTION privet.keep('the journal is append-only');
CREATE TRIGGER answers_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON privet.answers
    FOR EACH STATEMENT EXECUTE FUNCTION privet.keep('answers are kept');
ALTER TABLE privet.journal ENABLE ALWAYS TRIGGER journal_stays;
ALTER TABLE privet.answers ENABLE ALWAYS TRIGGER answers_stay;

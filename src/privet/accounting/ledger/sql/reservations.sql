-- Version 2: reservations, and what else is known of a line. Runs on the tables of version 1 (journal.sql), new or old; charge.sql
-- follows. Lines stay what they were: without "more", they have the hashes that they always had.

DROP FUNCTION IF EXISTS privet.charge(text, text, text, text, text, text, text);
DROP FUNCTION IF EXISTS privet.spend(text, text, text, text);
DROP FUNCTION IF EXISTS privet.append(text, text, text, text, text, text, text, text);
DROP FUNCTION IF EXISTS privet.lock();

ALTER TABLE privet.journal ADD COLUMN more text NOT NULL DEFAULT '';
ALTER TABLE privet.journal DROP CONSTRAINT journal_kind_check;
ALTER TABLE privet.journal ADD CONSTRAINT journal_kind_check CHECK (kind IN ('charge', 'cap', 'reserve', 'close'));
CREATE INDEX journal_by_time ON privet.journal (time COLLATE "C");

-- Follows from the journal, like caps and totals. Closed: the line that ended it; 0 while it is open.
CREATE TABLE privet.reservations (
    number bigint PRIMARY KEY REFERENCES privet.journal (number),
    dataset text COLLATE "C" NOT NULL,
    analyst text COLLATE "C" NOT NULL,
    unit text NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    reserved text NOT NULL,
    charged text NOT NULL,
    touched text COLLATE "C" NOT NULL,
    state text NOT NULL CHECK (state IN ('open', 'done', 'cancelled', 'expired')),
    closed bigint NOT NULL
);
CREATE INDEX reservations_open ON privet.reservations (dataset, analyst) WHERE state = 'open';

-- What the first line of a data set that stated it says of its people.
CREATE TABLE privet.accounts (
    dataset text COLLATE "C" CONSTRAINT one_account PRIMARY KEY,
    neighbours text NOT NULL,
    rows_per_person bigint NOT NULL
);

-- Who may ask what, how rows of a data set become codes, and which transaction asked.

CREATE TABLE privet.roles (role text COLLATE "C" PRIMARY KEY, analyst text COLLATE "C" NOT NULL);

CREATE TABLE privet.grants (
    dataset text COLLATE "C" NOT NULL,
    analyst text COLLATE "C" NOT NULL,
    expires timestamptz NOT NULL,  -- infinity: never
    CONSTRAINT one_grant PRIMARY KEY (dataset, analyst)
);

-- Here, the statement is that of versions 1 to 4; version5.sql makes "encoded" of it. $1, $2 and $3 are what it binds.
CREATE TABLE privet.datasets (
    dataset text COLLATE "C" PRIMARY KEY,
    relation text NOT NULL,
    statement text NOT NULL,
    texts text[] NOT NULL,
    numbers double precision[] NOT NULL,
    codes integer[] NOT NULL,
    factor integer NOT NULL CHECK (factor >= 1)  -- what one row costs, times this, is what a person costs
);

-- The codes of an attribute are 0, 1, ... in the order of its labels; the target is one more attribute.
CREATE TABLE privet.attributes (
    dataset text COLLATE "C" NOT NULL REFERENCES privet.datasets (dataset) ON DELETE CASCADE,
    position integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    labels text[] NOT NULL,
    PRIMARY KEY (dataset, position),
    UNIQUE (dataset, name)
);

CREATE TABLE privet.asked (number bigint PRIMARY KEY REFERENCES privet.journal (number), transaction xid8 NOT NULL);

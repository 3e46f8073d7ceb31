BEGIN TRANSACTION;
CREATE TABLE accounts (
    dataset TEXT NOT NULL PRIMARY KEY, neighbours TEXT NOT NULL, rows_per_person INTEGER NOT NULL);
INSERT INTO "accounts" VALUES('people','add-remove',1);
INSERT INTO "accounts" VALUES('cars','replace',2);
CREATE TABLE answers (
    number INTEGER PRIMARY KEY REFERENCES journal (number), body BLOB NOT NULL);
CREATE TABLE caps (
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    amount TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    PRIMARY KEY (dataset, analyst));
INSERT INTO "caps" VALUES('people','','9','epsilon');
INSERT INTO "caps" VALUES('cars','','9','epsilon');
INSERT INTO "caps" VALUES('new','','9','epsilon');
CREATE TABLE journal (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'cap', 'reserve', 'close')),
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    what TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    rho TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    hash TEXT NOT NULL,
    more TEXT NOT NULL);
INSERT INTO "journal" VALUES(1,'2026-11-18T07:24:37.403+00:00','cap','people','','cap: epsilon 9','9','','','','526e423abecf53859fc3678e4609e557aff12ef02aa35350f0d085377e9b9ba7','');
INSERT INTO "journal" VALUES(2,'2026-11-18T07:24:37.408+00:00','cap','cars','','cap: epsilon 9','9','','','','1b392edac9d80feaec2b3a6725fe58db30b535095cc2c44f008fb011b4d8e42e','');
INSERT INTO "journal" VALUES(3,'2026-11-18T07:24:37.446+00:00','cap','new','','cap: epsilon 9','9','','','','7f889de8e6539a43cf65da59e50e75006fcdbf5a6bc3cf3d47fa084e9a6c5914','');
INSERT INTO "journal" VALUES(4,'2026-11-18T07:24:37.464+00:00','charge','people','ada','counts','2','2','','','0d2901542a5acbe622514faafd7db8185659dc4f9e8861ae1d3348e31217a207','{"neighbours":"add-remove","rows_per_person":1}');
INSERT INTO "journal" VALUES(5,'2026-11-18T07:24:37.488+00:00','charge','people','ada','counts','4','8','','','8ee75602773f95c51a9bb9bd08ff39d8326127b9055a10d904845845927c77aa','{"neighbours":"replace","rows_per_person":1}');
INSERT INTO "journal" VALUES(6,'2026-11-18T07:24:37.552+00:00','reserve','cars','ada','a fit','1','','fit','r','775a63fe403d61d4cac5658e44e08cc5808708cb1a22c412e5dec433e23f6857','{"neighbours":"replace","rows_per_person":2,"schema":"s"}');
INSERT INTO "journal" VALUES(7,'2026-11-18T07:24:37.553+00:00','charge','cars','ada','counts','1/2','1/8','','','f9954e07a9d7e85945a1b52492c5028467c5e0abc227db8612f842500f306ec7','{"reservation":6}');
CREATE TABLE ledger (identity TEXT NOT NULL);
INSERT INTO "ledger" VALUES('42b9578ae6eb488c84a73accaf819d1af005b24d0e249224f7381a3d95d36582');
CREATE TABLE reservations (
    number INTEGER PRIMARY KEY REFERENCES journal (number),
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    reserved TEXT NOT NULL,
    charged TEXT NOT NULL,
    touched TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'cancelled', 'expired')),
    closed INTEGER NOT NULL);
INSERT INTO "reservations" VALUES(6,'cars','ada','epsilon','1','1/2','2026-11-18T07:24:37.553+00:00','open',0);
CREATE TABLE spent (
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    epsilon TEXT,
    rho TEXT NOT NULL,
    PRIMARY KEY (dataset, analyst));
INSERT INTO "spent" VALUES('people','','6','10');
INSERT INTO "spent" VALUES('people','ada','6','10');
INSERT INTO "spent" VALUES('cars','','1/2','1/8');
INSERT INTO "spent" VALUES('cars','ada','1/2','1/8');
CREATE INDEX journal_by_dataset ON journal (dataset, analyst);
CREATE UNIQUE INDEX journal_by_key ON journal (analyst, key) WHERE key <> '';
CREATE INDEX journal_by_time ON journal (time);
CREATE INDEX reservations_open ON reservations (dataset, analyst) WHERE state = 'open';
CREATE TRIGGER journal_stays BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_keeps BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER answers_stay BEFORE DELETE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
CREATE TRIGGER answers_keep BEFORE UPDATE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
COMMIT;

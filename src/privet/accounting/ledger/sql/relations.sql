-- Version 3: an account has one neighbour relation (privet/accounting/ledger/relation.py). Runs on the tables of version 2; charge.sql
-- follows. No line has said yet which column tells people apart (NULL), or that there is none ('').

DROP FUNCTION IF EXISTS privet.charge(text, text, text, text, text, text, text, text, text, text, bigint, text);
DROP FUNCTION IF EXISTS privet.reserved_for(text, text, text, text, text, text, bigint, text);

ALTER TABLE privet.accounts ADD COLUMN person text;

-- Version 6: quantiles of the rows that meet a condition. Also where an analyst has a view of the function.
DROP FUNCTION IF EXISTS privet.choose_quantile(text, text, text, text, text, text) CASCADE;

-- Whose table it was when it was added. Its name is all that a data set knows it by: where it is away for a moment, whoever may create a
-- view of its name would have their functions run with the rights of the ledger's owner.
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS owner text COLLATE "C" NOT NULL DEFAULT '';
UPDATE privet.datasets AS d SET owner = pg_get_userbyid(c.relowner) FROM pg_class AS c WHERE c.oid = to_regclass(d.relation) AND d.owner = '';

-- Version 3: who the neighbours of a data set are, for the ledger (privet/accounting/ledger/relation.py). A data set that was added before
-- states none (''): its factor must be that of its account then.
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS neighbours text NOT NULL DEFAULT '';
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS rows_per_person bigint NOT NULL DEFAULT 0;
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS person text NOT NULL DEFAULT '';

-- Whether the owner has said that exact counts of some rows, which the catalog tells (privet.told), are public.
ALTER TABLE privet.datasets ADD COLUMN IF NOT EXISTS public_counts boolean NOT NULL DEFAULT false;

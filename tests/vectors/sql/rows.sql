SELECT CAST(CASE WHEN t."form" IS NULL THEN 3 ELSE coalesce(CAST($d_c0_codes AS INTEGER[])[list_position(CAST($d_c0_values AS VARCHAR[]),
CAST(t."form" AS VARCHAR) COLLATE "binary")], 2) END AS UTINYINT) AS c0, t."rooms" AS c1, CASE WHEN NOT contains(t."age", '_') THEN TRY_CAST(t."age" AS DOUBLE) END AS c2, t."height" AS c3, CAST(CASE WHEN t."owner" THEN 0 WHEN NOT t."owner" THEN 1 ELSE 2 END AS UTINYINT) AS c4, CAST(greatest(list_position(CAST($d_y_values AS VARCHAR[]),
CAST(t."class" AS VARCHAR) COLLATE "binary"),
0) AS UTINYINT) AS y
  FROM read_parquet($path) AS t 
-- $path = people.parquet
-- $d_c0_codes = [0, 1, 2, 3]
-- $d_c0_values = ['complete', 'foster', 'other', '?']
-- $d_y_values = ['no', 'yes']
-- $secret = ...

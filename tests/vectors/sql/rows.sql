SELECT CAST(CASE WHEN t."form" IS NULL THEN 3 ELSE coalesce(CAST($p2 AS INTEGER[])[list_position(CAST($p1 AS VARCHAR[]),
CAST(t."form" AS VARCHAR) COLLATE "binary")], 2) END AS UTINYINT) AS c0, t."rooms" AS c1, CAST(CASE WHEN NOT contains(CAST(t."age" AS VARCHAR),
'_') AND NOT contains(CAST(t."age" AS VARCHAR),
'+-') AND length(CAST(t."age" AS VARCHAR)) <= 1000 THEN TRY_CAST(CAST(t."age" AS VARCHAR) AS DOUBLE) END AS DOUBLE) AS c2, t."height" AS c3, CAST(CASE WHEN t."owner" THEN 0 WHEN NOT t."owner" THEN 1 ELSE 2 END AS UTINYINT) AS c4, CAST(greatest(list_position(CAST($p3 AS VARCHAR[]),
CAST(t."class" AS VARCHAR) COLLATE "binary"),
0) AS UTINYINT) AS y
  FROM read_parquet($path) AS t 
-- $path = people.parquet
-- $p1 = ['complete', 'foster', 'other', '?']
-- $p2 = [0, 1, 2, 3]
-- $p3 = ['no', 'yes']

SELECT CAST(c0 AS UTINYINT) AS c0, CAST(c1 AS UTINYINT) AS c1, CAST(c2 AS UTINYINT) AS c2, CAST(c3 AS UTINYINT) AS c3, CAST(c4 AS UTINYINT) AS c4, CAST(y AS UTINYINT) AS y, md5_number_lower(CAST($p13 AS VARCHAR) || CAST(person AS VARCHAR)) AS who
  FROM (SELECT *
  FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY c0, c1, c2, c3, c4, y) AS turn
  FROM (SELECT CASE WHEN t."form" IS NULL THEN 3 ELSE coalesce(CAST($p2 AS INTEGER[])[list_position(CAST($p1 AS VARCHAR[]),
CAST(t."form" AS VARCHAR) COLLATE "binary")], 2) END AS c0, coalesce(CAST($p4 AS INTEGER[])[list_position(CAST($p3 AS HUGEINT[]),
CAST(t."rooms" AS HUGEINT))], 2) AS c1, CASE WHEN CASE WHEN NOT contains(CAST(t."age" AS VARCHAR),
'_') AND NOT contains(CAST(t."age" AS VARCHAR),
'+-') AND length(CAST(t."age" AS VARCHAR)) <= 1000 THEN TRY_CAST(CAST(t."age" AS VARCHAR) AS DOUBLE) END IS NULL OR isnan(CAST(CASE WHEN NOT contains(CAST(t."age" AS VARCHAR),
'_') AND NOT contains(CAST(t."age" AS VARCHAR),
'+-') AND length(CAST(t."age" AS VARCHAR)) <= 1000 THEN TRY_CAST(CAST(t."age" AS VARCHAR) AS DOUBLE) END AS DOUBLE)) THEN 4 ELSE CASE WHEN CASE WHEN NOT contains(CAST(t."age" AS VARCHAR),
'_') AND NOT contains(CAST(t."age" AS VARCHAR),
'+-') AND length(CAST(t."age" AS VARCHAR)) <= 1000 THEN TRY_CAST(CAST(t."age" AS VARCHAR) AS DOUBLE) END < CAST($p6 AS DOUBLE) THEN CASE WHEN CASE WHEN NOT contains(CAST(t."age" AS VARCHAR),
'_') AND NOT contains(CAST(t."age" AS VARCHAR),
'+-') AND length(CAST(t."age" AS VARCHAR)) <= 1000 THEN TRY_CAST(CAST(t."age" AS VARCHAR) AS DOUBLE) END < CAST($p5 AS DOUBLE) THEN 0 ELSE 1 END ELSE CASE WHEN CASE WHEN NOT contains(CAST(t."age" AS VARCHAR),
'_') AND NOT contains(CAST(t."age" AS VARCHAR),
'+-') AND length(CAST(t."age" AS VARCHAR)) <= 1000 THEN TRY_CAST(CAST(t."age" AS VARCHAR) AS DOUBLE) END < CAST($p7 AS DOUBLE) THEN 2 ELSE 3 END END END AS c2, CASE WHEN CAST(t."height" AS DOUBLE) IS NULL OR isnan(CAST(CAST(t."height" AS DOUBLE) AS DOUBLE)) THEN 2 ELSE CASE WHEN CAST(t."height" AS DOUBLE) < CAST($p9 AS DOUBLE) THEN CASE WHEN CAST(t."height" AS DOUBLE) < CAST($p8 AS DOUBLE) THEN 2 ELSE 0 END ELSE CASE WHEN CAST(t."height" AS DOUBLE) < CAST($p10 AS DOUBLE) THEN 1 ELSE 2 END END END AS c3, CASE WHEN t."owner" THEN 0 WHEN NOT t."owner" THEN 1 ELSE 2 END AS c4, coalesce(CAST($p12 AS INTEGER[])[list_position(CAST($p11 AS VARCHAR[]),
CAST(t."class" AS VARCHAR) COLLATE "binary")], 2) AS y, t."id" AS person
  FROM read_parquet($path) AS t ) AS e WHERE CASE WHEN c1 < 2 AND c2 < 5 AND c3 < 2 AND c4 < 2 AND y < 2 AND person IS NOT NULL THEN true ELSE false END) AS p WHERE turn <= 2)
-- $path = people.parquet
-- $p1 = ['complete', 'foster', 'other', '?']
-- $p2 = [0, 1, 2, 3]
-- $p3 = ['1', '2']
-- $p4 = [0, 1]
-- $p5 = 22.5
-- $p6 = 45.0
-- $p7 = 67.5
-- $p8 = 1.5
-- $p9 = 1.7
-- $p10 = 2.0000000000000004
-- $p11 = ['no', 'yes']
-- $p12 = [0, 1]
-- $p13 = ...

SELECT c0, c1, c2, c3, c4, y, md5_number_lower($secret || CAST(person AS VARCHAR)) AS who
  FROM (SELECT *
  FROM (SELECT CAST(CASE WHEN t."form" IS NULL THEN 3 ELSE coalesce(CAST($d_c0_codes AS INTEGER[])[list_position(CAST($d_c0_values AS VARCHAR[]),
CAST(t."form" AS VARCHAR) COLLATE "binary")], 2) END AS UTINYINT) AS c0, CAST(coalesce(CAST($d_c1_codes AS INTEGER[])[list_position(CAST($d_c1_values AS DOUBLE[]),
CAST(t."rooms" AS DOUBLE))], 2) AS UTINYINT) AS c1, CAST(CASE WHEN CASE WHEN NOT contains(t."age", '_') THEN TRY_CAST(t."age" AS DOUBLE) END IS NULL OR isnan(CASE WHEN NOT contains(t."age", '_') THEN TRY_CAST(t."age" AS DOUBLE) END) THEN 4 ELSE CASE WHEN CASE WHEN NOT contains(t."age", '_') THEN TRY_CAST(t."age" AS DOUBLE) END < $d_c2_2 THEN CASE WHEN CASE WHEN NOT contains(t."age", '_') THEN TRY_CAST(t."age" AS DOUBLE) END < $d_c2_1 THEN 0 ELSE 1 END ELSE CASE WHEN CASE WHEN NOT contains(t."age", '_') THEN TRY_CAST(t."age" AS DOUBLE) END < $d_c2_3 THEN 2 ELSE 3 END END END AS UTINYINT) AS c2, CAST(CASE WHEN CAST(t."height" AS DOUBLE) IS NULL OR isnan(CAST(t."height" AS DOUBLE)) THEN 2 ELSE CASE WHEN CAST(t."height" AS DOUBLE) < $d_c3_low OR CAST(t."height" AS DOUBLE) > $d_c3_high THEN 2 ELSE CASE WHEN CAST(t."height" AS DOUBLE) < $d_c3_1 THEN 0 ELSE 1 END END END AS UTINYINT) AS c3, CAST(CASE WHEN t."owner" THEN 0 WHEN NOT t."owner" THEN 1 ELSE 2 END AS UTINYINT) AS c4, CAST(coalesce(CAST($d_y_codes AS INTEGER[])[list_position(CAST($d_y_values AS VARCHAR[]),
CAST(t."class" AS VARCHAR) COLLATE "binary")], 2) AS UTINYINT) AS y, t."id" AS person
  FROM read_parquet($path) AS t ) WHERE c1 < 2 AND c2 < 5 AND c3 < 2 AND c4 < 2 AND y < 2 AND person IS NOT NULL QUALIFY row_number() OVER (PARTITION BY person ORDER BY c0, c1, c2, c3, c4, y) <= 2)
-- $path = people.parquet
-- $d_c0_codes = [0, 1, 2, 3]
-- $d_c0_values = ['complete', 'foster', 'other', '?']
-- $d_c1_codes = [0, 1]
-- $d_c1_values = [1.0, 2.0]
-- $d_c2_1 = 22.5
-- $d_c2_2 = 45.0
-- $d_c2_3 = 67.5
-- $d_c3_1 = 1.7
-- $d_c3_low = 1.5
-- $d_c3_high = 2.0
-- $d_y_codes = [0, 1]
-- $d_y_values = ['no', 'yes']
-- $secret = ...

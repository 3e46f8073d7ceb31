SELECT *
  FROM (SELECT *, row_number() OVER (PARTITION BY person ORDER BY c0,
  c1,
  c2,
  c3,
  c4, y) AS turn
  FROM (SELECT CASE WHEN t."form" IS NULL THEN 3 ELSE coalesce(($1::jsonb ->> t."form"::text)::int, 2) END AS c0,
  coalesce(($3::int[])[width_bucket(t."rooms"::int8, $2::int8[]) + 1], 2) AS c1,
  coalesce(width_bucket(nullif(CASE WHEN t."age"::text COLLATE "C" ~* '^[ \t\n\v\f\r]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?0*1?[0-9]?[0-9])?[ \t\n\v\f\r]*$' AND length(t."age"::text COLLATE "C") <= 100 THEN (t."age"::text COLLATE "C")::float8 WHEN t."age"::text COLLATE "C" ~* '^[ \t\n\v\f\r]*[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]+)?[ \t\n\v\f\r]*$' AND length(t."age"::text COLLATE "C") <= 1000 THEN CASE WHEN abs(regexp_replace(t."age"::text COLLATE "C", 'e([+-]?)[0-9]*[1-9][0-9]{3,}[ \t\n\v\f\r]*$', 'e\1999', 'i')::numeric) < 1e-300 THEN 0 WHEN regexp_replace(t."age"::text COLLATE "C", 'e([+-]?)[0-9]*[1-9][0-9]{3,}[ \t\n\v\f\r]*$', 'e\1999', 'i')::numeric IS NOT NULL THEN least(greatest(regexp_replace(t."age"::text COLLATE "C", 'e([+-]?)[0-9]*[1-9][0-9]{3,}[ \t\n\v\f\r]*$', 'e\1999', 'i')::numeric, -1.7976931348623157e308), 1.7976931348623157e308)::float8 END WHEN t."age"::text COLLATE "C" ~* '^[ \t\n\v\f\r]*[+]?inf(inity)?[ \t\n\v\f\r]*$' THEN 'Infinity' WHEN t."age"::text COLLATE "C" ~* '^[ \t\n\v\f\r]*-inf(inity)?[ \t\n\v\f\r]*$' THEN '-Infinity' WHEN t."age"::text COLLATE "C" ~* '^[ \t\n\v\f\r]*[+-]?nan[ \t\n\v\f\r]*$' THEN 'NaN' END, 'NaN'), $4::float8[]), 4) AS c2,
  coalesce(($6::int[])[width_bucket(nullif(t."height"::float8, 'NaN'), $5::float8[]) + 1], 2) AS c3,
  CASE WHEN t."owner" THEN 0 WHEN NOT t."owner" THEN 1 ELSE 2 END AS c4,
  coalesce(($7::jsonb ->> t."class"::text)::int, 2) AS y, trim_scale(t."id") AS person
  FROM "public"."people" AS t OFFSET '0') AS e
  WHERE CASE WHEN c1 < 2 AND c2 < 5 AND c3 < 2 AND c4 < 2 AND y < 2 AND person IS NOT NULL THEN true ELSE false END) AS p
  WHERE turn <= 2
-- $1 = {"complete": 0, "foster": 1, "other": 2, "?": 3}
-- $2 = [1, 2, 3]
-- $3 = [2, 0, 1, 2]
-- $4 = [22.5, 45.0, 67.5]
-- $5 = [1.5, 1.7, 2.0000000000000004]
-- $6 = [2, 0, 1, 2]
-- $7 = {"no": 0, "yes": 1}

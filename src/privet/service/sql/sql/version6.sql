-- Version 6: quantiles of the rows that meet a condition. Also where an analyst has a view of the function.
DROP FUNCTION IF EXISTS privet.choose_quantile(text, text, text, text, text, text) CASCADE;

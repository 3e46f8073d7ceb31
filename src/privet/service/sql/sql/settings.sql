-- No setting of the caller's may matter, nor show what happens inside.
DO $$
DECLARE
    call text;
    setting text;
BEGIN
    FOREACH call IN ARRAY ARRAY['ask(text, jsonb, numeric)', 'answer(uuid)', 'receipt(uuid)', 'budget(text)'] LOOP
        FOREACH setting IN ARRAY ARRAY[
            'search_path = pg_catalog, pg_temp', 'row_security = off', 'client_min_messages = error', 'debug_print_parse = off',
            'debug_print_rewritten = off', 'debug_print_plan = off', 'TimeZone = ''UTC''', 'DateStyle = ''ISO, YMD''',
            'IntervalStyle = ''postgres''', 'extra_float_digits = 1', 'bytea_output = hex', 'standard_conforming_strings = on',
            'transform_null_equals = off', 'array_nulls = on', 'jit = off'
        ] LOOP
            EXECUTE format('ALTER FUNCTION privet.%s SET %s', call, setting);
        END LOOP;
    END LOOP;
END $$;

REVOKE ALL ON ALL TABLES IN SCHEMA privet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privet FROM PUBLIC;

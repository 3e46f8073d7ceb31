-- What analysts may call; all else in the schema is for its owner.
CREATE OR REPLACE FUNCTION privet.calls() RETURNS text[] LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp RETURN ARRAY[
    'ask(text, jsonb, numeric, text[], text)', 'answer(uuid)', 'counts(uuid)', 'numbers(uuid)', 'receipt(uuid)', 'budget(text)',
    'my_datasets()', 'my_labels(text)', 'my_history()', 'my_reservations()',
    'ask_walks(text, text, text, text, integer, integer, integer[], integer[], integer[], integer[], integer[], integer[], integer[], integer[], '
    'integer[], integer[])',
    'choose(text, text, text, text, text, integer, integer, integer, integer[], integer[], integer[], integer[], integer[], integer[], integer[], '
    'integer[], integer[])',
    'ask_sum(text, text, integer[], jsonb, numeric, text[], text)', 'choose_label(text, text, text, jsonb, text)',
    'choose_quantile(text, text, text, text, text, text, jsonb)',
    'reserve(text, text, text, text, text)', 'close_reservation(text, text, text)'
];

REVOKE ALL ON ALL TABLES IN SCHEMA privet FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privet FROM PUBLIC;

-- No setting of the caller's may matter, nor show what happens inside. Who could call what there was before may call what there is now.
DO $$
DECLARE
    call text;
    setting text;
    role text;
BEGIN
    FOREACH call IN ARRAY privet.calls() LOOP
        FOREACH setting IN ARRAY ARRAY[
            'search_path = pg_catalog, pg_temp', 'row_security = off', 'client_min_messages = error', 'debug_print_parse = off',
            'debug_print_rewritten = off', 'debug_print_plan = off', 'TimeZone = ''UTC''', 'DateStyle = ''ISO, YMD''',
            'IntervalStyle = ''postgres''', 'extra_float_digits = 1', 'bytea_output = hex', 'standard_conforming_strings = on',
            'transform_null_equals = off', 'array_nulls = on', 'jit = off'
        ] LOOP
            EXECUTE format('ALTER FUNCTION privet.%s SET %s', call, setting);
        END LOOP;
        FOR role IN SELECT r.role FROM privet.roles AS r JOIN pg_roles AS p ON p.rolname = r.role LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION privet.%s TO %I', call, role);
        END LOOP;
    END LOOP;
END $$;

"""Count and score blocks of encoded rows.

- :mod:`~privet.tables.counting.passes`: compile a question once, then feed it blocks of codes
- :mod:`~privet.tables.counting.leaf_bits`: all leaves of a forest as one string of bits
- :mod:`~privet.tables.counting.kernels`: the compiled loops
- :mod:`~privet.tables.counting.scoring`: what released trees say about rows, in fixed point
- :mod:`~privet.tables.counting.kept_scores`: the same, kept from question to question
- :mod:`~privet.tables.counting.marginals`: weighted contingency tables, for drawing trees
- :mod:`~privet.tables.counting.covering`: which larger tables these follow from
- :mod:`~privet.tables.counting.row_sums`: what is summed over rows, wherever they are
"""

"""Draft a schema: from a public sample, or from what is written about a table's columns.

- :mod:`~privet.domain.drafting.identifiers`: columns that tell who somebody is
- :mod:`~privet.domain.drafting.sample`: attributes from the entries of a public sample
- :mod:`~privet.domain.drafting.facts`: what is written about a column
- :mod:`~privet.domain.drafting.catalog`: attributes from that alone, and what is still blank
- :mod:`~privet.domain.drafting.answers`: what somebody says about a column
- :mod:`~privet.domain.drafting.drafted`: a schema with what was left out, and why
"""

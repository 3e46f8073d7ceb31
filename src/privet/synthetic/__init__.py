"""Publish a table of synthetic rows that describe no real person.

- :mod:`~privet.synthetic.synthesize`: from a curator to a synthetic table
- :mod:`~privet.synthetic.structure`: choose privately which attributes are measured together
- :mod:`~privet.synthetic.class_tree`: the graphical model
- :mod:`~privet.synthetic.rows`: draw rows, and write codes as values
- :mod:`~privet.synthetic.check`: compare with held-out rows, privately
- :mod:`~privet.synthetic.files`: files and cards
"""

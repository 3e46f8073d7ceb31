"""A synthetic table: the owner publishes rows that nobody is, drawn from noisy counts.

- :mod:`~privet.publish.synthetic.groups`: values that are too rare to be told apart under the noise
- :mod:`~privet.publish.synthetic.structure`: which pairs of attributes are measured, chosen
  privately
- :mod:`~privet.publish.synthetic.class_tree`: the graphical model, fitted to the noisy counts
- :mod:`~privet.publish.synthetic.rows`: rows drawn from it
- :mod:`~privet.publish.synthetic.values`: codes as the schema's own values
- :mod:`~privet.publish.synthetic.synthesize`: all of it, and what it costs
- :mod:`~privet.publish.synthetic.check`: how near the rows are to a held-out table, and what that
  costs
- :mod:`~privet.publish.synthetic.card`: what an officer wants to know, and the report
- :mod:`~privet.publish.synthetic.files`: the table as a file
"""

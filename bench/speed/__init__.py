"""How fast Privet is beside its peers and beside memory, how it grows, predicts and imports:
``python -m bench.speed``.

- :mod:`~bench.speed.__main__`: the command
- :mod:`~bench.speed.plan`: what is measured
- :mod:`~bench.speed.contestants`: who takes part, and where their code is
- :mod:`~bench.speed.ours`, :mod:`~bench.speed.others`, :mod:`~bench.speed.by_hand`: Privet;
  scikit-learn and diffprivlib; SQL for DuckDB
- :mod:`~bench.speed.rows`: the table that all of them read
- :mod:`~bench.speed.one`: one measurement, in a process of its own
- :mod:`~bench.speed.memory`: peak memory of a process, and the bandwidth of memory
- :mod:`~bench.speed.imports`: what starting costs
- :mod:`~bench.speed.results`: measurements, and the CSV file that keeps them
- :mod:`~bench.speed.summary`: ratios, slopes, goals
- :mod:`~bench.speed.report`, :mod:`~bench.speed.pictures`: the page
- :mod:`~bench.speed.out_of_core`: writes a Parquet file of any size, block by block

Nothing is imported here: some of it runs in the peers' environment, where Privet is not.
"""

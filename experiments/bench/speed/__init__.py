"""How fast Privet is beside its peers and beside memory, how it grows, predicts and imports:
``python -m experiments.bench.speed``.

- :mod:`~experiments.bench.speed.__main__`: the command
- :mod:`~experiments.bench.speed.plan`: what is measured
- :mod:`~experiments.bench.speed.contestants`: who takes part, and where their code is
- :mod:`~experiments.bench.speed.ours`, :mod:`~experiments.bench.speed.others`,
  :mod:`~experiments.bench.speed.by_hand`: Privet; scikit-learn and diffprivlib; SQL for DuckDB
- :mod:`~experiments.bench.speed.learners`: whole learners beside each other
- :mod:`~experiments.bench.speed.rows`: the table that all of them read
- :mod:`~experiments.bench.speed.one`: one measurement, in a process of its own
- :mod:`~experiments.bench.speed.memory`: peak memory of a process, and the bandwidth of memory
- :mod:`~experiments.bench.speed.processes`: CPU seconds of a process and all that it started
- :mod:`~experiments.bench.speed.on_spark`: draws on a Spark cluster of this machine
- :mod:`~experiments.bench.speed.imports`: what starting costs
- :mod:`~experiments.bench.speed.results`: measurements, and the CSV file that keeps them
- :mod:`~experiments.bench.speed.summary`: ratios, slopes, goals
- :mod:`~experiments.bench.speed.report`, :mod:`~experiments.bench.speed.pictures`: the page
- :mod:`~experiments.bench.speed.out_of_core`: writes a Parquet file of any size, block by block

Nothing is imported here: some of it runs in the peers' environment, where Privet is not.
"""

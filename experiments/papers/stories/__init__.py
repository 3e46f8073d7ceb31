"""Small stories that the papers tell instead of measuring, each made executable: made-up people,
public seeds, numbers that can come out otherwise.

- :mod:`~experiments.papers.stories.diseases`: Hanisch's two patients, 2-anonymous and 2-diverse
- :mod:`~experiments.papers.stories.millionaires`: his count of millionaires at epsilon ln 2
- :mod:`~experiments.papers.stories.linkage`: Sweeney's voter roll and hospital table
- :mod:`~experiments.papers.stories.love_canal`: a diagnosis that tells where somebody lives
"""

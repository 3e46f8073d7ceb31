"""Which versions of Python and of our dependencies pass: environments, tests and the page."""

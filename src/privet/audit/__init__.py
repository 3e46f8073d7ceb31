"""Is the claimed epsilon true? Tests of whole fitted models in two worlds that differ in one person."""

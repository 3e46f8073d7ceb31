"""All mutants, by the part of the package that they are in."""

from experiments.mutants.listed import (
    asking,
    auditing,
    chance,
    counting,
    handing_out,
    lying,
    money,
    outsourcing,
    publishing,
    timing,
)

MUTANTS = (
    *chance.MUTANTS,
    *counting.MUTANTS,
    *asking.MUTANTS,
    *lying.MUTANTS,
    *money.MUTANTS,
    *publishing.MUTANTS,
    *handing_out.MUTANTS,
    *outsourcing.MUTANTS,
    *timing.MUTANTS,
    *auditing.MUTANTS,
)

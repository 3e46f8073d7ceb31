"""The Gibbs mechanism: one draw of a whole labelled tree."""

"""The tables' history: each change that a database goes through when Geodrome is renewed."""

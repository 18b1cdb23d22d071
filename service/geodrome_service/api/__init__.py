"""The only room that speaks HTTP."""

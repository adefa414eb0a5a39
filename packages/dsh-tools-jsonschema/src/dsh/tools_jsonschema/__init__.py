"""The JSON Schema subset of structured output: assert a schema, validate a value, make one from a type."""

"""The JSON Schema subset of structured output.

Assert a schema, validate a value, make one from a type.
"""

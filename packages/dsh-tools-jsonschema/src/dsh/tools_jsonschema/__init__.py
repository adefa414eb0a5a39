"""The JSON Schema subset of structured output."""

"""A chat model for Anthropic's API."""

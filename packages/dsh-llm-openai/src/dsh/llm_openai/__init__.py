"""A chat model for any OpenAI-compatible endpoint."""

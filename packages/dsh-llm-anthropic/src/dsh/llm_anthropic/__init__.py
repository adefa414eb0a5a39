"""A chat model for Anthropic's API.

Read ``_config`` and ``_model``, then ``_request`` (what is sent), ``_thinking`` (whose reasoning is
sent back), ``_answer`` (what comes back) and ``_client`` (how). What every wire has in common is in
``dsh.agent.wire``. ``_factory`` is how a host finds it all.
"""

from dsh.llm_anthropic._config import AnthropicConfig
from dsh.llm_anthropic._factory import AnthropicModelFactory, model_factory
from dsh.llm_anthropic._model import AnthropicModel

__all__ = ["AnthropicConfig", "AnthropicModel", "AnthropicModelFactory", "model_factory"]

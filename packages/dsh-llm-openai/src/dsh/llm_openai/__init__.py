"""A chat model for any OpenAI-compatible endpoint.

Read ``_config`` and ``_model``, then ``_request`` (what is sent), ``_answer`` (what comes back) and
``_client`` (how). What every wire has in common is in ``dsh.agent.wire``. ``_factory`` is how a
host finds it all.
"""

from dsh.llm_openai._config import OpenAIConfig
from dsh.llm_openai._factory import OpenAIModelFactory, model_factory
from dsh.llm_openai._model import OpenAIModel

__all__ = ["OpenAIConfig", "OpenAIModel", "OpenAIModelFactory", "model_factory"]

"""Records a chat model's answers to JSON lines and replays them.

Read ``_recording`` (what a recording is made of), ``_recorder`` and ``_replay`` (the two models),
``_difference`` (how a request that is another one is told) and ``_errors``. ``_factory`` is how a
host finds it all.
"""

from dsh.llm_replay._config import ReplayConfig
from dsh.llm_replay._errors import RecordingError, ReplayError
from dsh.llm_replay._factory import ReplayModelFactory, model_factory
from dsh.llm_replay._recorder import RecordingModel
from dsh.llm_replay._replay import ReplayModel

__all__ = [
    "RecordingError",
    "RecordingModel",
    "ReplayConfig",
    "ReplayError",
    "ReplayModel",
    "ReplayModelFactory",
    "model_factory",
]

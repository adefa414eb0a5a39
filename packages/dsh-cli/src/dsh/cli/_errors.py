"""What the command refuses by itself; all else it passes on in the words of who refused."""

from dsh.agent import HarnessError

__all__ = ["BadInputError", "CliError", "NoModelChosenError"]


class CliError(HarnessError):
    """Base of what ``dsh.cli`` refuses."""


class BadInputError(CliError):
    """An argument, or what it names, cannot be used; nothing was started.

    ``argument`` says which, ``problem`` why not.
    """

    code = "BAD_INPUT"

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"{argument}: {problem}")
        self.argument = argument
        self.problem = problem


class NoModelChosenError(CliError):
    """No model was named, and the environment has no key that would choose one."""

    code = "NO_MODEL_CHOSEN"

    def __init__(self, keys: tuple[str, ...]) -> None:
        super().__init__(
            f"no model: set a key ({', '.join(keys)}), or name one with --model (dsh models lists "
            "them), or replay a recording with --model replay:FILE (dsh demo shows one)"
        )
        self.keys = keys

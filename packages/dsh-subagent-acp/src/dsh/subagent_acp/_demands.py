"""What of a request an agent behind the protocol can be given. Pure; refusals come early."""

from typing import TYPE_CHECKING, Final, cast

from dsh.agent import AgentOptions, ImageBlock, TextBlock
from dsh.subagent import ResolvedRequest
from dsh.subagent_acp._errors import AcpPromptError
from dsh.subagent_acp._protocol import Carriable
from dsh.subagent_acp._structured import instruction

if TYPE_CHECKING:
    from acp.schema import InitializeResponse, NewSessionResponse

__all__ = ["model_option", "prompt_blocks", "refuse_images", "refuse_options"]

_NOT_OURS: Final = ("options", "max_steps", "max_parallel_tool_calls")


def prompt_blocks(request: ResolvedRequest) -> tuple[Carriable, ...]:
    """Return the blocks of the first prompt, with what a structured answer needs.

    Raises:
      AcpPromptError: the prompt holds a block that the protocol has no form for.
    """
    for block in request.prompt:
        if not isinstance(block, TextBlock | ImageBlock):
            raise AcpPromptError(
                f"the prompt holds a {type(block).__name__}; an agent over ACP takes text, and "
                "pictures where it says so"
            )
    blocks = cast("tuple[Carriable, ...]", request.prompt)
    if request.output_schema is None:
        return blocks
    return (*blocks, TextBlock(text=instruction(request.output_schema)))


def refuse_options(options: AgentOptions) -> None:
    """Refuse what no agent over the protocol can be told.

    Raises:
      AcpPromptError: something else than a model is asked for.
    """
    given = [name for name in _NOT_OURS if getattr(options, name)]
    if given:
        raise AcpPromptError(
            f"agent_options.{given[0]} is given; of the options an agent over ACP takes only model"
        )


def refuse_images(blocks: tuple[Carriable, ...], agent: "InitializeResponse") -> None:
    """Refuse pictures for an agent that takes none.

    Raises:
      AcpPromptError: there is one.
    """
    capabilities = agent.agent_capabilities
    prompts = None if capabilities is None else capabilities.prompt_capabilities
    if prompts is not None and prompts.image:
        return
    if any(isinstance(block, ImageBlock) for block in blocks):
        raise AcpPromptError("the prompt holds a picture, and this agent says it takes none")


def model_option(model: str, session: "NewSessionResponse") -> str:
    """Return the id of the session's option that selects *model*.

    Raises:
      AcpPromptError: the agent offers no choice of models, or not this one.
    """
    offered: list[str] = []
    for option in session.config_options or ():
        if option.type != "select" or option.category != "model":
            continue
        for each in option.options:
            values = [each.value] if hasattr(each, "value") else [one.value for one in each.options]
            if model in values:
                return option.id
            offered += values
    known = ", ".join(offered) or "no choice"
    raise AcpPromptError(f"the model {model!r} cannot be chosen; the agent offers: {known}")

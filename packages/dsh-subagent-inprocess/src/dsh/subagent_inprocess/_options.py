"""How a child calls its model: as its parent does, unless the request says otherwise. Pure."""

from dsh.agent import AgentOptions

__all__ = ["child_options"]


def child_options(parent: AgentOptions | None, own: AgentOptions) -> AgentOptions:
    """Return what *own* says, and where it is silent what *parent* has in force.

    Sampling and provider options belong to a model: with another model the parent's are left
    behind, and only *own* ones count. Without a *parent* the host's defaults fill the gaps.
    """
    if parent is None:
        return own
    same_model = own.model is None or own.model == parent.model
    if same_model and own == _NOTHING:
        return parent
    return AgentOptions(
        model=own.model or parent.model,
        options={**parent.options, **own.options} if same_model else own.options,
        max_steps=own.max_steps or parent.max_steps,
        max_parallel_tool_calls=own.max_parallel_tool_calls or parent.max_parallel_tool_calls,
    )


_NOTHING = AgentOptions()

"""What a host decides about one mounted tool."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["SubagentToolConfig", "ToolFilterConfig"]

Count = Annotated[int, Field(strict=True, ge=1)]


class ToolFilterConfig(BaseModel):
    """Which of the host's tools children may use; ``allow: []`` allows none (B-TSUB-13)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    allow: tuple[str, ...] | None = Field(
        default=None, description="The only tools that children may use; left out, all."
    )
    deny: tuple[str, ...] | None = Field(
        default=None, description="Tools that children may not use."
    )

    @model_validator(mode="after")
    def _names_something(self) -> "ToolFilterConfig":
        if self.allow is None and self.deny is None:
            raise ValueError("needs allow or deny; leave the filter out to filter nothing")
        return self


class SubagentToolConfig(BaseModel):
    """One delegation tool: which provider it starts children on, and within which bounds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str = Field(
        min_length=1, description="The provider that every call starts a child on."
    )
    tool_name: str = Field(
        default="subagent",
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="What the model calls it; mounts side by side need different names.",
    )
    model: str | None = Field(
        default=None, description="The children's model; left out, the provider decides."
    )
    max_steps: Count | None = Field(
        default=None,
        description="How many model requests a child's turn may make; left out, as its parent's.",
    )
    persona: str | None = Field(
        default=None, description="The children's persona, in place of the host's."
    )
    tool_filter: ToolFilterConfig | None = Field(
        default=None, description="Which tools children may use, within what their parent may."
    )
    output_schema: dict[str, Any] | None = Field(
        default=None, description="A JSON schema that children answer in; the result is JSON."
    )
    max_depth: Annotated[int, Field(strict=True, ge=0, le=2**53 - 1)] | None = Field(
        default=3, description="The deepest a child may lie; 0 forbids children, null any bound."
    )
    max_children: Count | None = Field(
        default=100,
        description="How many children one agent may start with it in its life; null: any.",
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds a child may take, its start included.",
    )
    max_result_chars: Count = Field(
        default=50_000, description="Characters of a child's answer that its parent is shown."
    )
    allow_unrestricted: bool = Field(
        default=False,
        description="Whether an agent whose tools are restricted may start children on a provider "
        "that cannot restrict them.",
    )

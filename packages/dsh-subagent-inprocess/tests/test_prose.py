"""What a structured child reads comes with the package."""

from importlib.resources import files

from dsh.subagent_inprocess import STRUCTURED_OUTPUT_TOOL, _prose


def test_the_prose_is_shipped_and_names_the_tool() -> None:
    folder = files("dsh.subagent_inprocess")
    for name, text in (("instruction", _prose.INSTRUCTION), ("nudge", _prose.NUDGE)):
        assert folder.joinpath(f"{name}.md").is_file()
        assert f"`{STRUCTURED_OUTPUT_TOOL}`" in text
        assert "\n" not in text
    assert _prose.DESCRIPTION

"""What one task raised, out of the groups that nurseries put around it."""

from dsh.agent import unwrapped


def test_a_group_of_one_is_unwrapped_however_deep() -> None:
    error = ValueError("the one")

    assert unwrapped(ExceptionGroup("outer", [ExceptionGroup("inner", [error])])) is error


def test_a_group_of_several_stays_whole_without_the_groups_around_it() -> None:
    several = BaseExceptionGroup("several", [ValueError("a"), KeyboardInterrupt()])

    assert unwrapped(BaseExceptionGroup("outer", [several])) is several


def test_an_error_of_no_group_is_itself() -> None:
    error = KeyboardInterrupt()

    assert unwrapped(error) is error

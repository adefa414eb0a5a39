"""For tests of hosts and backends: a scripted model, legal logs, a sweep, a check for leaks.

Read ``_scripted`` (the model), ``_steps`` (what its scripts are made of) and ``_logs``. ``_leaks``
proves that a block leaves nothing behind; ``dsh.agent.testing.plugin`` has it as a pytest fixture.
``_sweep`` cancels a scenario at every one of its scheduler steps: ``_stage`` (what a scenario
declares), then ``_course``, ``_trial``, ``_counter``; ``faults`` shows that it bites. ``_hang`` is
a bound on one test, for those who run no sweep.
"""

from dsh.agent.testing import faults
from dsh.agent.testing._awaits import AwaitPoint, AwaitShare
from dsh.agent.testing._cut import Cut, Side
from dsh.agent.testing._hang import ends_within
from dsh.agent.testing._leaks import LeakError, Probe, assert_no_leaks
from dsh.agent.testing._logs import completed_turn, interrupted_turn
from dsh.agent.testing._probes import AgentList, HostLike, host_probe
from dsh.agent.testing._report import SweepFailedError, SweepFailure, SweepReport
from dsh.agent.testing._scripted import ScriptedModel
from dsh.agent.testing._stage import Route, SweepStage
from dsh.agent.testing._steps import (
    Failure,
    Hang,
    Script,
    Step,
    call,
    call_raw,
    fail,
    hang,
    reply,
    say,
    think,
)
from dsh.agent.testing._sweep import replay, sweep
from dsh.agent.testing._trial import HangError, RouteError, Scenario

__all__ = [
    "AgentList",
    "AwaitPoint",
    "AwaitShare",
    "Cut",
    "Failure",
    "Hang",
    "HangError",
    "HostLike",
    "LeakError",
    "Probe",
    "Route",
    "RouteError",
    "Scenario",
    "Script",
    "ScriptedModel",
    "Side",
    "Step",
    "SweepFailedError",
    "SweepFailure",
    "SweepReport",
    "SweepStage",
    "assert_no_leaks",
    "call",
    "call_raw",
    "completed_turn",
    "ends_within",
    "fail",
    "faults",
    "hang",
    "host_probe",
    "interrupted_turn",
    "replay",
    "reply",
    "say",
    "sweep",
    "think",
]

"""What every call of every service goes through, over a real server with generated servicers."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from structlog.testing import capture_logs

from roundtable.engine.v1 import engine_pb2, engine_pb2_grpc
from roundtable.session.v1 import session_pb2, session_pb2_grpc
from services.runtime.errors import BindError, Reason, ServiceError
from services.runtime.health import Check, some_server_lives
from services.runtime.interceptors import outgoing_metadata
from services.runtime.server import Ready, Runtime, open_channel, serving
from services.runtime.settings import Settings

SESSION = "roundtable.session.v1.SessionService"
SETTINGS = Settings(max_message_bytes=2048, drain_seconds=2)
GARBLED = b"\x0a\xff\xff\xff\xff\x0f"


class Session(session_pb2_grpc.SessionServiceServicer):
    """Does what the game id says."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.release = asyncio.Event()
        self.waiting = asyncio.Event()

    async def GetView(self, request: session_pb2.GetViewRequest, context: Any) -> session_pb2.GetViewResponse:
        match request.game_id:
            case "refuse":
                raise ServiceError(Reason.GAME_NOT_FOUND, "no such game", field="game_id")
            case "field":
                raise ServiceError(Reason.UNKNOWN_GAME_OPTION, "no such option", field=f"options.{'x' * 1_000_000}")
            case "fail":
                raise LookupError("the traitor is seat 3")
            case "wait":
                self.waiting.set()
                try:
                    await self.release.wait()
                except asyncio.CancelledError:
                    self.cancelled.set()
                    raise
            case "relay":
                return session_pb2.GetViewResponse(cursor=dict(outgoing_metadata())["x-request-id"])
        return session_pb2.GetViewResponse(cursor=request.game_id)

    async def Watch(self, request: session_pb2.WatchRequest, context: Any) -> AsyncIterator[session_pb2.WatchResponse]:
        try:
            yield session_pb2.WatchResponse(cursor="1")
            if request.game_id == "refuse":
                raise ServiceError(Reason.CURSOR_UNKNOWN, "from a lost future")
            if request.game_id == "wait":
                await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


class Engine(engine_pb2_grpc.EngineServiceServicer):
    async def Resolve(
        self, requests: AsyncIterator[engine_pb2.ResolveRequest], context: Any
    ) -> AsyncIterator[engine_pb2.ResolveResponse]:
        async for request in requests:
            yield engine_pb2.ResolveResponse(call=request.call)


class Bench:
    """A running server and a client of it."""

    def __init__(self, servicer: Session, ready: Ready, channel: aio.Channel) -> None:
        self.servicer = servicer
        self.ready = ready
        self.channel: Any = channel  # for calls outside the contracts
        self.health: Any = health_pb2_grpc.HealthStub(channel)  # its stubs have no types
        self.session = session_pb2_grpc.SessionServiceStub(channel)
        self.engine = engine_pb2_grpc.EngineServiceStub(channel)

    async def view(self, game_id: str, **call: Any) -> session_pb2.GetViewResponse:
        return await self.session.GetView(session_pb2.GetViewRequest(game_id=game_id), **call)

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://{self.ready.metrics_address}/metrics") as answer:
            return str(answer.read(), "utf-8")


@asynccontextmanager
async def serving_bench(settings: Settings = SETTINGS, check: Check | None = None) -> AsyncIterator[Bench]:
    servicer = Session()  # type: ignore[abstract]  # what it lacks is UNIMPLEMENTED

    @asynccontextmanager
    async def compose(runtime: Runtime) -> AsyncIterator[None]:
        session_pb2_grpc.add_SessionServiceServicer_to_server(servicer, runtime.server)
        engine = Engine()  # type: ignore[abstract]
        engine_pb2_grpc.add_EngineServiceServicer_to_server(engine, runtime.server)
        if check is not None:
            runtime.readiness.needs("store", check)
        yield

    async with (
        serving("session", SESSION, settings, compose) as ready,
        open_channel(ready.address, settings) as channel,
    ):
        yield Bench(servicer, ready, channel)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with serving_bench() as running:
        yield running


def reason(error: aio.AioRpcError) -> str:
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    assert status is not None, error
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info.reason


async def test_a_call_gets_its_request_id_and_the_servers_time_back(bench: Bench) -> None:
    call = bench.session.GetView(session_pb2.GetViewRequest(game_id="b17-1"), metadata=(("x-request-id", "seven"),))
    trailers = dict(await call.trailing_metadata())

    assert (await call).cursor == "b17-1"
    assert trailers["x-request-id"] == "seven"
    assert 0 < float(trailers["server-timing-ms"]) < 5000


@pytest.mark.parametrize("unfit", ["", "with space", "x" * 65])
async def test_an_unfit_request_id_is_replaced(bench: Bench, unfit: str) -> None:
    call = bench.session.GetView(session_pb2.GetViewRequest(), metadata=(("x-request-id", unfit),))
    await call

    assert len(dict(await call.trailing_metadata())["x-request-id"]) == 32


async def test_the_request_id_travels_on_to_other_services(bench: Bench) -> None:
    assert (await bench.view("relay", metadata=(("x-request-id", "seven"),))).cursor == "seven"


async def test_a_refusal_becomes_its_status(bench: Bench) -> None:
    with pytest.raises(aio.AioRpcError) as refused:
        await bench.view("refuse")

    back = ServiceError.from_rpc_error(refused.value, Reason.SESSION_UNAVAILABLE)
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert (back.reason, back.message, back.field) == (Reason.GAME_NOT_FOUND, "no such game", "game_id")
    assert "x-request-id" in dict(refused.value.trailing_metadata())


async def test_a_stream_is_refused_after_what_it_gave(bench: Bench) -> None:
    watch: Any = bench.session.Watch(session_pb2.WatchRequest(game_id="refuse"))

    assert (await watch.read()).cursor == "1"
    with pytest.raises(aio.AioRpcError) as refused:
        await watch.read()
    assert reason(refused.value) == "CURSOR_UNKNOWN"


async def test_a_fault_of_ours_is_logged_and_tells_the_client_nothing(bench: Bench) -> None:
    with capture_logs() as logs, pytest.raises(aio.AioRpcError) as failed:
        await bench.view("fail")

    assert failed.value.code() is grpc.StatusCode.INTERNAL
    assert reason(failed.value) == "INTERNAL"
    assert "traitor" not in repr(failed.value)
    assert "traitor" not in repr(failed.value.trailing_metadata())
    assert [(line["event"], line["exc_info"]) for line in logs] == [("failed", True)]


async def test_a_garbled_message_is_the_callers_fault(bench: Bench) -> None:
    raw = bench.channel.unary_unary(f"/{SESSION}/GetView")
    with pytest.raises(aio.AioRpcError) as refused:
        await raw(GARBLED)

    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert reason(refused.value) == "MESSAGE_GARBLED"


async def test_a_garbled_message_to_a_stream_is_the_callers_fault(bench: Bench) -> None:
    watch = bench.channel.unary_stream(f"/{SESSION}/Watch")(GARBLED)
    with pytest.raises(aio.AioRpcError) as refused:
        await watch.read()
    assert reason(refused.value) == "MESSAGE_GARBLED"

    resolve = bench.channel.stream_stream("/roundtable.engine.v1.EngineService/Resolve")()
    await resolve.write(engine_pb2.ResolveRequest(call=7).SerializeToString())
    assert engine_pb2.ResolveResponse.FromString(await resolve.read()).call == 7
    await resolve.write(GARBLED)
    with pytest.raises(aio.AioRpcError) as refused:
        await resolve.read()
    assert reason(refused.value) == "MESSAGE_GARBLED"


async def test_a_message_above_the_limit_is_refused_with_a_reason(bench: Bench) -> None:
    await bench.view("x" * 2000)
    with pytest.raises(aio.AioRpcError) as refused:
        await bench.view("x" * 2049)

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert reason(refused.value) == "MESSAGE_TOO_LARGE"


async def test_a_message_far_above_the_limit_is_not_even_received(bench: Bench) -> None:
    channel: Any
    async with aio.insecure_channel(bench.ready.address) as channel:
        with pytest.raises(aio.AioRpcError) as refused:
            await channel.unary_unary(f"/{SESSION}/GetView")(b"\0" * 100_000)

    assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (await bench.view("b17-1")).cursor == "b17-1"


async def test_an_unknown_method_is_unimplemented(bench: Bench) -> None:
    with pytest.raises(aio.AioRpcError) as refused:
        await bench.channel.unary_unary(f"/{SESSION}/Cheat")(b"")
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert ServiceError.from_rpc_error(refused.value, Reason.INTERNAL).metadata == {"method": f"/{SESSION}/Cheat"}

    with pytest.raises(aio.AioRpcError) as refused:
        await bench.session.CreateGame(session_pb2.CreateGameRequest())
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert reason(refused.value) == "UNKNOWN_METHOD"

    for call in (bench.channel.unary_stream("/Cheat")(b""), bench.channel.stream_stream("/Cheat")()):
        with pytest.raises(aio.AioRpcError) as refused:
            await call.read()
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert reason(refused.value) == "UNKNOWN_METHOD"


async def test_unknown_methods_are_counted_together_and_their_names_cut(bench: Bench) -> None:
    for number in range(3):
        with pytest.raises(aio.AioRpcError) as refused:
            await bench.channel.unary_unary(f"/Cheat/{number:01000}")(b"")
    metrics = await asyncio.to_thread(bench.metrics)

    told = ServiceError.from_rpc_error(refused.value, Reason.INTERNAL).metadata["method"]
    assert (len(told), told[-23:]) == (200, "00... (1007 characters)")
    finished = 'roundtable_rpc_finished_total{code="UNIMPLEMENTED",reason="UNKNOWN_METHOD",rpc="unknown"} 3.0'
    assert finished in metrics
    assert "Cheat" not in metrics


async def test_a_field_named_by_the_caller_is_logged_and_told_in_part(bench: Bench) -> None:
    with capture_logs() as logs, pytest.raises(aio.AioRpcError) as refused:
        await bench.view("field")

    (line,) = logs
    assert line["field"] == "options." + "x" * 64 + "... (1000008 characters)"
    assert ServiceError.from_rpc_error(refused.value, Reason.INTERNAL).field == line["field"]


async def test_a_cancelled_call_stops_working(bench: Bench) -> None:
    with pytest.raises(aio.AioRpcError) as late:
        await bench.view("wait", timeout=0.1)

    assert late.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await asyncio.wait_for(bench.servicer.cancelled.wait(), 5)


async def test_a_cancelled_stream_stops_working(bench: Bench) -> None:
    watch = bench.session.Watch(session_pb2.WatchRequest(game_id="wait"))
    await watch.read()
    watch.cancel()

    await asyncio.wait_for(bench.servicer.cancelled.wait(), 5)


async def test_rate_errors_and_duration_are_counted(bench: Bench) -> None:
    await bench.view("b17-1")
    for game_id in ("refuse", "refuse", "fail"):
        with pytest.raises(aio.AioRpcError):
            await bench.view(game_id)
    metrics = await asyncio.to_thread(bench.metrics)

    rpc = f'rpc="{SESSION}/GetView"'
    assert f'roundtable_rpc_finished_total{{code="OK",reason="",{rpc}}} 1.0' in metrics
    assert f'roundtable_rpc_finished_total{{code="NOT_FOUND",reason="GAME_NOT_FOUND",{rpc}}} 2.0' in metrics
    assert f'roundtable_rpc_finished_total{{code="INTERNAL",reason="INTERNAL",{rpc}}} 1.0' in metrics
    assert f"roundtable_rpc_duration_seconds_count{{{rpc}}} 4.0" in metrics
    assert f"roundtable_rpc_open{{{rpc}}} 0.0" in metrics


async def test_health_names_the_service(bench: Bench) -> None:
    answer = await bench.health.Check(health_pb2.HealthCheckRequest(service=SESSION))

    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    with pytest.raises(aio.AioRpcError) as refused:
        await bench.health.Check(health_pb2.HealthCheckRequest(service="elsewhere"))
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND
    assert reason(refused.value) == "UNKNOWN_SERVICE"


class Need:
    """What a service needs: it answers, is silent, or says that it cannot."""

    def __init__(self) -> None:
        self.away: ServiceError | None = None
        self.answers = asyncio.Event()

    async def check(self) -> None:
        if self.away is not None:
            raise self.away
        await self.answers.wait()


@pytest.mark.parametrize("silent", [False, True])
async def test_a_service_is_ready_while_what_it_needs_answers(monkeypatch: pytest.MonkeyPatch, *, silent: bool) -> None:
    for name, seconds in (("_PERIOD_SECONDS", 0.01), ("_ANSWER_SECONDS", 0.05), ("_SILENCE_SECONDS", 0.3)):
        monkeypatch.setattr(f"services.runtime.health.{name}", seconds)
    need = Need()
    need.answers.set()
    async with serving_bench(check=need.check) as bench, asyncio.timeout(30):
        states = bench.health.Watch(health_pb2.HealthCheckRequest(service=SESSION))
        assert (await states.read()).status == health_pb2.HealthCheckResponse.SERVING

        since = asyncio.get_running_loop().time()
        if silent:
            need.answers.clear()
        else:
            need.away = ServiceError(Reason.STORE_UNAVAILABLE, "the store does not answer")
        assert (await states.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        assert asyncio.get_running_loop().time() - since > 0.2
        alive = await bench.health.Check(health_pb2.HealthCheckRequest())
        assert alive.status == health_pb2.HealthCheckResponse.SERVING

        need.away = None
        need.answers.set()
        assert (await states.read()).status == health_pb2.HealthCheckResponse.SERVING
        states.cancel()


async def test_a_service_that_starts_without_what_it_needs_is_not_ready() -> None:
    need = Need()
    need.away = ServiceError(Reason.STORE_UNAVAILABLE, "the store does not answer")
    async with serving_bench(check=need.check) as bench:
        answer = await bench.health.Check(health_pb2.HealthCheckRequest(service=SESSION))
        assert answer.status == health_pb2.HealthCheckResponse.NOT_SERVING


async def test_one_of_several_servers_is_enough(bench: Bench) -> None:
    async with aio.insecure_channel("127.0.0.1:1") as nobody:
        await some_server_lives([nobody, bench.channel], Reason.ENGINE_UNAVAILABLE)
        with pytest.raises(ServiceError) as away:
            await some_server_lives([nobody, nobody], Reason.ENGINE_UNAVAILABLE)
        assert away.value.reason is Reason.ENGINE_UNAVAILABLE


async def test_draining_lets_calls_finish_and_ends_streams() -> None:
    async with serving_bench() as bench:
        channel = aio.insecure_channel(bench.ready.address)
        session = session_pb2_grpc.SessionServiceStub(channel)
        health: Any = health_pb2_grpc.HealthStub(channel)
        states = health.Watch(health_pb2.HealthCheckRequest(service=SESSION))
        assert (await states.read()).status == health_pb2.HealthCheckResponse.SERVING
        watch = session.Watch(session_pb2.WatchRequest(game_id="wait"))
        await watch.read()
        running = asyncio.ensure_future(session.GetView(session_pb2.GetViewRequest(game_id="wait")))
        await asyncio.wait_for(bench.servicer.waiting.wait(), 5)
        asyncio.get_running_loop().call_later(0.2, bench.servicer.release.set)

    assert (await running).cursor == "wait"
    assert (await states.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
    with pytest.raises(aio.AioRpcError) as ended:
        await watch.read()
    assert ended.value.code() is grpc.StatusCode.UNAVAILABLE
    assert reason(ended.value) == "SHUTTING_DOWN"
    await channel.close()


async def test_a_taken_port_is_told_and_not_shared(bench: Bench) -> None:
    port = int(bench.ready.address.rpartition(":")[2])
    with pytest.raises(BindError, match=str(port)):
        async with serving_bench(SETTINGS.model_copy(update={"port": port})):
            pass
    with pytest.raises(BindError, match=str(port)):
        async with serving_bench(SETTINGS.model_copy(update={"metrics_port": port})):
            pass


async def test_reflection_can_be_switched_off() -> None:
    info = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    async with serving_bench(SETTINGS.model_copy(update={"reflection": False})) as bench:
        call = bench.channel.stream_stream(info)()
        with pytest.raises(aio.AioRpcError) as refused:
            await call.read()
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED

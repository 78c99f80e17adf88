"""What the server asks in the middle of a call, by each way that its question can travel."""

import asyncio
import base64
import contextlib
import re

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    ClientCapabilities,
    CreateMessageResult,
    ElicitRequest,
    ElicitResult,
    Implementation,
    InitializeRequest,
    InitializeRequestParams,
    InitializeResult,
    InitializedNotification,
    ListRootsResult,
    Root,
    RootsCapability,
    SamplingCapability,
    TextContent,
)

from peer import refused, same
from proxy import Proxy

CHECKS = []


def check(when):
    """A check of the targets that `when` holds for, which is its argument."""

    def register(function):
        CHECKS.append((function, when))
        return function

    return register


def asks(target):
    """Whether the server can ask: by a request, whose answer needs a session, or in its result."""
    return target.sessions or not target.legacy


NAME, TOWN, TRADE = "Ada Lovelace", "London Town", "counting machines"
WORDS = {
    "What is your name?": NAME,
    f"Where do you live, {NAME}?": TOWN,
    "What do you do?": TRADE,
    "What is it about?": "looms",
    "Send 1?": True,
    "Send 4?": False,
}


class Person:
    """Who sits at the client: answers, and remembers what the questions were."""

    def __init__(self, thinks=None):
        self.asked, self.thinks = [], thinks or nothing
        self.handlers = {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "list_roots_callback": self.roots,
        }

    async def elicit(self, _, form):
        self.asked.append(form.message)
        await self.thinks()
        match form.message:
            case "Send 2?":
                return ElicitResult(action="decline")
            case "Send 3?":
                return ElicitResult(action="cancel")
            case "Which colour do you like?" if self.asked.count(form.message) == 1:
                return ElicitResult(action="accept", content={"color": 7})
            case "Which colour do you like?":
                return ElicitResult(action="accept", content={"color": "mauve"})
        (field,) = form.requested_schema["properties"]
        return ElicitResult(action="accept", content={field: WORDS[form.message]})

    async def sample(self, _, question):
        self.asked.append("sampling")
        said = TextContent(type="text", text=f"heard: {text_of(question.messages[0].content)}")
        return CreateMessageResult(role="assistant", content=said, model="parrot")

    async def roots(self, _):
        self.asked.append("roots")
        return ListRootsResult(roots=[Root(uri="file:///one"), Root(uri="file:///two")])


async def nothing():
    pass


INTERVIEW = ["What is your name?", f"Where do you live, {NAME}?", "What do you do?"]


def number_of(answer):
    """How often the step between the questions of an interview has run by now."""
    number, words = answer.split(": ")
    same(words, f"{NAME}, {TOWN}, {TRADE}", "the interview")
    return int(number)


def text_of(content):
    (content,) = content if isinstance(content, list) else [content]
    return content.text


@contextlib.asynccontextmanager
async def asked(target, address=None):
    person = Person()
    async with target.connect(address, **person.handlers) as peer:
        yield peer, person


@check(asks)
async def interview(target):
    async with asked(target) as (peer, person):
        numbers = [number_of(await peer.text("interview")) for _ in range(2)]
        same(numbers[1], numbers[0] + 1, "how often the step ran")
        same(person.asked, INTERVIEW * 2, "the questions")


@check(asks)
async def transfers(target):
    wanted = ["sent 1", "declined", "cancelled", "not sent"]
    amounts = range(1, 5)
    async with asked(target) as (peer, person):
        same([await peer.text("transfer", {"amount": it}) for it in amounts], wanted)
        same(person.asked, [f"Send {it}?" for it in amounts], "the questions")
        calls = (peer.text("transfer", {"amount": it}) for it in amounts)
        same(await asyncio.gather(*calls), wanted, "all at once")


@check(asks)
async def misfit(target):
    async with asked(target) as (peer, person):
        same(await peer.text("ask"), "mauve")
        same(person.asked, ["Which colour do you like?"] * 2, "the questions")


@check(asks)
async def sampling_and_roots(target):
    async with asked(target) as (peer, person):
        answer = await peer.text("test_sampling", {"prompt": "Who is there?"})
        same(answer, "LLM response: heard: Who is there?")
        roots = await peer.text("test_input_required_result_list_roots")
        same(roots, "Roots: file:///one, file:///two")
        same(person.asked, ["sampling", "roots"], "the questions")


@check(asks)
async def several_at_once(target):
    async with asked(target) as (peer, person):
        answer = await peer.text("test_input_required_result_multiple_inputs")
        same(answer, f"{NAME}: heard: Write a greeting. (2 roots)")
        same(sorted(person.asked), ["What is your name?", "roots", "sampling"], "the questions")


@check(asks)
async def asking_prompt(target):
    async with asked(target) as (peer, _):
        got = await peer.client.get_prompt("test_input_required_result_prompt")
        same(text_of(got.messages[0].content), "Write about this: looms")


@check(asks)
async def broken_handler(target):
    async with asked(target) as (peer, person):
        call = peer.client.call_tool("transfer", {"amount": 5})  # has no answer: a KeyError
        if target.legacy:
            same((await call).is_error, True, "isError")
        else:
            # The client gives up by itself, and the server never hears of it.
            try:
                raise AssertionError(f"an answer: {await call!r}")
            except* KeyError:
                pass
        same(person.asked, ["Send 5?"], "the questions")
        same(await peer.text("transfer", {"amount": 1}), "sent 1")


@check(lambda target: target.streamable)
async def broken_question(target):
    async with Proxy(target.address) as proxy:

        async def cut():
            proxy.cut()
            proxy.mend()
            await asyncio.sleep(0.1)  # the client has to notice before it answers

        person = Person(cut)
        async with target.connect(proxy.url, **person.handlers) as peer:
            await proxy.streams()
            same(await peer.text("transfer", {"amount": 1}), "sent 1")
            same(person.asked, ["Send 1?"], "the questions")
            same(proxy.resumptions > 0, True, "the client came back")


@check(asks)
async def nobody_to_ask(target):
    async with target.connect() as peer:
        call = peer.client.call_tool("transfer", {"amount": 1})
        if target.legacy:
            cannot_be_asked(await call)
        else:
            await refused(call, [-32021])
        same(await peer.text("echo", {"text": "x"}), "x")


@check(lambda target: not asks(target))
async def no_way_to_ask(target):
    async with asked(target) as (peer, person):
        cannot_be_asked(await peer.client.call_tool("transfer", {"amount": 1}))
        same(person.asked, [], "the questions")


def cannot_be_asked(result):
    same(result.is_error, True, "isError")
    same("elicitation" in text_of(result.content), True, "it names what is missing")


@check(lambda target: not target.legacy and target.transport == "http")
async def sealed_state(target):
    async with Proxy(target.address) as proxy, asked(target, proxy.url) as (peer, _):
        number_of(await peer.text("interview"))
        unreadable(proxy.sent, 3)


def unreadable(sent, wanted):
    """Whether that many states went back, and none shows an answer, be it in base64."""
    states = re.findall(r'"(?:requestState|_state)": *"([^"]+)"', sent)
    same(len(states), wanted, "how many states came back")
    for state in states:
        decoded = b".".join(base64.urlsafe_b64decode(part + "==") for part in state.split("."))
        shown = [it for it in (NAME, TOWN) if it in state or it.encode() in decoded]
        same(shown, [], "what a state shows")


@check(lambda target: target.legacy)
async def answers_in_arguments(target):
    for revision in OLD:
        async with older(target, revision) as (session, person):
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            listed = tools["interview"].input_schema["properties"].keys()
            same({"_answers", "_state"} <= listed, True, "the arguments are listed")
            numbers = [number_of(await insist(session, person, "interview")) for _ in range(2)]
            same(numbers[1], numbers[0] + 1, "how often the step ran")
            same(person.asked, INTERVIEW * 2, "the questions")
            for amount, wanted in enumerate(["sent 1", "declined", "cancelled", "not sent"], 1):
                same(await insist(session, person, "transfer", {"amount": amount}), wanted)
            same(await insist(session, person, "ask"), "mauve")


@check(lambda target: target.sessions)
async def sampling_and_roots_before(target):
    for revision in OLD:
        async with older(target, revision) as (session, person):
            answer = await session.call_tool("test_sampling", {"prompt": "Who is there?"})
            same(text_of(answer.content), "LLM response: heard: Who is there?")
            roots = await session.call_tool("test_input_required_result_list_roots")
            same(text_of(roots.content), "Roots: file:///one, file:///two")


@check(lambda target: target.streamable)
async def sealed_state_in_arguments(target):
    for revision in OLD:
        async with (
            Proxy(target.address) as proxy,
            older(target, revision, proxy.url) as (session, person),
        ):
            number_of(await insist(session, person, "interview"))
            unreadable(proxy.sent, 3)


OLD = ("2025-03-26", "2024-11-05")


@contextlib.asynccontextmanager
async def older(target, revision, address=None):
    """A session of a revision without forms: the SDK asks for the newest alone, so by hand."""
    address = address or target.address
    streams = {
        "http": streamable_http_client,
        "stateless": streamable_http_client,
        "sse": sse_client,
        "stdio": lambda it: stdio_client(StdioServerParameters(command=it, args=["--stdio"])),
    }[target.transport](address)
    person = Person()
    answers = {name: act for name, act in person.handlers.items() if "elicitation" not in name}
    async with streams as (read, write), ClientSession(read, write, 30, **answers) as session:
        capabilities = ClientCapabilities(sampling=SamplingCapability(), roots=RootsCapability())
        params = InitializeRequestParams(
            protocol_version=revision,
            capabilities=capabilities,
            client_info=Implementation(name="interop", version="1"),
        )
        request = InitializeRequest(params=params)
        session.adopt(await session.send_request(request, InitializeResult))
        await session.send_notification(InitializedNotification())
        same(session.protocol_version, revision, "version")
        yield session, person


async def insist(session, person, tool, arguments=None):
    """Calls a tool, answers what it asks for, and calls it again with that; gives its text."""
    extra = {}
    for _ in range(10):
        result = await session.call_tool(tool, (arguments or {}) | extra)
        same(result.is_error, False, "isError")
        asked = (result.meta or {}).get("inputRequests")
        if asked is None:
            return text_of(result.content)
        answers = {key: await answer(person, question) for key, question in asked.items()}
        extra = {"_answers": answers, "_state": result.meta["requestState"]}
    raise AssertionError(f"{tool} asks for ever")


async def answer(person, question):
    form = ElicitRequest.model_validate(question).params
    return (await person.elicit(None, form)).model_dump(exclude_none=True)

"""What the server has, asked of one connected peer."""

import asyncio

from mcp.types import PromptReference, ResourceTemplateReference

from peer import INVALID_PARAMS, LEGACY, METHOD_NOT_FOUND, MODERN, refused, same, settled

CHECKS = []


def check(function):
    """A check: its name is the function's, its argument the peer."""
    CHECKS.append(function)
    return function


@check
async def negotiation(peer):
    same(peer.client.protocol_version, LEGACY if peer.legacy else MODERN, "version")
    if not peer.pinned:  # a pinned client has asked the server nothing yet
        same(bool(peer.client.server_info.name), True, "server has a name")
        for capability in ("tools", "resources", "prompts", "completions"):
            offered = getattr(peer.client.server_capabilities, capability)
            same(offered is not None, True, f"capability {capability}")


@check
async def ping(peer):
    if peer.legacy:
        await peer.client.send_ping()
    else:
        await refused(peer.client.send_ping(), [METHOD_NOT_FOUND])


@check
async def tool_listing(peer):
    tools, cursor = {}, None
    while True:
        page = await peer.client.list_tools(cursor=cursor)
        tools |= {tool.name: tool for tool in page.tools}
        cursor = page.next_cursor
        if cursor is None:
            break
    for name in ("echo", "pick", "test_simple_text", "test_error_handling"):
        same(name in tools, True, f"tool {name} is listed")
        same(tools[name].input_schema["type"], "object", f"schema of {name}")
        same(bool(tools[name].description), True, f"{name} has a description")
    same(tools["echo"].input_schema["required"], ["text"])


@check
async def echo(peer):
    for text in ("plain", "", 'é "quoted" \\ \n 漢字 🦀', "x" * 100_000):
        same(await peer.text("echo", {"text": text}), text)


@check
async def echo_many_at_once(peer):
    texts = [f"text {n}" for n in range(24)]
    answers = await asyncio.gather(*(peer.text("echo", {"text": text}) for text in texts))
    same(answers, texts)


@check
async def simple_text(peer):
    same(await peer.text("test_simple_text"), "This is a simple text response for testing.")


@check
async def image(peer):
    (content,) = (await peer.client.call_tool("test_image_content", {})).content
    same((content.type, content.mime_type), ("image", "image/png"))
    same(content.data.startswith("iVBOR"), True, "it is a PNG")


@check
async def error_result(peer):
    result = await peer.client.call_tool("test_error_handling", {})
    same(result.is_error, True, "isError")
    same(bool(result.content[0].text), True, "it says why")


@check
async def structured_result(peer):
    picked = {"count": 3, "filter": {"a": -7}, "tags": ["x", "é"]}
    result = await peer.client.call_tool("pick", picked)
    same(result.is_error, False, "isError")
    same(result.structured_content, picked)


@check
async def arguments_that_do_not_fit(peer):
    result = await peer.client.call_tool("pick", {"count": "many", "filter": {"a": 1}, "tags": []})
    same(result.is_error, True, "isError")
    same("count" in result.content[0].text, True, "it names the field")


@check
async def unknown_tool(peer):
    await refused(peer.client.call_tool("no_such_tool", {}), [INVALID_PARAMS])


@check
async def resource_listing(peer):
    listed = await peer.client.list_resources()
    uris = [str(resource.uri) for resource in listed.resources]
    same("test://static-text" in uris, True, "test://static-text is listed")
    templates = (await peer.client.list_resource_templates()).resource_templates
    uris = [template.uri_template for template in templates]
    same("test://template/{id}/data" in uris, True, "the template is listed")


@check
async def resource_reading(peer):
    (text,) = (await peer.client.read_resource("test://static-text")).contents
    same(text.text, "This is the content of the static text resource.")
    (blob,) = (await peer.client.read_resource("test://static-binary")).contents
    same((blob.mime_type, blob.blob.startswith("iVBOR")), ("image/png", True))
    (filled,) = (await peer.client.read_resource("test://template/123/data")).contents
    same("123" in filled.text, True, "the parameter is in the text")


@check
async def unknown_resource(peer):
    codes = [-32002] if peer.legacy else [INVALID_PARAMS]
    await refused(peer.client.read_resource("test://no-such-thing"), codes)


@check
async def prompt_listing(peer):
    prompts = {prompt.name: prompt for prompt in (await peer.client.list_prompts()).prompts}
    arguments = [argument.name for argument in prompts["test_prompt_with_arguments"].arguments]
    same(arguments, ["arg1", "arg2"])


@check
async def prompt_getting(peer):
    arguments = {"arg1": "one", "arg2": "zwei"}
    got = await peer.client.get_prompt("test_prompt_with_arguments", arguments)
    same(got.messages[0].role, "user")
    same("one" in got.messages[0].content.text and "zwei" in got.messages[0].content.text, True)
    await refused(peer.client.get_prompt("no_such_prompt"), [INVALID_PARAMS])


@check
async def completion(peer):
    prompt = PromptReference(type="ref/prompt", name="greet")
    found = (await peer.client.complete(prompt, {"name": "city", "value": "city-01"})).completion
    same(found.values, [f"city-01{n}" for n in range(10)])
    template = ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data")
    await peer.client.complete(template, {"name": "id", "value": "1"})


@check
async def progress(peer):
    steps = []

    async def note(progress, total, message):
        steps.append((progress, total))

    await peer.client.call_tool("test_tool_with_progress", {}, progress_callback=note)
    await settled(lambda: len(steps) >= 3)
    same(steps, [(0, 100), (50, 100), (100, 100)])


@check
async def logging(peer):
    if peer.legacy:
        await peer.client.set_logging_level("debug")
    peer.logs.clear()
    await peer.client.call_tool("test_tool_with_logging", {})
    await settled(lambda: len(peer.logs) >= 3)
    words = [log.data for log in peer.logs]
    same(len(words), 3, "number of messages")
    same("started" in str(words[0]) and "completed" in str(words[2]), True, "in order")

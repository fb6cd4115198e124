"""How three providers' interfaces say the same things: what they are asked, and what they answer.

OpenAI's two (Chat Completions, and Responses), Anthropic's Messages, and generateContent of Google's Gemini API.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Request = Mapping[str, Any]
Reply = Mapping[str, Any]


class Sent(NamedTuple):
    """What a request says. `system`: each text above the conversation. `turns`: who speaks (`user`, `assistant`, or
    `tool`, where results are given). `said`: the texts of users. `tools`: description and schema by name. `results`:
    what tools gave, as text, by the id of the call. `more`: all other fields that the request has."""

    system: list[str]
    turns: list[str]
    said: list[str]
    tools: dict[str, tuple[str, Mapping[str, Any]]]
    results: dict[str, str]
    more: dict[str, Any]


def environment(root: str, key: str) -> dict[str, str]:
    """What makes every provider's client speak to the server at `root`, with the key `key`."""
    return {
        "OPENAI_BASE_URL": f"{root}/v1",
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": root,
        "ANTHROPIC_API_KEY": key,
        "GOOGLE_GEMINI_BASE_URL": root,
        "GOOGLE_API_KEY": key,
    }


def answered(path: str, request: Request, reply: Reply) -> tuple[str, bytes]:
    """The media type and the body of `reply` (see `model_server`), as the interface at `path` gives it."""
    wire = _wire(path)
    if "status" in reply:
        return "application/json", _json(wire.fault(int(reply["status"])))
    if request.get("stream"):
        return "text/event-stream", b"".join(_streamed(reply))
    return "application/json", _json(wire.answer(reply))


def read(path: str, request: Request) -> Sent:
    return _wire(path).read(request)


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def _rest(request: Request, *known: str) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in known}


def _object(arguments: Mapping[str, Any] | str) -> object:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def _text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


# ------------------------------------------------------------------------------------- OpenAI, Chat Completions


def _completion(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply["text"]}
    if reply["calls"]:
        message["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": _text(given)}}
            for number, (name, given) in enumerate(reply["calls"])
        ]
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reply["finish"]}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def _read_completion(request: Request) -> Sent:
    messages = request["messages"]
    spoken = [message for message in messages if message["role"] not in ("system", "developer")]
    functions = [tool["function"] for tool in request.get("tools", [])]
    return Sent(
        system=[message["content"] for message in messages if message not in spoken],
        turns=[message["role"] for message in spoken],
        said=[message["content"] for message in spoken if message["role"] == "user"],
        tools={entry["name"]: (entry["description"], entry["parameters"]) for entry in functions},
        results={message["tool_call_id"]: message["content"] for message in spoken if message["role"] == "tool"},
        more=_rest(request, "messages", "tools"),
    )


def _openai_fault(status: int) -> dict[str, Any]:
    return {"error": {"message": "no", "type": "server_error"}}


# -------------------------------------------------------------------------------------------- OpenAI, Responses


def _response(reply: Reply) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": name,
            "arguments": _text(given),
            "status": "completed",
        }
        for number, (name, given) in enumerate(reply["calls"])
    ]
    if reply["text"] is not None:
        content = [{"type": "output_text", "text": reply["text"], "annotations": []}]
        output.append({"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content})
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "completed",
        "usage": {
            "input_tokens": 7,
            "output_tokens": 3,
            "total_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


_ITEMS = {"function_call": "assistant", "function_call_output": "tool"}


def _read_response(request: Request) -> Sent:
    items = request["input"]
    spoken = [item for item in items if item.get("role") not in ("system", "developer")]
    return Sent(
        system=[item["content"] for item in items if item not in spoken],
        turns=[item.get("role") or _ITEMS[item["type"]] for item in spoken],
        said=[item["content"] for item in spoken if item.get("role") == "user"],
        tools={tool["name"]: (tool["description"], tool["parameters"]) for tool in request.get("tools", [])},
        results={item["call_id"]: item["output"] for item in spoken if item.get("type") == "function_call_output"},
        more=_rest(request, "input", "tools"),
    )


# ------------------------------------------------------------------------------------------ Anthropic, Messages

_STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def _message(reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [] if not reply["text"] else [{"type": "text", "text": reply["text"]}]
    content += [
        {"type": "tool_use", "id": f"call_{number}", "name": name, "input": _object(given)}
        for number, (name, given) in enumerate(reply["calls"])
    ]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": _STOPS.get(reply["finish"]),
        "stop_sequence": None,
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }


def _streamed(reply: Reply) -> Iterator[bytes]:
    """The events of a message; arguments come in two pieces, as text."""
    message = _message(reply)
    yield _event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            yield _event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            deltas = [{"type": "text_delta", "text": block["text"]}]
        else:
            yield _event("content_block_start", index=index, content_block={**block, "input": {}})
            given = _text(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in (given[:3], given[3:])]
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": 3})
    yield _event("message_stop")


def _event(kind: str, **fields: object) -> bytes:
    return b"event: " + kind.encode() + b"\ndata: " + _json({"type": kind, **fields}) + b"\n\n"


def _read_message(request: Request) -> Sent:
    system = request.get("system", [])
    spoken = [
        ("tool" if part["type"] == "tool_result" else message["role"], part)
        for message in request["messages"]
        for part in _parts(message["content"])
    ]
    return Sent(
        system=[system] if isinstance(system, str) else [block["text"] for block in system],
        turns=[who for who, _ in spoken],
        said=[part["text"] for who, part in spoken if who == "user"],
        tools={tool["name"]: (tool["description"], tool["input_schema"]) for tool in request.get("tools", [])},
        results={part["tool_use_id"]: _joined(part["content"]) for who, part in spoken if who == "tool"},
        more=_rest(request, "system", "messages", "tools"),
    )


def _parts(content: str | Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _joined(content: str | Sequence[dict[str, Any]]) -> str:
    return "".join([part["text"] for part in _parts(content)])


def _anthropic_fault(status: int) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "api_error", "message": "no"}}


# -------------------------------------------------------------------------------------- Google, generateContent

_ENDS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def _candidates(reply: Reply) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [] if not reply["text"] else [{"text": reply["text"]}]
    parts += [
        {"functionCall": {"id": f"call_{number}", "name": name, "args": _object(given)}}
        for number, (name, given) in enumerate(reply["calls"])
    ]
    candidate: dict[str, Any] = {"index": 0, "finishReason": _ENDS.get(reply["finish"])}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    return {
        "candidates": [candidate],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10},
        "modelVersion": "m",
        "responseId": "r1",
    }


def _read_content(request: Request) -> Sent:
    spoken = [(_speaker(content["role"], part), part) for content in request["contents"] for part in content["parts"]]
    declared = [entry for tool in request.get("tools", []) for entry in tool["functionDeclarations"]]
    return Sent(
        system=[part["text"] for part in request.get("systemInstruction", {}).get("parts", [])],
        turns=[who for who, _ in spoken],
        said=[part["text"] for who, part in spoken if who == "user"],
        tools={entry["name"]: (entry["description"], entry["parameters_json_schema"]) for entry in declared},
        results={
            part["functionResponse"]["id"]: part["functionResponse"]["response"]["return_value"]
            for who, part in spoken
            if who == "tool"
        },
        more=_rest(request, "systemInstruction", "contents", "tools"),
    )


def _speaker(role: str, part: Mapping[str, Any]) -> str:
    return "tool" if "functionResponse" in part else {"model": "assistant"}.get(role, role)


def _google_fault(status: int) -> dict[str, Any]:
    return {"error": {"code": status, "message": "no", "status": "UNAVAILABLE"}}


# -------------------------------------------------------------------------------------------------------------


class _Wire(NamedTuple):
    """One interface. `end`: of the paths where it is."""

    end: str
    answer: Callable[[Reply], dict[str, Any]]
    fault: Callable[[int], dict[str, Any]]
    read: Callable[[Request], Sent]


_WIRES = (
    _Wire("/chat/completions", _completion, _openai_fault, _read_completion),
    _Wire("/responses", _response, _openai_fault, _read_response),
    _Wire("/messages", _message, _anthropic_fault, _read_message),
    _Wire(":generateContent", _candidates, _google_fault, _read_content),
)


def _wire(path: str) -> _Wire:
    return next(wire for wire in _WIRES if path.partition("?")[0].endswith(wire.end))

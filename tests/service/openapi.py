"""Holds answers of the service against docs/reference/openapi.json."""

import json
import re

import jsonschema

from harness import ROOT

DOCUMENT = json.loads((ROOT / "docs" / "reference" / "openapi.json").read_text())
METHODS = ("get", "put", "post", "delete")


def resolved(part):
    """A part of the document, without a reference at its top."""
    while "$ref" in part:
        target = DOCUMENT
        for name in part["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        part = target
    return part


def operations():
    """All (method, path) of the document."""
    return {(method.upper(), path) for path, item in DOCUMENT["paths"].items() for method in METHODS if method in item}


def validate(instance, schema):
    jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]}).validate(instance)


def check_answer(method, path, status, headers, body):
    """Fails unless the document describes this answer. An answer about a path that does not exist need only be an error."""
    described = [item for template, item in DOCUMENT["paths"].items()
                 if re.fullmatch(re.sub(r"\\\{[^/]*\\\}", "[^/]+", re.escape(template)), path.partition("?")[0])]
    operation = described[-1].get(method.lower()) if described else None
    if operation is None:
        assert status in (403, 404, 405), (method, path, status)
        validate(json.loads(body), {"$ref": "#/components/schemas/Error"})
        return
    answers = operation["responses"]
    answer = resolved(answers.get(str(status)) or answers[f"{status // 100}XX"])
    for name, header in answer.get("headers", {}).items():
        if name in headers:
            validate(headers[name], header["schema"])
    if "content" not in answer:
        assert not body, (method, path, status, body)
        return
    (kind, content), = answer["content"].items()
    assert headers["Content-Type"].startswith(kind), (method, path, headers)
    validate(json.loads(body) if kind == "application/json" else body, content["schema"])

"""Entrances for systems that tell of saved documents: each reads its sender's form, and makes `saving.Wanted` of it."""

from __future__ import annotations

from starlette.routing import BaseRoute, Route

from server.endpoints import endpoint
from server.hooks.github import github_push
from server.hooks.s3 import s3_notification
from server.hooks.standard import document_event
from server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    entrances = {"document-saved": document_event, "s3": s3_notification, "github": github_push}
    return [
        Route(f"/v1/hooks/{name}", endpoint(service, entrance, counted=name), methods=["POST"])
        for name, entrance in entrances.items()
    ]

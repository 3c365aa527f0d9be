"""``/ready`` of both listeners: 503 with every reason, no credentials needed."""

from dataclasses import replace

from starlette.testclient import TestClient

from ingather.web import AdminParts, Readiness, SearchParts, admin_app, search_app

ILL = Readiness((("index", "the index stopped"), ("disk", "the disk is full")), ("the robot is paused",))


def test_reasons_and_notes(admin_parts: AdminParts) -> None:
    with TestClient(
        admin_app(replace(admin_parts, ready=lambda: ILL)), base_url="http://127.0.0.1"
    ) as client:
        answer = client.get("/ready")
    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "reasons": [
            {"reason": "index", "text": "the index stopped"},
            {"reason": "disk", "text": "the disk is full"},
        ],
        "notes": ["the robot is paused"],
    }


def test_ready(admin_parts: AdminParts, search_parts: SearchParts) -> None:
    for app in (admin_app(admin_parts), search_app(search_parts)):
        with TestClient(app, base_url="http://127.0.0.1") as client:
            answer = client.get("/ready")
        assert (answer.status_code, answer.json()) == (200, {"ready": True, "reasons": [], "notes": []})

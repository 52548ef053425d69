"""What the tests of the addons share: fewer examples, as each plays whole flows, and a master that nobody looks at flows with."""

import os
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from hypothesis import settings
from mitmproxy import ctx

settings.register_profile("addons-ci", derandomize=True, max_examples=40, deadline=None)
settings.register_profile("addons", max_examples=25, deadline=None)
settings.load_profile("addons-ci" if os.environ.get("CI") else "addons")


@pytest.fixture(scope="module", autouse=True)
def _nobody_looks() -> Iterator[None]:
    """A mitmproxy without windows and files for flows."""
    with pytest.MonkeyPatch.context() as patch:
        addons = SimpleNamespace(get=lambda _name: None)
        patch.setattr(ctx, "master", SimpleNamespace(addons=addons), raising=False)
        patch.setattr(ctx, "options", SimpleNamespace(save_stream_file=None), raising=False)
        yield

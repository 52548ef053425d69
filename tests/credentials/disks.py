"""A disk that fails when it is told to."""

from pathlib import Path
from typing import override

from credentials.files import Disk


class FailingDisk(Disk):
    """A real disk whose n-th call fails; 0 never. Short writes, too: 7 bytes at a time."""

    def __init__(self, fail_at: int) -> None:
        self.fail_at = fail_at
        self.calls = 0

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.fail_at:
            raise OSError(28, "No space left on device")

    @override
    def create(self, path: Path) -> int:
        self._count()
        return super().create(path)

    @override
    def write(self, file: int, data: bytes) -> int:
        self._count()
        return super().write(file, data[:7])

    @override
    def sync(self, file: int) -> None:
        self._count()
        super().sync(file)

    @override
    def replace(self, source: Path, target: Path) -> None:
        self._count()
        super().replace(source, target)

    @override
    def link(self, source: Path, target: Path) -> None:
        self._count()
        super().link(source, target)

    @override
    def sync_folder(self, folder: Path) -> None:
        self._count()
        super().sync_folder(folder)

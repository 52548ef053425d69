"""What every store must do; subclass it and give it a store."""

from datetime import UTC, datetime

import pytest

from credentials.credential import Credential
from credentials.errors import NotStored
from credentials.secret import Secret
from credentials.store import Dated, Store

PLANTED = "sk-ant-oat01-PLANTED-in-a-store"
TOKEN = Credential(kind="setup-token", access=Secret(PLANTED))
LOGIN = Credential(
    kind="oauth",
    access=Secret("at-1" * 900),
    refresh=Secret("rt-1-Ünïcode"),
    expires_at=datetime(2026, 1, 5, 12, 0, 0, 123000, UTC),
    extras={"scopes": ("user:inference", "user:profile"), "subscriptionType": "max"},
)


class StoreContract:
    """The contract of credentials.store.Store."""

    @pytest.fixture
    def store(self) -> Store:
        """An empty store."""
        raise NotImplementedError

    def test_an_unknown_account_is_not_stored(self, store: Store) -> None:
        """What was never put is NotStored, and the message names the account and the command."""
        with pytest.raises(NotStored, match=r"a1.*flowpool add"):
            store.get("a1")

    @pytest.mark.parametrize("credential", [TOKEN, LOGIN], ids=["token", "login"])
    def test_what_is_put_is_got(self, store: Store, credential: Credential) -> None:
        """A credential comes back equal, with all its parts."""
        store.put("a1", credential)

        assert credential == store.get("a1")

    def test_put_replaces(self, store: Store) -> None:
        """The last credential put is the one that is kept."""
        store.put("a1", TOKEN)
        store.put("a1", LOGIN)

        assert store.get("a1") == LOGIN
        assert store.ids() == ("a1",)

    def test_each_put_is_told_from_the_last(self, store: Store) -> None:
        """The same credential put again is equal, and stamped anew: somebody replaced it."""
        store.put("a1", TOKEN)
        first = store.get("a1")
        store.put("a1", TOKEN)

        assert store.get("a1") == first
        assert store.get("a1").saved_at > first.saved_at > 0

    def test_accounts_do_not_touch_each_other(self, store: Store) -> None:
        """Putting and deleting one account leaves the others."""
        store.put("b", LOGIN)
        store.put("a", TOKEN)
        store.delete("a")

        assert store.get("b") == LOGIN
        assert store.ids() == ("b",)

    def test_ids_are_sorted(self, store: Store) -> None:
        """Ids come sorted, none at first."""
        assert store.ids() == ()

        for account_id in ("c", "a", "b"):
            store.put(account_id, TOKEN)

        assert store.ids() == ("a", "b", "c")

    def test_delete_may_be_repeated(self, store: Store) -> None:
        """Deleting what is not there is no fault."""
        store.put("a1", TOKEN)
        store.delete("a1")
        store.delete("a1")

        assert store.ids() == ()

    def test_no_text_shows_a_secret(self, store: Store) -> None:
        """Neither the store nor its description shows a secret."""
        store.put("a1", TOKEN)

        assert PLANTED not in f"{store!r} {store.describe()} {store.get('a1')!r}"


class DatedContract(StoreContract):
    """The contract of credentials.store.Dated."""

    @pytest.fixture
    def dated(self, store: Store) -> Dated:
        """The same store, seen as one that knows when it was given what it keeps."""
        return store  # type: ignore[return-value]  # whoever subclasses this gives one

    def test_a_credential_is_stamped_with_when_it_was_saved(self, dated: Dated) -> None:
        """The stamp is the one that the credential comes back with; None when there is none."""
        assert dated.saved_at("a1") is None
        dated.put("a1", TOKEN)

        assert dated.saved_at("a1") == dated.get("a1").saved_at

    def test_only_what_is_known_is_dropped(self, dated: Dated) -> None:
        """One that was saved meanwhile stays; dropping what is not there is done already."""
        dated.put("a1", TOKEN)
        old = dated.get("a1").saved_at
        dated.put("a1", LOGIN)
        dated.put("b", TOKEN)

        assert not dated.drop("a1", old)
        assert dated.get("a1") == LOGIN
        assert dated.drop("a1", dated.get("a1").saved_at)
        assert dated.drop("a1", old)
        assert dated.ids() == ("b",)

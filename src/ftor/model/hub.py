"""Models on the Hugging Face hub: `hf://owner/name[@revision]`. It needs `ftor[hub]`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from ftor._version import __version__
from ftor.errors import FtorError

SCHEME = "hf://"
FILES = (
    "README.md",
    "config.toml",
    "vocab.json",
    "programs.json",
    "grammar.cfg",
    "model.safetensors",
    "confidence.json",
    "metrics.json",
    "choice.json",
    "pretrained/*.json",
    "pretrained/*.txt",
)
"""The files of a model folder. Nothing else is sent or fetched: no checkpoints, no code, nothing pickled."""


class HubError(FtorError):
    """A model that cannot be fetched from a hub or sent to one."""


def is_remote(name: str | Path) -> bool:
    """Whether a name is that of a model on a hub, and not of a folder."""
    return isinstance(name, str) and name.startswith(SCHEME)


def local_folder(name: str | Path) -> Path:
    """The folder of a model. One on a hub is fetched into the user's cache, if it is not yet there.

    With `HF_HUB_OFFLINE=1`, only the cache is used.
    """
    if not isinstance(name, str) or not is_remote(name):
        return Path(name)
    repo, revision = _parsed(name)
    hub = _hub(name)
    with _one_line(name, hub):
        folder = hub.snapshot_download(
            repo,
            revision=revision,
            allow_patterns=list(FILES),
            library_name="ftor",
            library_version=__version__,
        )
    if not (Path(folder) / "config.toml").is_file():
        raise HubError(f"{name}: not a model of ftor: it has no config.toml")
    return Path(folder)


def push(folder: Path, repo: str, private: bool | None, message: str) -> str:
    """Send the model files of a folder to a hub as one commit, and return the address of the commit."""
    repo, revision = _parsed(repo if repo.startswith(SCHEME) else SCHEME + repo)
    hub = _hub(repo)
    api = hub.HfApi(library_name="ftor", library_version=__version__)
    with _one_line(repo, hub):
        api.create_repo(repo, private=private, exist_ok=True)
        commit = api.upload_folder(
            repo_id=repo,
            folder_path=folder,
            revision=revision,
            allow_patterns=list(FILES),
            commit_message=message,
        )
    return str(commit.commit_url)


def _parsed(name: str) -> tuple[str, str | None]:
    """The repository and the revision, if any, of `hf://owner/name@revision`."""
    repo, at, revision = name.removeprefix(SCHEME).partition("@")
    if len(repo.split("/")) != 2 or not all(repo.split("/")) or (at and not revision):
        raise HubError(f"{name}: expected hf://owner/name or hf://owner/name@revision")
    return repo, revision or None


def _hub(name: str) -> ModuleType:
    try:
        import huggingface_hub.constants  # here for start-up time, and because it is an extra
        import huggingface_hub.errors
    except ImportError:
        raise HubError(f"{name}: huggingface_hub is not installed: pip install 'ftor[hub]'") from None
    return huggingface_hub


@contextmanager
def _one_line(name: str, hub: ModuleType) -> Iterator[None]:
    """Say in one line what went wrong between here and the hub."""
    errors, home = hub.errors, hub.constants.ENDPOINT
    try:
        yield
    except errors.GatedRepoError:
        reason = f"you have no access to it on {home}; ask for it there, then log in with: hf auth login"
    except errors.RepositoryNotFoundError:
        reason = f"not found on {home}; a private model needs: hf auth login"
    except errors.RevisionNotFoundError:
        reason = f"{home} has no such revision of it"
    except errors.OfflineModeIsEnabled:
        reason = "HF_HUB_OFFLINE is set, and this needs the network"
    except errors.LocalEntryNotFoundError:
        offline = hub.constants.HF_HUB_OFFLINE
        why = "HF_HUB_OFFLINE is set" if offline else f"{home} cannot be reached"
        reason = f"not in the cache ({hub.constants.HF_HUB_CACHE}), and {why}"
    except errors.HfHubHTTPError as error:
        status = f"status {error.response.status_code}: " if error.response is not None else ""
        reason = f"{home}: {status}{_first_line(error)}"
    except (OSError, errors.HTTPError) as error:  # no connection, or no room in the cache
        reason = f"{home}: {_first_line(error)}"
    except RuntimeError as error:  # a file that could not be sent
        reason = f"{home}: {_first_line(error)} {error.__cause__ or ''}".strip()
    except ValueError as error:  # a name that no hub takes, or a card that it refuses
        reason = str(error)
    else:
        return
    raise HubError(f"{name}: {' '.join(reason.split())}") from None


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)

import pytest
import torch

# Tests run side by side and their matrices are small: threads would only wait for each other.
torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_its_own(tmp_path_factory):
    """What is kept between runs (sentence vectors, tweets made ready) stays out of the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield

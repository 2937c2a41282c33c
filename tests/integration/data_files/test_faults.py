"""Every fault of data is said in one sentence, with the right exit code, and nothing is kept that is not the file."""

from docs import data_faults, generate


def test_the_page_of_faults_is_current() -> None:
    """`make docs` would change nothing."""
    assert (generate.FOLDER / "data-faults.md").read_text() == data_faults.page(generate.NOTE)

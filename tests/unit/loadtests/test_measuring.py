"""Repeats take turns, and figures are their medians."""

from loadtests.measuring import Figures, Spread, interleave, nest, spread


def test_repeats_take_turns_and_figures_are_medians() -> None:
    order: list[str] = []

    def measure(name: str, *figures: float) -> Figures:
        order.append(name)
        return {"rate": figures[order.count(name) - 1]}

    found = interleave(
        {("one",): lambda: measure("one", 3.0, 9.0, 4.0), ("two", "b"): lambda: measure("two", 1.0, 2.0, 0.0)}, 3
    )

    assert order == ["one", "two", "one", "two", "one", "two"]
    assert found == {("one",): {"rate": 4.0}, ("two", "b"): {"rate": 1.0}}


def test_paths_become_nested_keys() -> None:
    assert nest({("turn", "camelot", "1"): {"p50_ms": 2.0}, ("turn", "camelot", "8"): {"p50_ms": 3.0}}) == {
        "turn": {"camelot": {"1": {"p50_ms": 2.0}, "8": {"p50_ms": 3.0}}}
    }


def test_percentiles_lie_between_the_values_around_them() -> None:
    assert spread(range(101)) == Spread(50.0, 95.0, 99.0)
    assert spread([1.0, 3.0]).p50 == 2.0

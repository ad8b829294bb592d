import pandas as pd
import pytest


def discounted(prices, rate):
    if rate > 1:
        raise ValueError('a rate is at most 1')
    return prices * (1 - rate)


def test_a_rate_above_one_is_refused():
    with pytest.raises(ValueError):
        discounted(pd.Series([1.0]), 2)


@pytest.mark.parametrize('rate', [0.5, 0.25])
def test_prices_are_reduced(rate):
    found = discounted(pd.Series([10.0, 20.0]), rate)
    first = float(found.iloc[0])
    assert first == 5.0, 'the first price'

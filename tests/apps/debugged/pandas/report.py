"""What was sold, by region. The bug: a price of the table is overwritten while it is summed up."""
import numpy as np
import pandas as pd


def report(sales, weights):
    before = len(sales)
    sales.loc[1, 'price'] = 20.0  # CELL
    weights[2, 1] = 0.5  # MATRIX
    grouped = sales.groupby('region')['price'].sum()
    grouped['north'] = 0.0  # SERIES
    return grouped, before


sales = pd.DataFrame({'region': ['north', 'south', 'north', 'west'] * 50, 'price': np.arange(200) / 2})
weights = np.ones((40, 3))
report(sales, weights)

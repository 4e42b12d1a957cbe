"""Links and what is behind them, as they are shown."""

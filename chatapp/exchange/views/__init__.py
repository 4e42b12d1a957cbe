"""Who answers at the addresses of the exchange."""

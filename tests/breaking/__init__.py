"""The product with one address more, where everything breaks that can break in a process, each with the words that were sent."""

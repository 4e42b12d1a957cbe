"""What goes out of the product and what comes into it: one file format of our own, and how others write theirs."""

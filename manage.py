#!/usr/bin/env python
"""Django's command line for this project."""

from chatapp.__main__ import main

if __name__ == "__main__":
    main()

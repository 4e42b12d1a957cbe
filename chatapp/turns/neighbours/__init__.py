"""Processes that share a folder hear each other over sockets in it: a page shows what `manage.py ask` asks, letter by letter."""

"""What is served at `/v1/`: addresses, keys, streams, and the socket."""

"""The environment, read and said in sentences: databases, logs, mail, the secret key."""

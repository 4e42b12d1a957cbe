"""Mails go where EMAIL_URL says, and its password goes nowhere else."""

from __future__ import annotations

import socketserver
from base64 import b64encode
from threading import Thread

import pytest
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from chatapp.config.mail_server import MailServer, mail_server, sender


class Mailbox(socketserver.StreamRequestHandler):
    """A mail server that takes everything and keeps the lines it was told."""

    timeout = 5

    def handle(self):
        self.server.lines = []
        self._say("220 here")
        answers = {
            "EHLO": "250-here\r\n250 AUTH PLAIN",
            "AUTH": "235 in",
            "DATA": "354 go on",
            "QUIT": "221 bye",
        }
        quiet = False
        for line in self.rfile:
            text = line.decode().rstrip("\r\n")
            self.server.lines.append(text)
            begins = not quiet and text.upper() == "DATA"
            quiet = begins or (quiet and text != ".")
            if begins or not quiet:
                self._say(answers.get(text[:4].upper(), "250 well"))

    def _say(self, words):
        self.wfile.write(f"{words}\r\n".encode())


@pytest.fixture
def mailbox():
    with socketserver.TCPServer(("127.0.0.1", 0), Mailbox) as server:
        server.timeout = 5
        thread = Thread(target=server.handle_request)
        thread.start()
        yield server
        thread.join()


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("smtp://mail", MailServer("mail", 25, "", "", tls=False, ssl=False)),
        ("smtp://mail:587/?tls=1", MailServer("mail", 587, "", "", tls=True, ssl=False)),
        ("smtp://u:p@mail?tls=0", MailServer("mail", 25, "u", "p", tls=False, ssl=False)),
        (
            "smtps://u%40x.org:p%3A%2F%40@mail",
            MailServer("mail", 465, "u@x.org", "p:/@", tls=False, ssl=True),
        ),
        ("smtp://[::1]:2525", MailServer("::1", 2525, "", "", tls=False, ssl=False)),
    ],
)
def test_an_address_says_server_account_and_encryption(url, meant):
    assert mail_server(url) == meant
    assert "p:/@" not in repr(mail_server(url))


@pytest.mark.parametrize("text", ["chat@example.org", "Thoughtline <chat@example.org>", "A. B & C <a@b.org>"])
def test_who_mails_come_from_may_be_said(text):
    assert sender(text, host=None) == text


def test_a_mail_arrives_with_the_account_of_the_address(mailbox):
    found = mail_server(f"smtp://me:secret%21@127.0.0.1:{mailbox.server_address[1]}?tls=0")
    connection = EmailBackend(
        found.host, found.port, found.user, found.password, use_tls=found.tls, use_ssl=found.ssl, timeout=5
    )
    mail = EmailMessage(
        "Hello", "Words.", sender("Chat <chat@example.org>", host=None), ["alice@example.org"]
    )
    connection.send_messages([mail])
    account = b64encode(b"\0me\0secret!").decode()
    expected = (
        f"AUTH PLAIN {account}",
        "To: alice@example.org",
        "From: Chat <chat@example.org>",
        "Words.",
    )
    assert set(expected) <= set(mailbox.lines)

"""Which IP addresses belong to the public web. The table is our own, since libraries change their minds about it."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_PUBLIC_4 = [
    IPv4Network(each)
    for each in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by customers of one carrier; metadata at 100.100.100.200
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # metadata of a cloud, though the number is a public one
        "169.254.0.0/16",  # link-local; metadata at 169.254.169.254
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols; metadata at 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # measuring
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and the broadcast
    )
]

# Nothing outside of it is handed out to the public: not ::1, the IPv4 that is mapped (::ffff:0:0/96), compatible (::/96)
# or translated in private (64:ff9b:1::/48), 100::/64, 5f00::/16, fc00::/7 with its metadata (fd00:ec2::254), fe80::/10,
# fec0::/10, ff00::/8.
_PUBLIC_6 = IPv6Network("2000::/3")

_NOT_PUBLIC_6 = [
    IPv6Network(each)
    for each in (
        "2001::/23",  # protocols: Teredo, benchmarks, hashes that look like addresses
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4, with an IPv4 address inside
        "3fff::/20",  # documentation
    )
]

# How a network that has no IPv4 reaches the rest of the web: the last four bytes are where it leads.
_TRANSLATED = IPv6Network("64:ff9b::/96")


def is_number(host: str) -> bool:
    """Whether it is an address already, as a resolver would write it."""
    try:
        return str(ip_address(host)) == host
    except ValueError:
        return False


def is_public(text: str) -> bool:
    """Whether an address, as a resolver writes it, belongs to the public web. What is no address does not."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_public_4(address)
    if address in _TRANSLATED:
        return _is_public_4(IPv4Address(address.packed[-4:]))
    return _is_public_6(address)


def _is_public_4(address: IPv4Address) -> bool:
    return not any(address in network for network in _NOT_PUBLIC_4)


def _is_public_6(address: IPv6Address) -> bool:
    return address in _PUBLIC_6 and not any(address in network for network in _NOT_PUBLIC_6)

"""A real Chromium, without what nobody looks at here."""

from __future__ import annotations

from playwright.sync_api import Browser, Playwright

# Its address bar is a page of its own, made anew with every window; it cost more than all that tests look at. The last list
# counts, so what Playwright would leave out is named here too.
LEFT_OUT = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
SWITCHES = ("--no-sandbox", "--disable-gpu", f"--disable-features={','.join(LEFT_OUT)}")


def launched(playwright: Playwright, program: str | None) -> Browser:
    """The one at that path, else Playwright's own."""
    return playwright.chromium.launch(executable_path=program, args=SWITCHES)

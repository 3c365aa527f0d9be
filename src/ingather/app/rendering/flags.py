"""Chromium's command line: what is off, what is closed, where the only door is."""

from collections.abc import Sequence

__all__ = ["command_line"]

_FEATURES_OFF = (
    "AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "DialMediaRouteProvider",
    # What a page says is asked for as it says it: http:// of a public name stays that, for scripts and in links.
    "HttpsUpgrades", "HttpsFirstBalancedMode", "HttpsFirstBalancedModeAutoEnable", "HttpsFirstModeV2", "HttpsFirstModeV2ForEngagedSites",
    "HttpsFirstModeV2ForTypicallySecureUsers", "HttpsFirstModeIncognito", "HttpsFirstModeForAdvancedProtectionUsers",
    "InterestFeedContentSuggestions", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "Prerender2", "SpeculationRulesPrefetchFuture", "Translate", "WebBluetooth", "WebUSB",
)  # fmt: skip

_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    # One way out, for loopback names too, and no other: no names are resolved, no datagrams are sent.
    "--proxy-server=http://127.0.0.1:{port}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    # Nothing of its own accord.
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-breakpad",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    # Nothing that a page may want of the machine.
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-3d-apis",
    "--disable-dev-shm-usage",
    "--disable-file-system",
    "--disable-gpu",
    "--disable-notifications",
    "--disable-print-preview",
    "--disable-remote-fonts",
    "--disable-speech-api",
    "--mute-audio",
    f"--disable-features={','.join(_FEATURES_OFF)}",
)


def command_line(
    browser: str, *, profile: str, heap_mib: int, sandboxed: bool = True, more: Sequence[str] = ()
) -> list[str]:
    """Return the command for *browser*; ``{port}`` in it stands for the port of the closed door.

    Args:
        browser: path of the program.
        profile: a folder for its state, empty at first.
        heap_mib: most MiB of one page's scripts.
        sandboxed: ``False`` only if a setting says that it may run without its sandbox.
        more: further flags.
    """
    own = [f"--user-data-dir={profile}", f"--js-flags=--max-old-space-size={heap_mib}"]
    return [browser, *_FLAGS, *own, *([] if sandboxed else ["--no-sandbox"]), *more, "about:blank"]

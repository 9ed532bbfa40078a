"""Payment services and shops."""

from haltline.secrets.model import Format

FORMATS = (
    Format(
        "stripe",
        ("sk_live_", "rk_live_", "sk_test_", "rk_test_"),
        r"[A-Za-z0-9]{10,250}",
        "https://docs.stripe.com/keys",
    ),
    Format(
        "stripe-webhook",
        ("whsec_",),
        r"[A-Za-z0-9+/=]{32,64}",
        "https://docs.stripe.com/webhooks#verify-official-libraries",
    ),
    Format(
        "square",
        ("EAAA", "sq0atp-", "sq0csp-"),
        r"[A-Za-z0-9_-]{22,60}",
        "https://developer.squareup.com/docs/build-basics/access-tokens",
        validator="mixed",
    ),
    Format(
        "shopify",
        ("shpat_", "shpca_", "shppa_", "shpss_", "shpua_"),
        r"[a-fA-F0-9]{32}",
        "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
    ),
    Format(
        "braintree",
        ("access_token$production$", "access_token$sandbox$"),
        r"[a-z0-9]{16}\$[a-f0-9]{32}",
        "https://developer.paypal.com/braintree/docs/guides/authorization/overview",
    ),
)

"""Payment services and shops."""

from haltline.secrets.model import Format, Tier

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
        r"[A-Za-z0-9]{32,64}",
        "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
    ),
    Format(
        "braintree",
        ("access_token$production$", "access_token$sandbox$"),
        r"[a-z0-9]{16}\$[a-f0-9]{32}",
        "https://developer.paypal.com/braintree/docs/guides/authorization/overview",
    ),
    Format(
        "stripe-organization",
        ("sk_org_live_", "sk_org_test_"),
        r"[A-Za-z0-9]{20,250}",
        "https://docs.stripe.com/keys#organization-api-keys",
    ),
    Format(
        "razorpay-key-id",
        ("rzp_live_", "rzp_test_"),
        r"[A-Za-z0-9]{14}",
        "https://razorpay.com/docs/payments/dashboard/account-settings/api-keys/",
        tier=Tier.CONTEXT,
    ),
    Format(
        "flutterwave",
        ("FLWSECK-", "FLWSECK_TEST-"),
        r"[a-f0-9]{32}-X",
        "https://developer.flutterwave.com/docs/authentication",
    ),
    Format(
        "plaid",
        ("access-sandbox-", "access-development-", "access-production-"),
        r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
        "https://plaid.com/docs/api/items/",
    ),
    Format(
        "mollie",
        ("live_",),
        r"[A-Za-z0-9]{30}",
        "https://docs.mollie.com/reference/authentication",
        validator="mixed",
    ),
    Format(
        "easypost",
        ("EZAK", "EZTK"),
        r"[A-Za-z0-9]{54}",
        "https://docs.easypost.com/docs/authentication",
        validator="mixed",
    ),
    Format(
        "shippo",
        ("shippo_live_", "shippo_test_"),
        r"[a-f0-9]{40}",
        "https://docs.goshippo.com/docs/guides_general/authentication/",
    ),
    Format("lob", ("live_",), r"[a-f0-9]{35}", "https://docs.lob.com/#tag/Authentication"),
    Format(
        "gocardless",
        ("live_",),
        r"[A-Za-z0-9_-]{40}",
        "https://developer.gocardless.com/api-reference/#making-requests-authentication",
        validator="mixed",
    ),
    Format(
        "checkout-com",
        ("sk_sbox_",),
        r"[a-z0-9]{27,32}",
        "https://www.checkout.com/docs/developer-resources/api/api-authentication",
    ),
)

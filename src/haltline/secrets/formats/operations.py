"""Monitoring, incident response and analytics."""

from haltline.secrets.model import Format

FORMATS = (
    Format(
        "grafana-service-account",
        ("glsa_",),
        r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/",
        validator="crc32-hex",
    ),
    Format(
        "grafana-cloud",
        ("glc_",),
        r"[A-Za-z0-9+/]{60,400}={0,2}",
        "https://grafana.com/docs/grafana-cloud/account-management/authentication-and-permissions/access-policies/",
    ),
    Format(
        "sentry-org", ("sntrys_",), r"[A-Za-z0-9+/=_-]{60,500}", "https://docs.sentry.io/account/auth-tokens/"
    ),
    Format("sentry-user", ("sntryu_",), r"[a-f0-9]{64}", "https://docs.sentry.io/account/auth-tokens/"),
    Format(
        "new-relic",
        ("NRAK-", "NRAA-", "NRSP-"),
        r"[A-Z0-9]{27}",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    ),
    Format(
        "dynatrace",
        ("dt0c01.", "dt0s01.", "dt0s16."),
        r"[A-Z0-9]{8,24}\.[A-Z0-9]{64}",
        "https://docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients/access-tokens",
    ),
    Format("posthog-personal", ("phx_",), r"[A-Za-z0-9]{40,50}", "https://posthog.com/docs/api"),
    Format(
        "airtable",
        ("pat",),
        r"[A-Za-z0-9]{14}\.[a-f0-9]{64}",
        "https://airtable.com/developers/web/guides/personal-access-tokens",
    ),
)

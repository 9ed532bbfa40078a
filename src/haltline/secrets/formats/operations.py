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
    Format(
        "new-relic-insights",
        ("NRII-", "NRIQ-", "NRRA-"),
        r"[A-Za-z0-9_-]{32,42}",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/",
    ),
    Format(
        "new-relic-license",
        ("NRAL",),
        r"",
        "https://docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys/#license-key",
        lead=r"[a-z0-9]{36}",
        lead_limit=36,
    ),
    Format(
        "honeycomb",
        ("hcaik_", "hcxik_", "hcalk_", "hcamk_"),
        r"[a-z0-9]{58}",
        "https://docs.honeycomb.io/get-started/configure/environments/manage-api-keys/",
    ),
    Format(
        "grafana-api-key",
        ("eyJrIjoi",),
        r"[A-Za-z0-9]{60,400}={0,2}",
        "https://grafana.com/docs/grafana/latest/administration/service-accounts/migrate-api-keys/",
        validator="grafana-legacy",
        right="",
    ),
    Format("segment", ("sgp_",), r"[A-Za-z0-9]{64}", "https://docs.segmentapis.com/tag/Getting-Started/"),
    Format(
        "maxmind",
        ("_mmk",),
        r"",
        "https://dev.maxmind.com/license-key-format-change",
        lead=r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}",
        lead_limit=36,
    ),
    Format(
        "duffel",
        ("duffel_test_", "duffel_live_"),
        r"[A-Za-z0-9_-]{43}",
        "https://duffel.com/docs/api/overview/making-requests/authentication",
    ),
    Format("rootly", ("rootly_",), r"[a-f0-9]{64}", "https://docs.rootly.com/api-reference/overview"),
)

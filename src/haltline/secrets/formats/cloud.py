"""Cloud providers, hosting, databases as a service."""

from haltline.secrets.model import Format, Tier

_AZURE = "https://learn.microsoft.com/en-us/purview/sit-defn-azure-storage-account-key"

FORMATS = (
    Format(
        "aws-access-key-id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"[A-Z2-7]{16}",
        "https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-prefixes",
        tier=Tier.CONTEXT,
    ),
    Format(
        "aws-bedrock",
        ("ABSK",),
        r"[A-Za-z0-9+/]{100,140}={0,2}",
        "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html",
    ),
    Format(
        "gcp-api-key",
        ("AIza",),
        r"[A-Za-z0-9_-]{35}",
        "https://cloud.google.com/docs/authentication/api-keys",
    ),
    Format(
        "google-oauth-secret",
        ("GOCSPX-",),
        r"[A-Za-z0-9_-]{28}",
        "https://developers.google.com/identity/protocols/oauth2",
    ),
    Format(
        "google-oauth-token",
        ("ya29.",),
        r"[A-Za-z0-9_-]{30,1000}",
        "https://developers.google.com/identity/protocols/oauth2",
    ),
    Format(
        "google-auth-key",
        ("AQ.",),
        r"[A-Za-z0-9_-]{40,200}",
        "https://ai.google.dev/gemini-api/docs/api-key",
        validator="mixed",
    ),
    Format(
        "azure-client-secret",
        ("8Q~",),
        r"[A-Za-z0-9_~.-]{31,34}",
        "https://learn.microsoft.com/en-us/entra/identity-platform/howto-create-service-principal-portal",
        lead=r"[A-Za-z0-9_~.-]{3}",
        lead_limit=3,
    ),
    Format(
        "azure-key",
        ("JQQJ99",),
        r"[A-Za-z0-9]{26}",
        "https://learn.microsoft.com/en-us/purview/sit-defn-azure-cognitive-service-key",
        lead=r"[A-Za-z0-9]{52}",
        lead_limit=52,
    ),
    Format(
        "azure-storage-key",
        ("AccountKey=", "SharedAccessKey="),
        r"([A-Za-z0-9+/]{43,86}={1,2})",
        _AZURE,
        right="",
        group=1,
    ),
    Format(
        "azure-sas",
        ("sig=",),
        r"([A-Za-z0-9%+/]{43,60}(?:=|%3[dD]))",
        "https://learn.microsoft.com/en-us/azure/storage/common/storage-sas-overview",
        right="",
        group=1,
    ),
    Format(
        "digitalocean",
        ("dop_v1_", "doo_v1_", "dor_v1_"),
        r"[a-f0-9]{64}",
        "https://docs.digitalocean.com/reference/api/create-personal-access-token/",
    ),
    Format(
        "cloudflare",
        ("cfk_", "cfut_", "cfat_"),
        r"[A-Za-z0-9_-]{40,60}",
        "https://developers.cloudflare.com/fundamentals/api/get-started/create-token/",
    ),
    Format(
        "cloudflare-origin-ca",
        ("v1.0-",),
        r"[a-f0-9]{24}-[a-f0-9]{146}",
        "https://developers.cloudflare.com/fundamentals/api/get-started/ca-keys/",
    ),
    Format(
        "heroku", ("HRKU-",), r"[A-Za-z0-9_-]{36,64}", "https://devcenter.heroku.com/articles/authentication"
    ),
    Format(
        "vercel",
        ("vcp_", "vck_", "vca_", "vci_", "vcr_"),
        r"[A-Za-z0-9]{24,60}",
        "https://vercel.com/docs/rest-api",
    ),
    Format(
        "netlify",
        ("nfp_", "nfc_", "nfo_", "nfu_"),
        r"[A-Za-z0-9]{36}",
        "https://docs.netlify.com/api/get-started/",
    ),
    Format(
        "fly",
        ("FlyV1 ", "fm2_", "fo1_"),
        r"[A-Za-z0-9_=,+/-]{40,2000}",
        "https://fly.io/docs/security/tokens/",
    ),
    Format(
        "supabase", ("sb_secret_",), r"[A-Za-z0-9_-]{22,60}", "https://supabase.com/docs/guides/api/api-keys"
    ),
    Format(
        "supabase-pat", ("sbp_",), r"[a-f0-9]{40}", "https://supabase.com/docs/reference/api/introduction"
    ),
    Format(
        "planetscale",
        ("pscale_pw_", "pscale_tkn_", "pscale_oauth_"),
        r"[A-Za-z0-9_.=-]{32,64}",
        "https://planetscale.com/docs/api/reference/service-tokens",
    ),
    Format(
        "databricks",
        ("dapi",),
        r"[a-f0-9]{32}(?:-[0-9])?",
        "https://docs.databricks.com/aws/en/dev-tools/auth/pat",
    ),
    Format(
        "alibaba-access-key-id",
        ("LTAI",),
        r"[A-Za-z0-9]{12,24}",
        "https://www.alibabacloud.com/help/en/ram/user-guide/create-an-accesskey-pair",
        tier=Tier.CONTEXT,
    ),
    Format(
        "hashicorp-vault",
        ("hvs.", "hvb.", "hvr."),
        r"[A-Za-z0-9_-]{24,300}",
        "https://developer.hashicorp.com/vault/docs/concepts/tokens",
    ),
    Format(
        "terraform-cloud",
        (".atlasv1.",),
        r"[A-Za-z0-9_-]{60,70}",
        "https://developer.hashicorp.com/terraform/cloud-docs/users-teams-organizations/api-tokens",
        lead=r"[A-Za-z0-9]{14}",
        lead_limit=14,
    ),
    Format(
        "pulumi",
        ("pul-",),
        r"[a-f0-9]{40}",
        "https://www.pulumi.com/docs/pulumi-cloud/access-management/access-tokens/",
    ),
    Format(
        "doppler",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
        "https://docs.doppler.com/docs/service-tokens",
    ),
    Format(
        "tailscale",
        ("tskey-auth-", "tskey-api-", "tskey-client-", "tskey-scim-", "tskey-webhook-"),
        r"[A-Za-z0-9]{8,24}(?:CNTRL)?-[A-Za-z0-9]{20,40}",
        "https://tailscale.com/kb/1277/key-prefixes",
    ),
    Format(
        "onepassword-service-account",
        ("ops_eyJ",),
        r"[A-Za-z0-9+/_-]{200,2000}={0,2}",
        "https://developer.1password.com/docs/service-accounts/",
    ),
)

"""Chat, mail and telephony."""

from haltline.secrets.model import Format

_SLACK = "https://docs.slack.dev/authentication/tokens"

FORMATS = (
    Format(
        "slack",
        ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxa-2-"),
        r"[0-9A-Za-z-]{20,220}",
        _SLACK,
    ),
    Format("slack-session", ("xoxc-", "xoxd-"), r"[0-9A-Za-z%/+-]{20,300}={0,2}", _SLACK),
    Format("slack-app", ("xapp-",), r"[0-9]-[A-Z0-9]{6,14}-[0-9]{8,14}-[a-f0-9]{40,64}", _SLACK),
    Format(
        "slack-rotating",
        ("xoxe.xoxp-", "xoxe.xoxb-", "xoxe-"),
        r"[0-9]-[A-Za-z0-9]{50,260}",
        "https://docs.slack.dev/authentication/using-token-rotation",
    ),
    Format(
        "slack-webhook",
        ("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"),
        r"([A-Z0-9]{8,14}/[A-Za-z0-9]{8,20}/[A-Za-z0-9/]{20,64})",
        "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
        group=1,
    ),
    Format(
        "discord-bot",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        r"[A-Za-z0-9_-]{22,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        "https://discord.com/developers/docs/reference#authentication",
        validator="discord",
    ),
    Format(
        "discord-webhook",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"([0-9]{17,20}/[A-Za-z0-9_-]{60,72})",
        "https://discord.com/developers/docs/resources/webhook",
        group=1,
    ),
    Format(
        "telegram-bot",
        (":AA",),
        r"[A-Za-z0-9_-]{33}",
        "https://core.telegram.org/bots/api#authorizing-your-bot",
        lead=r"[0-9]{8,10}",
        lead_limit=10,
        validator="telegram",
        right="(?![A-Za-z0-9_-])",
    ),
    Format(
        "sendgrid",
        ("SG.",),
        r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
        "https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys",
    ),
    Format(
        "mailgun",
        ("key-",),
        r"[a-f0-9]{32}",
        "https://documentation.mailgun.com/docs/mailgun/api-reference/mg-auth",
        right="(?![A-Za-z0-9-])",
    ),
    Format(
        "mailchimp",
        ("-us",),
        r"[0-9]{1,2}",
        "https://mailchimp.com/developer/marketing/guides/quick-start/",
        lead=r"[a-f0-9]{32}",
        lead_limit=32,
    ),
    Format("twilio-api-key", ("SK",), r"[a-f0-9]{32}", "https://www.twilio.com/docs/iam/api-keys"),
    Format(
        "brevo",
        ("xkeysib-", "xsmtpsib-"),
        r"[a-f0-9]{64}-[A-Za-z0-9]{16}",
        "https://developers.brevo.com/docs/getting-started",
    ),
    Format(
        "resend",
        ("re_",),
        r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}",
        "https://resend.com/docs/api-reference/introduction",
        validator="mixed",
    ),
    Format(
        "teams-webhook",
        ("webhook.office.com/webhookb2/",),
        r"([A-Za-z0-9@-]{73}/IncomingWebhook/[A-Za-z0-9]{32}/[A-Za-z0-9-]{36})",
        "https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook",
        group=1,
    ),
)

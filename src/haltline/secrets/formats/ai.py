"""Model providers and their tools."""

from haltline.secrets.model import Format

FORMATS = (
    Format(
        "anthropic",
        ("sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-", "sk-ant-ort01-", "sk-ant-sid01-"),
        r"[A-Za-z0-9_-]{80,120}",
        "https://docs.anthropic.com/en/api/overview",
    ),
    Format(
        "openai",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-"),
        r"[A-Za-z0-9_-]{40,220}",
        "https://platform.openai.com/docs/api-reference/authentication",
        validator="openai",
    ),
    Format(
        "openrouter",
        ("sk-or-v1-",),
        r"[a-f0-9]{64}",
        "https://openrouter.ai/docs/api-reference/authentication",
    ),
    Format(
        "langsmith",
        ("lsv2_pt_", "lsv2_sk_"),
        r"[a-f0-9]{32}_[a-f0-9]{10}",
        "https://docs.smith.langchain.com/administration/how_to_guides/organization_management/create_account_api_key",
    ),
    Format(
        "hugging-face",
        ("hf_", "api_org_"),
        r"[A-Za-z]{34}",
        "https://huggingface.co/docs/hub/security-tokens",
        validator="",
    ),
    Format("groq", ("gsk_",), r"[A-Za-z0-9]{52}", "https://console.groq.com/docs/quickstart"),
    Format(
        "replicate", ("r8_",), r"[A-Za-z0-9]{37}", "https://replicate.com/docs/reference/http#authentication"
    ),
    Format("perplexity", ("pplx-",), r"[A-Za-z0-9]{48}", "https://docs.perplexity.ai/guides/getting-started"),
    Format("xai", ("xai-",), r"[A-Za-z0-9]{80}", "https://docs.x.ai/docs/tutorial"),
    Format(
        "fireworks",
        ("fw_",),
        r"[A-Za-z0-9]{22,24}",
        "https://docs.fireworks.ai/api-reference/introduction",
        validator="mixed",
    ),
    Format(
        "nvidia", ("nvapi-",), r"[A-Za-z0-9_-]{60,70}", "https://docs.api.nvidia.com/nim/reference/llm-apis"
    ),
    Format("cursor", ("crsr_",), r"[a-f0-9]{64}", "https://docs.cursor.com/account/teams/admin-api"),
    Format(
        "tavily",
        ("tvly-",),
        r"(?:dev-|prod-)?[A-Za-z0-9]{32}",
        "https://docs.tavily.com/documentation/api-reference/introduction",
    ),
    Format(
        "pinecone",
        ("pcsk_",),
        r"[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,64}",
        "https://docs.pinecone.io/reference/api/authentication",
    ),
    Format(
        "langfuse",
        ("sk-lf-",),
        r"[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
        "https://langfuse.com/docs/api",
    ),
    Format(
        "elevenlabs", ("sk_",), r"[a-f0-9]{48}", "https://elevenlabs.io/docs/api-reference/authentication"
    ),
    Format(
        "deepseek", ("sk-",), r"[a-f0-9]{32}", "https://api-docs.deepseek.com/", right="(?![A-Za-z0-9_-])"
    ),
    Format("together", ("tgp_v1_",), r"[A-Za-z0-9_-]{43}", "https://docs.together.ai/docs/quickstart"),
    Format("jina", ("jina_",), r"[a-f0-9]{32}[A-Za-z0-9_-]{28}", "https://jina.ai/embeddings/"),
    Format(
        "voyage",
        ("pa-",),
        r"[A-Za-z0-9_-]{43}",
        "https://docs.voyageai.com/docs/api-key-and-installation",
        validator="mixed",
    ),
    Format("runpod", ("rpa_",), r"[A-Z0-9]{40,46}", "https://docs.runpod.io/get-started/api-keys"),
    Format(
        "weights-and-biases",
        ("wandb_v1_",),
        r"[A-Za-z0-9_]{70,90}",
        "https://docs.wandb.ai/support/find_api_key/",
    ),
    Format("firecrawl", ("fc-",), r"[a-f0-9]{32}", "https://docs.firecrawl.dev/api-reference/introduction"),
    Format("e2b", ("e2b_",), r"[a-f0-9]{40}", "https://e2b.dev/docs/api-key"),
    Format(
        "browserbase",
        ("bb_live_",),
        r"[A-Za-z0-9_-]{24,40}",
        "https://docs.browserbase.com/reference/introduction",
    ),
    Format(
        "helicone",
        ("sk-helicone-", "pk-helicone-"),
        r"[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}-[a-z0-9]{7}",
        "https://docs.helicone.ai/helicone-headers/helicone-auth",
    ),
    Format("cerebras", ("csk-",), r"[a-z0-9]{48}", "https://inference-docs.cerebras.ai/quickstart"),
    Format("llama-cloud", ("llx-",), r"[A-Za-z0-9]{48}", "https://docs.cloud.llamaindex.ai/api_key"),
    Format("mem0", ("m0-",), r"[A-Za-z0-9]{40}", "https://docs.mem0.ai/api-reference"),
    Format(
        "friendli", ("flp_",), r"[A-Za-z0-9]{40,50}", "https://friendli.ai/docs/guides/personal_access_tokens"
    ),
)

"""Code hosting, package registries and build services."""

from haltline.secrets.model import Format

_GITHUB = "https://github.blog/engineering/behind-githubs-new-authentication-token-formats/"
# Classic tokens are 36 characters; those of GitHub Apps are an application's id and a JWT since 2026.
_GITHUB_BODY = r"(?:[A-Za-z0-9]{36,251}|[0-9]{1,12}_eyJ[A-Za-z0-9_-]{10,700}(?:\.[A-Za-z0-9_-]{10,900}){2})"
_GITLAB = "https://docs.gitlab.com/security/tokens/#token-prefixes"

FORMATS = (
    Format("github-pat", ("ghp_",), _GITHUB_BODY, _GITHUB, validator="github"),
    Format("github-oauth", ("gho_",), _GITHUB_BODY, _GITHUB, validator="github"),
    Format("github-app", ("ghu_", "ghs_", "ghr_"), _GITHUB_BODY, _GITHUB, validator="github"),
    Format("github-fine-grained-pat", ("github_pat_",), r"[A-Za-z0-9_]{50,255}", _GITHUB),
    Format(
        "gitlab-routable",
        ("glpat-", "glrt-", "gldt-", "glptt-", "glagent-", "glsoat-", "glcbt-", "glft-", "glimt-"),
        r"[A-Za-z0-9_-]{20,300}\.[0-9a-z]{2}\.[0-9a-z]{9}",
        "https://handbook.gitlab.com/handbook/engineering/architecture/design-documents/cells/routable_tokens/",
        validator="gitlab-routable",
    ),
    Format("gitlab-pat", ("glpat-",), r"[A-Za-z0-9_-]{20,60}", _GITLAB, right="(?![A-Za-z0-9_-])"),
    Format(
        "gitlab-token",
        ("gldt-", "glrt-", "glft-", "glimt-", "glsoat-", "glffct-", "GR1348941"),
        r"[A-Za-z0-9_-]{20,60}",
        _GITLAB,
        right="(?![A-Za-z0-9_-])",
    ),
    Format("gitlab-oauth-secret", ("gloas-",), r"[a-f0-9]{64}", _GITLAB),
    Format("gitlab-agent", ("glagent-",), r"[A-Za-z0-9_-]{50,300}", _GITLAB),
    Format("gitlab-pipeline-trigger", ("glptt-",), r"[A-Za-z0-9_-]{40}", _GITLAB),
    Format("gitlab-job", ("glcbt-",), r"[A-Za-z0-9]{1,5}_[A-Za-z0-9_-]{20,60}", _GITLAB),
    Format(
        "npm",
        ("npm_",),
        r"[A-Za-z0-9]{36}",
        "https://github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format/",
        validator="github",
    ),
    Format(
        "pypi",
        ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"),
        r"[A-Za-z0-9_-]{50,1000}",
        "https://pypi.org/help/#apitoken",
        validator="pypi",
    ),
    Format("rubygems", ("rubygems_",), r"[a-f0-9]{48}", "https://guides.rubygems.org/api-key-scopes/"),
    Format("crates-io", ("cio",), r"[A-Za-z0-9]{32}", "https://crates.io/settings/tokens", validator="mixed"),
    Format(
        "docker-hub",
        ("dckr_pat_", "dckr_oat_"),
        r"[A-Za-z0-9_-]{27,40}",
        "https://docs.docker.com/security/access-tokens/",
    ),
    Format(
        "atlassian",
        ("ATATT3", "ATCTT3", "ATBBT3"),
        r"[A-Za-z0-9_\-]{60,300}=[A-F0-9]{8}",
        "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/",
        validator="crc32-hex",
    ),
    Format(
        "bitbucket-app-password",
        ("ATBB",),
        r"[A-Za-z0-9]{32}",
        "https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/",
        validator="mixed",
    ),
    Format(
        "linear", ("lin_api_", "lin_oauth_"), r"[A-Za-z0-9]{40,64}", "https://linear.app/developers/graphql"
    ),
    Format(
        "postman",
        ("PMAK-",),
        r"[a-f0-9]{24}-[a-f0-9]{34}",
        "https://learning.postman.com/docs/developer/postman-api/authentication/",
    ),
    Format(
        "circleci",
        ("CCIPAT_",),
        r"[A-Za-z0-9]{22}_[a-f0-9]{40}",
        "https://circleci.com/docs/managing-api-tokens/",
    ),
    Format("buildkite", ("bkua_",), r"[a-f0-9]{40}", "https://buildkite.com/docs/apis/managing-api-tokens"),
    Format(
        "artifactory",
        ("AKCp",),
        r"[A-Za-z0-9]{10,73}",
        "https://jfrog.com/help/r/jfrog-platform-administration-documentation/api-key",
        validator="mixed",
    ),
    Format(
        "sourcegraph",
        ("sgp_",),
        r"(?:local_|[a-f0-9]{16}_)?[a-f0-9]{40}",
        "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token",
    ),
    Format(
        "figma",
        ("figd_", "figo_", "figur_"),
        r"[A-Za-z0-9_-]{38,60}",
        "https://www.figma.com/developers/api#access-tokens",
    ),
    Format(
        "notion", ("ntn_",), r"[0-9]{11}[A-Za-z0-9]{35}", "https://developers.notion.com/docs/authorization"
    ),
    Format(
        "snyk",
        ("snyk_uat.", "snyk_sat."),
        r"[a-z0-9]{8}\.[A-Za-z0-9_\-]{20,600}(?:\.[A-Za-z0-9_\-]{10,600}){0,2}",
        "https://docs.snyk.io/snyk-api/authentication-for-api",
    ),
    Format(
        "nuget",
        ("oy2",),
        r"[a-z0-9]{43}",
        "https://learn.microsoft.com/en-us/nuget/nuget-org/publish-a-package",
        validator="letters-and-digits",
    ),
    Format(
        "jfrog-reference",
        ("cmVmd",),
        r"[A-Za-z0-9]{59}",
        "https://jfrog.com/help/r/jfrog-platform-administration-documentation/reference-token",
        validator="mixed",
    ),
    Format(
        "clojars", ("CLOJARS_",), r"[a-z0-9]{60}", "https://github.com/clojars/clojars-web/wiki/Deploy-Tokens"
    ),
    Format(
        "sonarqube",
        ("sqp_", "squ_", "sqa_"),
        r"[a-f0-9]{40}",
        "https://docs.sonarsource.com/sonarqube-server/latest/user-guide/managing-tokens/",
    ),
    Format(
        "launchdarkly",
        ("api-", "sdk-"),
        r"[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}",
        "https://launchdarkly.com/docs/home/account/api",
    ),
    Format(
        "contentful",
        ("CFPAT-",),
        r"[A-Za-z0-9_-]{43}",
        "https://www.contentful.com/developers/docs/references/authentication/",
    ),
    Format(
        "readme", ("rdme_",), r"[a-z0-9]{70}", "https://docs.readme.com/main/reference/intro/authentication"
    ),
    Format(
        "prefect",
        ("pnu_", "pnb_"),
        r"[A-Za-z0-9]{36}",
        "https://docs.prefect.io/v3/how-to-guides/cloud/manage-users/api-keys",
    ),
    Format(
        "deno-deploy", ("ddp_", "ddw_", "ddo_"), r"[A-Za-z0-9]{36}", "https://docs.deno.com/deploy/manual/"
    ),
    Format(
        "typeform",
        ("tfp_",),
        r"[A-Za-z0-9_.=-]{44,70}",
        "https://www.typeform.com/developers/get-started/personal-access-token/",
    ),
    Format("retool", ("retool_01",), r"[a-z0-9]{24,26}", "https://docs.retool.com/reference/api/v2"),
    Format(
        "trello",
        ("ATTA",),
        r"[a-fA-F0-9]{64,72}",
        "https://developer.atlassian.com/cloud/trello/guides/rest-api/authorization/",
    ),
    Format(
        "clickup", ("pk_",), r"[0-9]{5,10}_[A-Z0-9]{32}", "https://developer.clickup.com/docs/authentication"
    ),
    Format(
        "dbt-cloud",
        ("dbtc_", "dbtu_"),
        r"[A-Za-z0-9_=-]{40,60}",
        "https://docs.getdbt.com/docs/dbt-cloud-apis/service-tokens",
    ),
    Format(
        "dependency-track",
        ("odt_",),
        r"[A-Za-z0-9]{32,48}",
        "https://docs.dependencytrack.org/integrations/rest-api/",
    ),
    Format(
        "teamcity",
        ("eyJ0eXAiOiAiVENWMiJ9.",),
        r"[A-Za-z0-9_-]{30,60}\.[A-Za-z0-9_-]{40,60}",
        "https://www.jetbrains.com/help/teamcity/rest/teamcity-rest-api-documentation.html",
    ),
    Format(
        "jetbrains-hub",
        ("perm:", "perm-"),
        r"[A-Za-z0-9+/=]{6,64}\.[A-Za-z0-9+/=]{6,64}\.[A-Za-z0-9]{30}",
        "https://www.jetbrains.com/help/youtrack/server/manage-permanent-token.html",
    ),
    Format("scalingo", ("tk-us-",), r"[A-Za-z0-9_-]{48}", "https://developers.scalingo.com/"),
    Format(
        "openshift",
        ("sha256~",),
        r"[A-Za-z0-9_-]{43}",
        "https://docs.openshift.com/container-platform/latest/authentication/managing-oauth-access-tokens.html",
    ),
    Format("gitlab-session", ("_gitlab_session=",), r"([a-f0-9]{32})", _GITLAB, group=1),
    Format(
        "django-secret-key",
        ("django-insecure-",),
        r"[A-Za-z0-9!@#$%^&*()=_+-]{40,60}",
        "https://docs.djangoproject.com/en/stable/ref/settings/#secret-key",
        right="",
    ),
)

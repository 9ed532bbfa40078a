"""The functions of each scripting language that run, delete, overwrite or send, and how it binds names."""

from __future__ import annotations

import re

# For each language: what its calls do, as a pattern of their names. `|` between names; `.` is literal.
CALLS: dict[str, dict[str, str]] = {
    "javascript": {
        "shell": "execSync|exec|execPromise|execAsync|execaCommand|execaCommandSync|execCommand",
        "list": "spawnSync|spawn|execFileSync|execFile|execa|execaSync|Deno.Command|Deno.run|crossSpawn",
        "delete": "rmSync|rmdirSync|unlinkSync|rm|unlink|removeSync|emptyDirSync|emptyDir"
        "|rimrafSync|rimraf|rimraf.sync|deleteSync|Deno.remove|Deno.removeSync|fs.remove|fse.remove|fsExtra.remove|rmdir|trash",
        "write": "writeFileSync|writeFile|createWriteStream|truncateSync|truncate|outputFileSync"
        "|outputFile|Bun.write|Deno.writeTextFileSync|Deno.writeTextFile|Deno.writeFile|Deno.writeFileSync|Deno.create",
        "append": "appendFileSync|appendFile",
        "read": "readFileSync|readFile|createReadStream|Deno.readTextFile|Deno.readTextFileSync|Bun.file",
        "move": "renameSync|rename|moveSync",
        "copy": "copyFileSync|copyFile|cpSync|symlinkSync",
        "mode": "chmodSync|chmod",
        "evaluate": "eval|Function|runInNewContext|runInThisContext|runInContext",
        "send": "fetch|axios|axios.post|axios.put|axios.request|got.post|got|https.request|http.request"
        "|needle.post|https.get|http.get|axios.get|sendBeacon",
    },
    "perl": {
        "shell": "system|exec|readpipe",
        "delete": "unlink|rmtree|remove_tree|rmdir",
        "open": "open",
        "write": "truncate|write_file|spew",
        "read": "read_file|slurp",
        "move": "rename|move",
        "copy": "copy|symlink",
        "modes": "chmod|chown",
        "evaluate": "eval",
        "send": "post|put",
    },
    "ruby": {
        "shell": "system|exec|spawn|IO.popen|Open3.capture2|Open3.capture2e|Open3.capture3"
        "|Open3.popen3|Open3.popen2"
        "|Open3.pipeline|PTY.spawn|Kernel.system|Kernel.exec|Kernel.spawn|Process.spawn",
        "delete": "rm_rf|rm_r|rm_f|remove_dir|remove_entry|remove_entry_secure|rmtree"
        "|FileUtils.rm|FileUtils.remove"
        "|File.delete|File.unlink|Dir.rmdir|Dir.delete|Dir.unlink",
        "write": "File.write|IO.write|File.binwrite|File.truncate",
        "open": "File.open|File.new",
        "read": "File.read|IO.read|File.readlines|File.binread",
        "move": "FileUtils.mv|File.rename|FileUtils.move",
        "copy": "FileUtils.cp|FileUtils.cp_r|FileUtils.ln_sf|File.symlink",
        "modes": "FileUtils.chmod_R|FileUtils.chmod|FileUtils.chown_R|File.chmod",
        "evaluate": "eval|instance_eval|class_eval",
        "send": "Net::HTTP.post|Net::HTTP.post_form|HTTP.post|Faraday.post|RestClient.post|HTTParty.post",
        "method": "system|exec|spawn|`",
    },
    "php": {
        "shell": "system|exec|shell_exec|passthru|popen|proc_open",
        "delete": "unlink|rmdir",
        "write": "file_put_contents",
        "open": "fopen",
        "read": "file_get_contents|readfile|file",
        "move": "rename",
        "copy": "copy|symlink",
        "mode": "chmod|chown",
        "evaluate": "eval|assert|create_function",
        "send": "mail|curl_setopt|fsockopen|stream_context_create",
        "list": "pcntl_exec",
    },
    "lua": {
        "shell": "os.execute|io.popen",
        "delete": "os.remove",
        "open": "io.open",
        "move": "os.rename",
        "evaluate": "load|loadstring|dostring",
    },
    "r": {
        "shell": "system|shell|base::system|pipe",
        "list": "system2|processx::run|run",
        "delete": "unlink|file.remove|unlink_dir|fs::dir_delete|dir_delete|file_delete|fs::file_delete",
        "move": "file.rename",
        "copy": "file.copy",
        "mode": "Sys.chmod",
        "evaluate": "parse",
    },
    "applescript": {"shell": "do shell script|doShellScript"},
    "groovy": {
        "shell": "exec|sh",
        "file": "deleteDir|deleteOnExit|delete",
    },
    "elixir": {
        "shell": "System.shell|:os.cmd|os.cmd|os:cmd",
        "list": "System.cmd",
        "delete": "File.rm_rf!|File.rm_rf|File.rm!|File.rm|File.rmdir!|File.rmdir",
        "write": "File.write!|File.write",
        "move": "File.rename!|File.rename",
        "copy": "File.cp!|File.cp_r!|File.cp",
        "evaluate": "Code.eval_string",
    },
    "julia": {
        "delete": "rm",
        "write": "write",
        "open": "open",
        "move": "mv",
        "copy": "cp",
        "evaluate": "include_string",
    },
    "tcl": {},
}
BOUND = {
    "javascript": re.compile(r"(?<![\w.$=!<>])([A-Za-z_$][\w$]*)\s*(?::\s*\w+\s*)?=(?![=>])"),
    "perl": re.compile(r"([$@]\w+)\s*=(?![=~])"),
    "php": re.compile(r"(\$\w+)\s*=(?![=>])"),
    "ruby": re.compile(r"(?<![\w.@:])([a-zA-Z_]\w*)\s*=(?![=~>])"),
    "lua": re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*=(?!=)"),
    "r": re.compile(r"(?<![\w.])([A-Za-z_.][\w.]*)\s*(?:<-|=(?!=))"),
    "groovy": re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*=(?!=)"),
    "elixir": re.compile(r"(?<![\w.:])([a-z_]\w*)\s*=(?![=~>])"),
    "julia": re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*=(?!=)"),
    "applescript": re.compile(r"\bset\s+(\w+)\s+to\b"),
}
LOOPS = {
    "javascript": re.compile(r"for\s*(?:await\s*)?\(\s*(?:const|let|var)\s+(\w+)\s+of\b"),
    "perl": re.compile(r"for(?:each)?\s*(?:my\s*)?(\$\w+)\s*(?=\()"),
    "php": re.compile(r"foreach\s*\((?=[^)]{0,300}\bas\s+(\$\w+))"),
    "ruby": re.compile(r"\bfor\s+(\w+)\s+in\b"),
    "r": re.compile(r"for\s*\(\s*(\w+)\s+in\b"),
}
EACH = re.compile(
    r"\.\s*(?:each|forEach|map|each_entry|reverse_each)\s*(?:\{\s*\|\s*(\w+)|do\s*\|\s*(\w+)|\(\s*(?:async\s*)?\(?\s*(\w+)|\(\s*&\s*(?=\"))"
)
# `{execSync: run} = …`, `import {execSync as run}`, `run = cp.execSync`
ALIAS = re.compile(
    r"[{,]\s*(\w+)\s*:\s*(\w+)(?=[\s\w:,]{0,200}\}\s*=)|[{,]\s*(\w+)\s+as\s+(\w+)"
    r"|(?<![\w.])(\w+)\s*=\s*(?:[\w$]+(?:\(\"[^\"]{0,40}\"\))?\.){1,3}(\w+)\s*(?=[;,\n]|\Z)"
)
_compiled: dict[str, re.Pattern[str]] = {}


def calls_of(language: str) -> re.Pattern[str] | None:
    """Return the pattern of a language's calls, or None."""
    found = _compiled.get(language)
    calls = CALLS[language]
    if found is None and calls:
        groups = (
            f"(?P<{kind}>{'|'.join(map(re.escape, sorted(names.split('|'), key=len, reverse=True)))})"
            for kind, names in calls.items()
        )
        lookbehind = r"(?<![\w$@%&>])" if language in ("perl", "php") else r"(?<![\w$])"
        opening = (
            r"(?=\s*\()"
            if language in ("javascript", "php", "r", "julia", "groovy")
            else r"(?![\w:=]|\s*=[^~]|\s*=>)"
        )
        if language == "lua":
            opening = r"(?=\s*[(\"])"
        found = _compiled[language] = re.compile(f"{lookbehind}(?:{'|'.join(groups)}){opening}")
    return found

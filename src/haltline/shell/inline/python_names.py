"""The functions of Python that run, delete, overwrite or send, by their dotted names."""

from __future__ import annotations

import re

from haltline.shell.vocabulary import word_set

SHELL = word_set(
    "os.system os.popen subprocess.getoutput subprocess.getstatusoutput commands.getoutput pty.spawn "
    "asyncio.create_subprocess_shell commands.getstatusoutput popen2.popen2 posix.system nt.system "
    "IPython.get_ipython().system get_ipython().system anyio.run_process pexpect.spawn pexpect.run"
)
RUN = word_set(
    "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen "
    "asyncio.create_subprocess_exec sh.Command plumbum.cmd"
)
TREE = word_set("shutil.rmtree distutils.dir_util.remove_tree send2trash.send2trash")
ONE = word_set("os.remove os.unlink os.rmdir os.removedirs posix.unlink posix.remove")
EVALUATE = word_set(
    "eval exec compile builtins.eval builtins.exec builtins.compile code.interact runpy.run_path"
)
LISTING = ("glob", "listdir", "walk(", "iterdir", "scandir")
OPEN = word_set("open io.open codecs.open builtins.open")
SEND = re.compile(
    r"(?:^|\.)(?:requests|httpx|aiohttp|urllib3?|http|smtplib|socket|websockets?|ftplib|paramiko|sock|session"
    r"|client|s|u|r)\b.*\.(?:post|put|patch|get|request|urlopen|send|sendall|sendto|sendmail|send_message|storbinary)\Z"
    r"|(?:^|\.)(?:urlopen|urlretrieve|Request)\Z"
)
DATABASE_LOSS = {
    ".drop_all": "drop",
    ".drop_database": "drop",
    ".flushall": "drop",
    ".flushdb": "drop",
    ".drop_tables": "drop",
    ".drop_collection": "drop",
    ".objects.all().delete": "delete-all",
    ".query.delete": "delete-all",
}
# A call, and the command that does the same: `0`, `1` are its arguments; `@` is what the method belongs to.
EQUIVALENTS = {
    "os.rename": "mv 0 1",
    "os.renames": "mv 0 1",
    "os.replace": "mv 0 1",
    "shutil.move": "mv 0 1",
    "shutil.copy": "cp 0 1",
    "shutil.copy2": "cp 0 1",
    "shutil.copyfile": "cp 0 1",
    "shutil.copytree": "cp -r 0 1",
    "os.symlink": "ln -s 0 1",
    "os.truncate": "truncate -s 1 0",
    "os.chmod": "chmod 1 0",
    "os.lchmod": "chmod 1 0",
    "os.chown": "chown 1 0",
    "shutil.chown": "chown 1 0",
    "os.setxattr": "xattr 0",
    "os.kill": "kill -9 -- 0",
    "os.killpg": "kill -9 -- 0",
    "os.chdir": "cd 0",
    "shutil.unpack_archive": "unzip 0 -d 1",
}
METHODS = {".rename": "mv @ 0", ".replace": "mv @ 0", ".chmod": "chmod 0 @", ".symlink_to": "ln -s 0 @"}
MODE = frozenset({"os.chmod", "os.lchmod", ".chmod"})

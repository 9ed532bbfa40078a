"""What `only_reads` says of each program: a wrong yes would pass in a halted session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haltline.shell import analyze

FILES_READ = """
ls -la --color=auto src
ls $x
cat a.txt b.txt
head -n 5 a
tail -f log
wc -l < a
grep -rn x src
egrep 'a|b' f
rg -n --glob '*.py' TODO src
rg -uu -e a -e b
ag --python x
ack -i x
diff -u a b
cmp a b
stat a
file a
du -sh .
df -h
tree -L 2 -I node_modules
find . -name '*.py' -type f -mtime -1 -print0
find . -type f -exec grep -l x {} +
find . -maxdepth 2 ! -path './.git/*' -exec wc -l {} \\;
find . -name '*.py' | xargs grep -n x
find . -print0 | xargs -0 -n 1 wc -l
fd -e py x
sort -k2,2n -t, a
sort -u a | uniq -c | sort -rn | head -20
uniq -c a
cut -d: -f1 /etc/passwd
column -t -s, a
shuf -n 3 a
tr a-z A-Z < a
jq -r '.a[] | .b' f.json
yq -r .a f.yaml
xxd a
xxd -l 16 a
base64 -d a
sha256sum a
less +G log
less -R a
man ls
bat -p a
awk '{print $1}' a
awk -F: '$3 == 0 || $1 ~ /root/ {print $1, length($2)}' /etc/passwd
sed -n '10,20p' a
sed -n '/start/,/end/p' a
sed 's/a/b/g; s|x|y|' a
sed -E -e 's/(a)[0-9]+/\\1/' -e '$d' a
sed '/^#/d;/^$/d' a
sed -n '/x/{p;q}' a
echo hi
printf '%s\\n' a
test -f a && echo y
[ -d b ] || echo n
cd src && ls
for f in *.py; do wc -l "$f"; done
while read -r line; do echo "$line"; done < a
x=$(ls) && echo "$x"
env LANG=C ls
timeout 5 ls
nice -n 5 ls
time ls
command -v git
bash -c 'ls | head'
bash -lc 'cat a'
watch -n 1 ls
which git
f() { ls; }; f
python3 -c "print(open('x').read())"
python3 -c "import sys; print(sys.argv, len(open('x', 'rb').read()))" x
python3 -c "for line in open('x', encoding='utf-8'): print(line.strip())"
echo $((1 + 2))
for ((i = 0; i < 3; i++)); do echo $i; done
for k in "${!a[@]}"; do echo "$k"; done
find src -type f | xargs -I{} sh -c 'wc -l "$1"' _ {}
local n=1; echo $n
read -r -p name x
"""
FILES_DO_MORE = r"""
sort -o out in
sort --output=out in
sort -uoout in
sort --files0-from=x --compress-program=./x in
sort $x in
sort * in
uniq in out
tree -o out
tree -R -H . -L 1
find . -delete
find . -fprint out
find . -fls out
find . -fprintf out %p
find . -exec rm {} +
find . -exec echo {} + -delete
find . -exec grep x {} \; -delete
find . -okdir ls \;
find . -exec xxd {} out \;
find . -name x | xargs sort
xargs -a names rm
fd -x ls
fd --exec-batch ls
rg --pre ./x y
rg --hostname-bin=./x y
ag --pager ./x y
ack --pager=./x y
bat --pager ./x f
less -o log f
less '+!touch x' f
less '+s out' f
less -k keys f
man -P ./x ls
man -Hfirefox ls
xxd -r in out
xxd in out
base64 -o out in
shuf -o out in
yq -i .a=1 f
yq --inplace .a=1 f
file -C -m magic
diff a b > out
sed -i s/a/b/ f
sed -n 'w out' in
sed '1w out' in
sed 's/a/b/w out' in
sed 's/a/b/e' in
sed 's/a/b/ge' in
sed '1e touch x' in
sed -f script in
sed 's/[/]/x/w out' in
sed '/[/]w out/p' in
sed -e p -e 'w out' in
sed --in-place=.bak p f
awk '{print > "out"}' in
awk '{print | "sh"}' in
awk 'BEGIN{system("id")}' in
awk 'BEGIN{system ("id")}' in
awk 'BEGIN{"id" | getline x}' in
awk 'BEGIN{f="system"; @f("id")}' in
awk '/"/ {print > "out"} # "' in
awk -f program in
awk -i inplace '{print}' in
awk -l ext '{print}' in
awk -o out '{print}' in
awk --profile=out '{print}' in
awk "$x" in
tee out
touch x
mkdir x
ln -s a b
truncate -s 0 a
split a
csplit a 10
dd if=a of=b
tar -cf x.tar a
tar -xf x.tar
zip x.zip a
gzip a
split --filter='sh' a
env -S 'rm x'
env FOO=1 ls
env -C x ./ls
nohup ls
strace -o x ls
strace ls
ltrace -o x ls
perf record ls
valgrind ls
script -c ls
sudo ls
doas ls
ssh h cat x
docker exec c ls
kubectl exec p -- ls
npx ls
nice -5 rm x
timeout 5 rm x
time -o out ls
time -a -o out ls
flock lock ls
chroot / ls
unshare ls
parallel ls
bash -ic ls
bash script.sh
bash -c "$x"
"""
SHELL_DOES_MORE = r"""
LESSOPEN='|./x %s'; less f
export LESSOPEN=x
((PATH=1)); ls
((PATH++)); ls
let PATH=1; ls
echo $((PATH = 1)); ls
a[PATH=1]=2; ls
x=PATH; (($x=1)); ls
x=PATH; echo ${!x:=y}; ls
echo ${PATH:=y}; ls
echo ${x@P}
wait -p PATH; ls
read -aPATH; ls
read -r PATH < f; ls
declare -n r=LESSOPEN; r=./x; less f
cat {PATH}<a; ls
LESSOPEN=x; less f; unset LESSOPEN
read LESSOPEN < f; less f
printf -v LESSOPEN %s ./x; less f
for PAGER in ./x; do git log; done
declare -x GIT_EXTERNAL_DIFF=./x; git diff
npm_config_script_shell=./x; ls
https_proxy=http://h; ls
alias ls='rm -rf x'
alias ls='rm x'; true
ls() { rm x; }; true
hash -p ./x ls
enable -n test
enable -f ./x.so x
fg
bg
disown
kill 1
history -c
history -w
jobs -x touch x
ulimit -n 5
umask 077
set -x; foo
trap 'rm x' EXIT
exec > out
: > out
true > out
echo hi >> out
cat <<< x > out
cat < /dev/tcp/h/1
coproc foo
x=1
eval "$x"
$x
'ls
./ls
python -c "open('x', mode=m)"
python -c "import foo; foo.go(); open('x')"
python3 -c "open('x', 'a')"
python3 -c "open('x', *m)"
python3 -c "open('x', **m)"
python3 -c "open('x', opener=f)"
python3 -c "o = open; o('x', 'w')"
python3 -c "open('x').__class__"
python3 -c "[print, open][1]('x', 'w')"
python3 -c "import json; open('x')"
python3 -c "import os as sys; open('x'); sys.argv"
python3 -c "list(map(open, ['x']))"
python3 -c "print(open('x'), file=open('y', 'w'))"
python3 -c "open('x'); exec('1')"
python3 -c "sorted(open('x'), key=exec)"
python3 -c "open('x'); __builtins__"
python3 -c "print(open=1, file=open('x')) ; [0 for open in []]"
python3 -W ignore -c "open('x')"
python3 x.py
python3 -m json.tool a
node -e 'x()'
perl -ne print f
perl -e 'open(F, ">x")'
ruby -e 'puts 1'
php -r 'echo 1;'
"""
SYSTEM_READ = """
git log -p
go list -m all
docker ps
kubectl get pods
timeout 5 ls -l
env ls
xargs -a f ls
sh -c 'cat x'
find . -exec cat {} +
python3 -c "open('x', 'r')"
psql -c 'explain delete from t'
psql -c 'select count(*) from users'
sqlite3 x 'pragma table_info(a)'
sqlite3 x .tables
sqlite3 -readonly x 'select 1'
ls > /dev/null
date
date +%F
date -u -d yesterday +%s
hostname
hostname -f
ip addr
ip -br a
ip route get 1.1.1.1
ifconfig
ss -tlnp
ss -tln state established
netstat -an
lsof -i :80
ps aux
ps -ef | grep x
top -b -n 1
free -m
uptime
mount
dmesg -T
journalctl -u nginx -n 50 --no-pager
journalctl --since today -f
systemctl status nginx
systemctl list-units --type=service
crontab -l
sysctl -a
sysctl -a -r kernel
getent passwd root
lsblk -f
id
uname -a
stty -a
history 20
umask
ulimit -n
dpkg -l
apt list --installed
brew list --versions
"""
SYSTEM_DOES_MORE = """
git log -p --textconv
git diff --output=x
ss -K dst x
valgrind --log-file=x ls
hyperfine --export-json x ls
script -c ls x
flock x ls
docker exec x ls
nix-shell --run ls
direnv exec . ls
chroot /x ls
python3 -c "open('x', mode=m)"
psql -c 'select 1' -o out
psql -L out -c 'select 1'
psql -c "select anything(1)"
sqlite3 x "select writefile('a','b')"
sqlite3 x 'pragma user_version=3'
sqlite3 -readonly x 'drop table a'
mysql --tee=f -e 'select 1'
mysql -e "select 1 into outfile '/tmp/x'"
date -s now
date --set=now
date 010100002001
hostname new
hostname -F f
hostname -b new
ip link set eth0 up
ip addr add 1.2.3.4 dev eth0
ip netns exec x ls
ip -batch f
ip route flush cache
ifconfig eth0 down
ss -K
ss --kill dst 1.2.3.4
ss -D out
lsof -Db
arp -d h
arp -s h a
dmesg -c
dmesg -C
dmesg -n 1
mount -a
mount /dev/sda1 /mnt
mount -o remount,rw /
umount /mnt
journalctl --vacuum-size=1M
journalctl --vacuum-time 1d
journalctl --rotate
journalctl --flush
journalctl -o json --cursor-file=out
systemctl stop nginx
systemctl -H host status nginx
systemctl restart status
service nginx restart
crontab -r
crontab file
crontab -l -r
sysctl -w a=1
sysctl a=1
sysctl -p
getent hosts data.example.com
lspci -Q
lastlog -C -u x
locate -S --update
updatedb
ldd ./x
history -a
stty -echo
tty x
timedatectl set-time now
hostnamectl set-hostname x
loginctl kill-user 1
fdisk /dev/sda
parted -l /dev/sda mklabel gpt
iptables -L -F
iptables -A INPUT -j DROP
nft flush ruleset
ufw enable
nmcli connection delete show
launchctl unload list
defaults write read x
xattr -w a b f
apt-get update
dpkg -i x.deb
rpm -q --pipe ./x y
brew cleanup
pacman -Sy
openssl enc -in a -out b
openssl rand -out x 1
gpg -d a
gpg --list-keys
curl http://h
curl -o x http://h
curl -d @a http://h
curl -X POST http://h
curl -T a http://h
curl -K f
wget http://h
dig x
nslookup x
ping h
nc h 1
"""
GIT_READ = """
git status
git status -sb
git --no-pager log -5 --oneline
git -C sub log -n 3 --stat --format=%H
git log --since=yesterday -p -- src
git log -S x -G y --all
git diff
git diff --stat HEAD~1..HEAD -- a
git diff --cached --name-only -U3 -M50%
git show HEAD:a
git show --stat
git blame -L 1,5 a
git grep -n x
git branch
git branch -a -vv
git branch --show-current
git tag -l 'v*'
git remote -v
git remote get-url origin
git stash list
git worktree list
git rev-parse --abbrev-ref HEAD
git ls-files -m
git ls-tree -r HEAD --name-only
git cat-file -p HEAD
git describe --tags --always
git shortlog -sn
git reflog
git config --get user.name
git config -l
git merge-base a b
git rev-list --count HEAD
git check-ignore -v a
git count-objects -v
git --version
git --exec-path
PAGER=cat git log
GIT_PAGER=cat git log
"""
GIT_DOES_MORE = """
git --exec-path=x status
git --git-dir=x status
git -c core.pager=./x log
git -c core.pager=less log
git -c alias.x='!touch y' x
git -c diff.external=./x diff
git -p log
git log --textconv
git log --ext-diff
git log --output=x
git log --show-signature
git diff --ext-diff
git diff --output x
git show --textconv HEAD:a
git grep -O x
git grep -O./x y
git grep --open-files-in-pager x
git cat-file --textconv HEAD:a
git cat-file --filters HEAD:a
git blame --contents=x a
git blame --textconv a
git branch new
git branch -d old
git branch -m a b
git branch -f main HEAD
git branch --set-upstream-to=x
git tag v1
git tag -d v1
git remote add x y
git remote update
git remote show ext::x
git remote prune origin
git stash
git stash pop
git stash clear
git worktree add x
git worktree prune
git reflog expire --all
git config user.name x
git config unset user.name
git config --unset user.name
git config edit
git config --edit
git config --remove-section a
git fetch
git pull
git ls-remote ext::x
git archive --remote=x HEAD
git archive HEAD
git merge-tree a b
git hash-object -w a
git update-index --refresh
git gc
git fsck --lost-found
git bisect view
git bisect start
git notes add
git clean -f
git verify-commit HEAD
git bugreport
git help -w log
git difftool
git rev-parse --parseopt
git foo
git log $x
"""
DATABASES_READ = """
psql -c 'select count(*) from t'
psql -h h -U u -d d -At -c "select a, lower(b) from t where c in (1, 2) order by 1 limit 5"
psql -c 'explain delete from t where id=1'
psql -c 'explain (costs off) select * from t'
psql -c '\\dt'
psql -c '\\d+ t'
psql -c 'show all'
psql -c 'with x as (select 1) select * from x'
psql -c 'select pg_sleep(1)'
psql -c "select 'drop table x'"
psql -c 'select max(a) from t where exists (select 1 from u); select now()'
sqlite3 a.db .tables
sqlite3 a.db '.schema t'
sqlite3 -json a.db 'select * from t'
sqlite3 a.db 'pragma table_info(t)'
sqlite3 a.db 'pragma user_version'
mysql -u u -psecret -e 'show tables' d
mysql -e 'select count(*) from t where a = "x"'
mysql -e 'describe t'
"""
DATABASES_DO_MORE = """
psql
psql -f x.sql
psql -o out -c 'select 1'
psql -L log -c 'select 1'
psql -v x=1 -c 'select 1'
psql -c 'explain analyze delete from t where id=1'
psql -c 'explain (analyze, buffers) select f(1)'
psql -c 'EXPLAIN ANALYSE insert into t values (1)'
psql -c 'select 1 into x'
psql -c 'select * from t for update'
psql -c 'select * from t for no key update'
psql -c 'select * from t for share'
psql -c 'with x as (delete from t where id=1 returning *) select * from x'
psql -c 'select lo_unlink(1)'
psql -c "select lo_import('/etc/passwd')"
psql -c 'select "lo_unlink"(1)'
psql -c 'select pg_catalog.lo_unlink(1)'
psql -c 'select my.count(1)'
psql -c 'select pg_terminate_backend(1)'
psql -c 'select pg_cancel_backend(1)'
psql -c 'select pg_reload_conf()'
psql -c "select setval('s', 1)"
psql -c "select nextval('s')"
psql -c "select set_config('a', 'b', false)"
psql -c "select pg_read_file('x')"
psql -c "select dblink_exec('x', 'y')"
psql -c "select query_to_xml('delete from t', true, true, '')"
psql -c 'select array[lo_unlink(1)]'
psql -c "/* /* */ ' */ delete from t where id = 1; --'"
psql -c 'select my_function()'
psql -c 'explain select my_function()'
psql -c '\\o out'
psql -c '\\copy t to out'
psql -c '\\! ls'
psql -c 'select 1 \\g out'
psql -c "copy t to program 'sh'"
psql -c 'copy t to stdout'
psql -c 'analyze t'
psql -c 'set role x'
psql -c 'select 1; vacuum'
psql -c 'do x'
psql -c "$x"
psql -c 'prepare x as delete from t; execute x'
sqlite3 a.db "select writefile('x', 'y')"
sqlite3 a.db "select load_extension('x')"
sqlite3 a.db "select edit('x')"
sqlite3 a.db 'pragma user_version=1'
sqlite3 a.db 'pragma user_version(1)'
sqlite3 a.db 'pragma journal_mode(wal)'
sqlite3 a.db 'pragma wal_checkpoint'
sqlite3 a.db '.output x'
sqlite3 a.db '.once x'
sqlite3 a.db '.shell ls'
sqlite3 a.db '.system ls'
sqlite3 a.db '.read x'
sqlite3 a.db '.load x'
sqlite3 a.db '.backup x'
sqlite3 a.db '.log x'
sqlite3 a.db ' .shell ls'
sqlite3 -readonly a.db '.shell ls'
sqlite3 -cmd '.shell ls' a.db 'select 1'
sqlite3 -init x a.db 'select 1'
sqlite3 a.db "attach 'x' as y"
mysql -e "select 1 into outfile 'x'"
mysql -e "select 1 into dumpfile 'x'"
mysql -e '\\! ls'
mysql -e 'system ls'
mysql -e 'tee x'
mysql -e 'source x'
mysql -e "select sys_exec('x')"
mysql -e 'select get_lock(1, 2)'
mysql -e 'select /*! 1 into outfile "x" */ 2'
mysql --tee=x -e 'select 1'
mysql --pager=./x -e 'select 1'
mysql --init-command='delete from t' -e 'select 1'
mysql -e 'explain analyze delete from t'
duckdb a.db "copy t to 'x'"
redis-cli
redis-cli set a b
mongosh --eval 'db.x.find()'
"""
CLOUD_READ = """
kubectl get pods -n x -o wide
kubectl get pods -A --show-labels
kubectl describe pod x
kubectl logs -f x --tail=10
kubectl config current-context
kubectl auth can-i get pods
kubectl top nodes
docker ps -a
docker logs --tail 5 c
docker inspect c
docker images -q
docker compose ps
docker system df
helm list -A
helm template x
gh pr view 1 --json title
gh run list -L 5
gh issue list --state open
gh pr diff 1
aws s3 ls s3://b
aws ec2 describe-instances --region us-east-1 --query x
aws sts get-caller-identity
gcloud compute instances list --project x
gcloud config list
az vm list -o table
az network nsg rule list --nsg-name n -g g
aws iam get-instance-profile --instance-profile-name x
kubectl get --help
yarn list
terraform show
terraform state list
terraform fmt -check
npm ls --depth=0
npm view x
pip list
pip3 show x
cargo tree --frozen
cargo metadata --frozen --no-deps
go list ./...
go env
go version
vercel ls
doctl compute droplet list
"""
CLOUD_DOES_MORE = """
kubectl get --raw /x
kubectl get -f http://h/x
kubectl --kubeconfig x get pods
kubectl --server h get pods
kubectl diff -f x
kubectl cluster-info dump --output-directory=x
kubectl apply -f x
kubectl delete get x
kubectl config use-context x
kubectl config set-credentials view
kubectl proxy
kubectl cp a b
kubectl port-forward x 1
kubectl run x --image=y -- ls
docker start ps
docker rm list
docker pull x
docker cp c:a b
docker run x ls
docker run --rm x --help
docker compose config -o x
docker save -o x y
docker -H tcp://h ps
docker buildx bake list
helm uninstall list
helm template x --output-dir y
helm template x --post-renderer ./x
helm template http://h/x
gh api x
gh api -X DELETE x
gh api repos/x -f a=b
gh api list
gh browse list
gh pr merge view
gh pr view --web
gh repo clone list
gh extension exec list
aws s3api get-object --bucket b --key k out
aws apigateway get-export --rest-api-id x --stage-name y --export-type swagger out
aws glacier get-job-output x
aws --endpoint-url http://h s3 ls
aws s3 cp a b
aws ec2 terminate-instances --instance-ids i
gcloud compute instances start list
gcloud compute ssh list
gcloud functions call describe
az vm start list
az rest show
heroku run list
vercel deploy ls
railway up status
railway -s list up
fly -a status deploy
docker -c ps start x
kubectl -n get create ns x
helm -n list upgrade x y
fly deploy status
doctl compute droplet delete list
terraform plan -out=x
terraform apply
terraform fmt
terraform state rm list
pulumi preview
npm config set a b
npm audit fix
npm install
npm run ls
npm exec ls
yarn ls
pnpm query x
gcloud functions deploy list
gcloud builds triggers run list
gcloud compute disks snapshot list
kubectl exec x -- ls --help
aws ec2 get-console-screenshot --instance-id i --wake-up
pip config set a b
pip download x
pip install list
cargo metadata
cargo tree
cargo run
cargo build
go list -mod=mod ./...
go list -toolexec=./x ./...
go list -export ./...
go env -w A=b
go run list
go vet -vettool=./x
uv run ls
uv version --bump patch
poetry run ls
argocd app sync list
vault read secret/x
ansible-doc -M ./x y
"""


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize(
    "command",
    [
        *rows(FILES_READ), *rows(SYSTEM_READ), *rows(GIT_READ), *rows(DATABASES_READ), *rows(CLOUD_READ),
        "ls \\\n  -la", "psql <<'E'\nselect 1;\nE",
    ],
)  # fmt: skip
def test_everyday_reads_are_proved_to_be_reads(command: str) -> None:
    assert analyze(command).only_reads


@pytest.mark.parametrize(
    "command",
    [
        *rows(FILES_DO_MORE), *rows(SHELL_DOES_MORE), *rows(SYSTEM_DOES_MORE), *rows(GIT_DOES_MORE),
        *rows(DATABASES_DO_MORE), *rows(CLOUD_DOES_MORE),
        "sqlite3 a.db 'select 1;\n.shell ls'", "awk 'BEGIN{sys\\\ntem(\"id\")}' in", "ls\nfoo",
        "psql <<'E'\n\\o x\nselect 1;\nE",
    ],
)  # fmt: skip
def test_what_may_change_send_or_run_something_is_not_proved_to_read(command: str) -> None:
    assert not analyze(command).only_reads


READS = [*rows(FILES_READ), *rows(SYSTEM_READ), *rows(GIT_READ), *rows(DATABASES_READ), *rows(CLOUD_READ)]
MORE = [*rows(FILES_DO_MORE), *rows(SYSTEM_DOES_MORE), *rows(GIT_DOES_MORE), *rows(DATABASES_DO_MORE)]
# Ways of running two commands in which both run.
TOGETHER = [
    "{}\n{}", "{} ; {}", "{} && {}", "{} || {}", "{} | {}", "{} & {}", "( {} )\n{}", "{{ {}\n}}; {}",
    "if {}\nthen {}\nfi", "while {}\ndo {}\ndone", "echo $({}\n) `{}\n`", "cat <({}\n) <({}\n)",
    "{}\nf() {{ {}\n}}; f", "case a in a) {}\n{};; esac", "! {}\ntime {}",
]  # fmt: skip


@given(st.sampled_from(TOGETHER), st.sampled_from(READS), st.sampled_from(MORE), st.booleans())
def test_a_text_that_does_more_anywhere_is_not_proved_to_read(
    together: str, read: str, more: str, first: bool
) -> None:
    assert not analyze(together.format(*((more, read) if first else (read, more)))).only_reads


@given(
    st.sampled_from(["{} ; {}", "{} && {}", "{} | {}", "{}\n{}"]),
    st.sampled_from(READS),
    st.sampled_from(READS),
)
def test_reads_one_after_another_are_reads(together: str, first: str, second: str) -> None:
    assert analyze(together.format(first, second)).only_reads

#!/bin/sh
# How the fixture beside this script was made: by the binary of commit 5a68fb3, the last one that wrote format 1.
#   sh make.sh .../backsight
# Two workspaces: `kept`, in which every content is still there, and `expired`, in which `gc` removed the oldest.
set -eu
backsight=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
export HOME="$work/home" XDG_CONFIG_HOME="$work/home" XDG_STATE_HOME="$work/home"
mkdir "$work/home" "$work/kept"
cd "$work/kept"
printf 'one\ntwo\nthree\n' > a.txt
printf 'never changes\n' > still.txt
mkdir -m 0750 d
printf 'x\n' > d/old-name.txt
"$backsight" track -m 'the beginning' > /dev/null                                                # 1
printf 'one\nTWO\nthree\n' > a.txt
"$backsight" track --tool edit --session s1 --message m1 --part p1 --declare a.txt -m 'upper case' > /dev/null # 2
mv d/old-name.txt d/new-name.txt
chmod 755 still.txt
"$backsight" track --tool bash --session s1 --pin -m 'renamed' > /dev/null                       # 3
printf 'one\nTWO\nthree\nfour\n' > a.txt
"$backsight" track --tool edit --session s2 -m 'a fourth line' > /dev/null                       # 4
"$backsight" revert 2 > /dev/null                                                                # 5
printf 'by hand\n' > notes.txt
"$backsight" undo > /dev/null                                                                    # 6 safety, 7 undo
"$backsight" redo > /dev/null                                                                    # 8
"$backsight" restore 3 > /dev/null                                                               # 9
rm still.txt
"$backsight" track -m 'gone' > /dev/null                                                         # 10
"$backsight" pin 4 > /dev/null
cp -a "$work/kept" "$work/expired"
"$backsight" -C "$work/expired" gc --keep-count 3 > /dev/null
for name in kept expired; do
    "$backsight" -C "$work/$name" --json log --limit 0 > "$here/$name.log.json"
done
cd "$work"
tar --owner=0 --group=0 --numeric-owner --mtime=@1700000000 -czf "$here/workspaces.tar.gz" kept expired
rm -rf "$work"

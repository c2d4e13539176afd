"""A Java home that Spark can use: the Java that the models run on, behind a launcher of our own.

Spark always asks for the module jdk.incubator.vector. The Java runtime that pip installs lacks it and would not start;
others warn about it on every start. Spark does without, so the launcher leaves it out.
"""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

from scatterproof.models.java import find_java
from scatterproof.spec.files import cache_folder, write_atomically

LOG_VARIABLE = "SCATTERPROOF_SPARK_LOG"  # where Java's and its Python workers' standard error goes

_LAUNCHER = """\
#!/bin/sh
# Written by spark/java_home.py. Starts Java without the module that Spark asks for and does not need.
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  count=$((count - 1))
  case $argument in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
if [ -n "${@LOG@:-}" ]; then
  [ -d "${@LOG@%/*}" ] || exit 1 # who asked for this Java has gone
  exec 2>>"$@LOG@"
  # A signal to all processes of a group is for us: this Java ends when its input does. Those of a cluster end by it.
  trap '' TERM
  # One that loses us while it starts would go on for ever: it is ended when its input has, if it is there still.
  exec 3<&0
  (
    while read -r _ <&3; do :; done
    for _ in $(seq 100); do
      read -r _ _ _ parent _ </proc/self/stat
      [ "$parent" = $$ ] || exit
      sleep 0.1
    done
    kill -KILL $$
  ) >/dev/null 2>&1 &
  exec 3<&-
fi
exec @JAVA@ "$@"
"""


def java_home_for_spark() -> Path:
    """A folder for JAVA_HOME whose bin/java starts the Java found; CannotRun where there is none."""
    java = shlex.quote(str(find_java().absolute()))
    content = _LAUNCHER.replace("@LOG@", LOG_VARIABLE).replace("@JAVA@", java).encode()
    home = cache_folder() / "java" / hashlib.sha256(content).hexdigest()[:16]
    launcher = home / "bin" / "java"
    if not launcher.is_file() or launcher.read_bytes() != content:
        write_atomically(launcher, content)
    launcher.chmod(0o755)
    return home

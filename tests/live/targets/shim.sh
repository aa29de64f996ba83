#!/bin/sh
# switch.sh COMMAND...: what wrappers do before they become the interpreter: a shell that starts another
# shell that waits for its child
sleep 0.3
exec sh -c 'sleep 0.2; "$@"; exit $?' shim "$@"

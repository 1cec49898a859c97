#!/bin/sh
# Playwright has Firefox end with the first page that crashes. The one that people have goes on.
unset MOZ_CRASHREPORTER_SHUTDOWN
exec "$FIREFOX_THAT_STAYS" "$@"

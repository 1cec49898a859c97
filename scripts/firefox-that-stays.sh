#!/bin/sh
# Playwright makes Firefox end with the first page that crashes. The Firefox that people use goes on, and so does this one.
unset MOZ_CRASHREPORTER_SHUTDOWN
exec "$FIREFOX_THAT_STAYS" "$@"

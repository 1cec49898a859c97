import ky = require('oncefetch/ky');
import testing = require('oncefetch/testing');

void [ky.withOnce, testing.idempotentServer];

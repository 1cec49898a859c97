/** A Worker whose client is made at module level. */
import { answer, clientOver } from './app.js';

const once = clientOver();

export default { fetch: (request: Request): Promise<Response> => answer(once, request) };

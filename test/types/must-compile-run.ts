// needs Once.run
import type { Once } from 'oncefetch';

declare const once: Once;
// run infers; interfaces pass (no JsonValue constraint)
interface Intent {
  id: string;
  created: Date;
}
const intent = await once.run(['charge', 1n], async () => ({ id: 'x', created: new Date() }) as Intent);
intent.created.getTime();

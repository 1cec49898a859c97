import { type Once, run } from 'oncefetch';

declare const once: Once;
// run infers; interfaces pass (no JsonValue constraint)
interface Intent {
  id: string;
  created: Date;
}
const intent = await run(once, ['charge', 1n], async () => ({ id: 'x', created: new Date() }) as Intent);
intent.created.getTime();

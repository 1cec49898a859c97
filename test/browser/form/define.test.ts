/** Goal: `defineOnceForm` refuses wrong arguments at once. Method: each wrong argument, and the message that names it. */
import { createOnce } from 'oncefetch';
import { defineOnceForm } from 'oncefetch/form';
import { expect, test } from 'vitest';

const once = createOnce({ namespace: 'ann' });

test.each([
  [undefined, {}, 'once: defineOnceForm takes a client from createOnce, got undefined'],
  [null, {}, 'once: defineOnceForm takes a client from createOnce, got null'],
  [once, null, 'once-form: its options must be an object, got null'],
  [once, 'once-pay', 'once-form: its options must be an object, got "once-pay"'],
  [once, { tag: 'onceform' }, 'once-form: the option tag must be lower case with a hyphen, got "onceform"'],
  [once, { tag: 1 }, 'once-form: the option tag must be of type string, got 1'],
  [once, { says: 'Paid' }, 'once-form: the option says must be of type object, got "Paid"'],
  [once, { call: {} }, 'once-form: the option call must be of type function, got {}'],
  [
    once,
    { says: { donne: 'Paid.' } },
    'once-form: the option says must have texts for sending, waiting, done, already, refused, stale, unsent, unread, unknown, login, expired, failed, check, got "donne"',
  ],
  [once, { words: {} }, 'once-form: its options must be tag, says, call, got "words"'],
] as const)('%#: %s %o', (client, options, says) => expect(() => defineOnceForm(client as never, options as never)).toThrow(new TypeError(says)));

test('a tag can be defined only once', () => {
  defineOnceForm(once, { tag: 'once-taken' });
  expect(() => defineOnceForm(once, { tag: 'once-taken' })).toThrow('once-form: <once-taken> is defined already; give the option tag');
});

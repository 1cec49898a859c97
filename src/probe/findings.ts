/** What rows can find, and how bad each finding is. */

/**
 * `fine`: as it should be. `note`: safe, but a client should know of it. `weak`: nothing is doubled and no answer is false, but a client
 * that lost its answer must find out elsewhere. `wrong`: a client is told something false, or is stuck. `double`: one key had two
 * effects. `not-tried`: nothing is known.
 */
export type ProbeSeverity = 'fine' | 'note' | 'weak' | 'wrong' | 'double' | 'not-tried';

const finding = (severity: ProbeSeverity, says: string): { readonly severity: ProbeSeverity; readonly says: string } => ({ severity, says });

/** What a row found. */
export type ProbeFinding =
  | 'works'
  | 'replays-marked'
  | 'replays'
  | 'answers-anew'
  | 'other-status'
  | 'no-retry-after'
  | 'faults-while-busy'
  | 'accepts-while-busy'
  | 'early-success'
  | 'doubles'
  | 'sent-again'
  | 'may-double'
  | 'no-effect'
  | 'fault-with-effect'
  | 'refused-with-effect'
  | 'marked-first'
  | 'called-copy'
  | 'busy-for-ever'
  | 'stuck'
  | 'no-replay'
  | 'stored-fault'
  | 'false-success'
  | 'never-done'
  | 'no-answer'
  | 'refuses-payload'
  | 'ignores-payload'
  | 'refusal-kept'
  | 'refusal-released'
  | 'refusal-blocks'
  | 'refused-inside'
  | 'fault-released'
  | 'fault-forgets-payload'
  | 'login-first'
  | 'login-burns'
  | 'login-leaks'
  | 'per-path'
  | 'refuses-path'
  | 'ignores-path'
  | 'per-account'
  | 'refuses-account'
  | 'account-leak'
  | 'remembers'
  | 'forgets'
  | 'cors-allows'
  | 'cors-hides'
  | 'cors-refuses'
  | 'not-tried';

export const FINDINGS: Readonly<Record<ProbeFinding, ReturnType<typeof finding>>> = {
  works: finding('fine', 'It takes effect.'),
  'replays-marked': finding('fine', 'One effect, and the stored answer again, marked as a replay.'),
  replays: finding('fine', 'One effect, and the same answer again. No header that oncefetch knows marks it as a replay, so `certain` is false.'),
  'answers-anew': finding('note', 'One effect, and another answer in the same shape: perhaps the present state.'),
  'other-status': finding('note', 'One effect, but the second answer has another status.'),
  'no-retry-after': finding('note', 'One effect, but its 409 has no Retry-After: clients guess how long to wait.'),
  'faults-while-busy': finding('note', 'One effect, but copies that came meanwhile got a 5xx instead of a 409.'),
  'accepts-while-busy': finding('note', 'One effect, but copies that came meanwhile got a 202, while the first could still fail.'),
  'early-success': finding('wrong', 'Copies got a success before the work was done: if the work had failed, that would have been false.'),
  doubles: finding('double', 'One key had more than one effect.'),
  'sent-again': finding('double', 'One request had more than one effect: something in front sends it again, or the count counts something else.'),
  'may-double': finding('wrong', 'Two different answers to one key: probably two effects. Only --count can tell.'),
  'no-effect': finding(
    'wrong',
    'No effect was seen, so nothing can be judged: is the request right (look at what came back), and does the count, if any, see its effect?',
  ),
  'fault-with-effect': finding('wrong', 'It answers 5xx, and the effect is there.'),
  'refused-with-effect': finding('wrong', 'It refuses the request, and the effect is there.'),
  'marked-first': finding('wrong', 'The first answer to a new key is marked as a replay: it is the answer to something else.'),
  'called-copy': finding('note', 'One effect, but the first request under a new key was called a copy: something in front sends requests again.'),
  'busy-for-ever': finding('wrong', 'The effect is there, and the key is still called busy: nobody ever gets its answer. Give `reconcile`.'),
  stuck: finding('wrong', 'There is no effect, and the key stays busy: whoever took it is gone, and no later copy may go on.'),
  'no-replay': finding('weak', 'One effect, but its answer is not given again: after a lost answer, a client must find out elsewhere. Give `reconcile`.'),
  'stored-fault': finding('wrong', 'This key is answered 5xx for good, whatever happened.'),
  'false-success': finding('wrong', 'It answers with a success, and there is no effect.'),
  'never-done': finding('wrong', 'The operation cannot be finished under its key: no effect, and no success.'),
  'no-answer': finding('wrong', 'No answer came.'),
  'refuses-payload': finding('fine', 'Refused, without a second effect.'),
  'ignores-payload': finding('note', 'One effect, but another payload is not noticed: it gets the answer of the first. Say `answersMismatch: false`.'),
  'refusal-kept': finding('fine', 'The refusal uses up its key; the corrected request takes effect under a new one.'),
  'refusal-released': finding('fine', 'The refusal gives its key free: the corrected request takes effect under the same one.'),
  'refusal-blocks': finding('wrong', 'After a refusal not even a new key gets the corrected request through.'),
  'refused-inside': finding('note', 'It refuses with a 2xx, which a client without a rule for that takes for done.'),
  'fault-released': finding('fine', 'The fault gives its key free, and the next copy takes effect.'),
  'fault-forgets-payload': finding(
    'note',
    'After a fault, the key takes another payload. If the work may have had its effect in spite of the fault, that is a second one. Say `answersMismatch: false`.',
  ),
  'login-first': finding('fine', 'The login is checked before the key: a refused one uses up no key, and sees no answer.'),
  'login-burns': finding('wrong', 'A refused login uses up the key.'),
  'login-leaks': finding('wrong', 'A refused login gets the stored answer.'),
  'per-path': finding('fine', 'The key counts for each path by itself.'),
  'refuses-path': finding('fine', 'The key counts for all paths, and is refused at another one.'),
  'ignores-path': finding('note', 'The key counts for all paths: another one gets the answer of the first.'),
  'per-account': finding('fine', 'The key counts for each account by itself. Never say `perAccount: false`.'),
  'refuses-account': finding('note', 'Another account is refused: it learns that the key is in use.'),
  'account-leak': finding('wrong', 'Another account gets the answer of the first one.'),
  remembers: finding('fine', 'The key is still known.'),
  forgets: finding(
    'double',
    'The key is forgotten by then, and has its effect again. Say how long it is kept: `limits.keyWindowMs`, and a shorter `limits.attemptMs`.',
  ),
  'cors-allows': finding('fine', 'Pages of other origins may send the key, and read what they need.'),
  'cors-hides': finding('note', 'Pages of other origins may send the key, but not read every header that matters.'),
  'cors-refuses': finding('note', 'Pages of other origins may not send the key: browsers refuse the request.'),
  'not-tried': finding('not-tried', 'Not tried'),
};

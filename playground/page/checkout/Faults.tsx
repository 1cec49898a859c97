/** Not part of the checkout: breaks the shop's network, so that a visitor sees how the screens above react. */
import { useEffect, useState } from 'react';
import { breakNetwork, faultOf } from '../network.ts';

const LANE = 'default';
const FAULTS = {
  none: 'The network works',
  'lose-response': 'The shop charges; no answer ever arrives',
  'lose-request': 'No request ever reaches the shop',
  'kill-after-commit': 'The server dies after the next charge',
} as const;

export function Faults() {
  const [now, show] = useState('none');
  useEffect(() => void faultOf(LANE).then(show), []);
  return (
    <footer>
      <label>
        What goes wrong
        <select value={now} onChange={({ target: { value } }) => void breakNetwork(LANE, value, 0).then(() => show(value))} autoComplete="off">
          {Object.entries(FAULTS).map(([name, does]) => (
            <option key={name} value={name}>
              {does}
            </option>
          ))}
        </select>
      </label>
      <p>
        Each screen is a file of <code>playground/page/checkout/screens</code>. They talk to a real server over a SQLite ledger.
      </p>
    </footer>
  );
}

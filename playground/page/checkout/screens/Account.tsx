/** Shows who is logged in, with buttons to log in and out. */
import { useState } from 'react';
import { logIn, logOut } from '../shop/account.ts';
import { session, type User } from '../shop/session.ts';
import { Status } from './Status.tsx';

const USERS: readonly User[] = [
  { id: 'user-anna', name: 'Anna' },
  { id: 'user-bert', name: 'Bert' },
];

export function Account({ user }: { user: User }) {
  const [says, say] = useState('');
  const become = (next: User): void => {
    say('');
    void logIn(next);
  };
  return (
    <nav className="account" aria-label="Account">
      <p>
        You are <strong>{user.name}</strong>
      </p>
      <div className="buttons">
        {session.isGuest ? (
          USERS.map((known) => (
            <button type="button" key={known.id} onClick={() => become(known)}>
              Log in as {known.name}
            </button>
          ))
        ) : (
          <button type="button" onClick={() => void logOut().then(say)}>
            Log out
          </button>
        )}
      </div>
      <Status>{says}</Status>
    </nav>
  );
}

import { cookies } from 'next/headers';

/** The user of the session. A real shop verifies the cookie. */
export async function userHere(): Promise<string> {
  const user = (await cookies()).get('user')?.value;
  if (!user) throw new Error('Log in first');
  return user;
}

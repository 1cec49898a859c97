import { cookies } from 'next/headers';

/** Whose session it is; a real shop checks it. */
export async function userHere(): Promise<string> {
  const user = (await cookies()).get('user')?.value;
  if (!user) throw new Error('Log in first');
  return user;
}

import { cookies } from 'next/headers';
import { redirect } from 'next/navigation';

/** The user of the session, if there is one. A real shop verifies the cookie. */
export const userIfAny = async (): Promise<string | undefined> => (await cookies()).get('user')?.value;

/** For pages and actions. If nobody is logged in, leads to the log-in: an error would show `error.tsx`. */
export const userHere = async (): Promise<string> => (await userIfAny()) ?? redirect('/login');

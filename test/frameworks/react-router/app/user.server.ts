/** The user of the session. A real shop verifies the cookie. */
export function userOf(request: Request): string {
  const user = /(?:^|; )user=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1];
  if (!user) throw new Response('Log in first', { status: 401 });
  return user;
}

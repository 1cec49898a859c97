import type { ReactNode } from 'react';
import { isRouteErrorResponse, Links, Meta, Outlet, Scripts } from 'react-router';

export function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <head>
        <Meta />
        <Links />
      </head>
      <body>
        {children}
        <Scripts />
      </body>
    </html>
  );
}

export default function App() {
  return <Outlet />;
}

/** The answer to an action was lost. The server may have charged; only it can tell. */
export function ErrorBoundary({ error }: { error: unknown }) {
  if (isRouteErrorResponse(error) && error.status < 500) return <p role="alert">{error.status === 401 ? 'Please log in.' : 'There is no such page.'}</p>;
  return (
    <>
      <p role="status">Not sure yet whether you have paid.</p>
      <button type="button" onClick={() => location.reload()}>
        Look
      </button>
    </>
  );
}

/** A shop with one page. */
import { StrictMode, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Faults } from './Faults.tsx';
import { Account } from './screens/Account.tsx';
import { Banner } from './screens/Banner.tsx';
import { CartLine } from './screens/CartLine.tsx';
import { Checkout } from './screens/Checkout.tsx';
import { arrive } from './shop/account.ts';
import { useCart } from './shop/cart.ts';
import { session } from './shop/session.ts';

function App() {
  const user = useSyncExternalStore(session.subscribe, () => session.user);
  const arrived = useSyncExternalStore(session.subscribe, () => session.arrived);
  return (
    <>
      <header className="top">
        <p className="brand">
          <a href="../">oncefetch</a>
        </p>
        <h1>A checkout to copy</h1>
        <Account user={user} />
      </header>
      {arrived && <Shop key={user.id} user={user.id} />}
      <Faults />
    </>
  );
}

/** All screens below belong to one user. When another user logs in, React mounts them anew. */
function Shop({ user }: { user: string }) {
  const { cart, setBags, startAnother } = useCart(user);
  return (
    <main>
      <Banner except={cart.id} />
      <CartLine cart={cart} setBags={setBags} />
      <Checkout key={cart.id} cart={cart} onAnother={startAnother} />
    </main>
  );
}

void arrive();
createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

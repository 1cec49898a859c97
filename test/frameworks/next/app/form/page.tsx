import { said } from '../../../shop/payments';
import { userHere } from '../user';
import { PayForm } from './PayForm';

export default async function Page({ searchParams }: { searchParams: Promise<{ cart: string }> }) {
  const { cart } = await searchParams;
  return <PayForm cart={cart} said={await said(await userHere(), cart)} />;
}

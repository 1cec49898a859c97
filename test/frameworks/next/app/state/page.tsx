import { said } from '../../../shop/payments';
import { userHere } from '../user';
import { StateForm } from './StateForm';

export default async function Page({ searchParams }: { searchParams: Promise<{ cart: string }> }) {
  const { cart } = await searchParams;
  return <StateForm cart={cart} said={await said(await userHere(), cart)} />;
}

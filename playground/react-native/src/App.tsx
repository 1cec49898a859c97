/** A checkout with a banner for a payment that was interrupted because the app was killed. */
import { resumeOne } from 'oncefetch';
import { useOperation, usePending } from 'oncefetch/react';
import { useState } from 'react';
import { Button, Text, View } from 'react-native';
import { once } from './once';
import { payWithAxios } from './pay-with-axios';
import { payWithKy } from './pay-with-ky';
import { type Order, type View as Says, viewOf } from './view';

const ORDER: Order = { id: 'o-42', total: 4200 };

const TEXTS: Readonly<Record<Says, string>> = {
  paid: 'Paid.',
  offline: 'You are offline. Nothing was sent, and nothing will be.',
  declined: 'Not paid. Nothing was charged.',
  unsure: 'Not sure yet. Pay again: you will not be charged twice.',
};

const euros = (cents: number) => `€${(cents / 100).toFixed(2)}`;

/** Also shown after a relaunch, because the name and the total are in the store. */
function Unsure({ say }: { say: (says: Says) => void }) {
  const [last] = usePending<{ total: number }>(once, { prefix: ['pay'] });
  if (!last) return null;
  // Sends the payment again under the same key.
  const check = () => void resumeOne(once, last.name).then(viewOf, viewOf).then(say);
  return (
    <View accessibilityRole="alert">
      <Text>{`${last.meta ? `Your payment of ${euros(last.meta.total)}` : 'A payment'} is still being confirmed.`}</Text>
      <Button title="Check" onPress={check} />
    </View>
  );
}

export function App() {
  const { state } = useOperation(once, ['pay', ORDER.id]);
  const [says, say] = useState<Says>();
  const busy = state.phase === 'sending' || state.phase === 'waiting';
  // Two taps are one payment, so the buttons need not be disabled.
  const pay = (how: typeof payWithAxios) => void how(ORDER).then(say);
  return (
    <View style={{ padding: 48 }}>
      {!busy && <Unsure say={say} />}
      <Text>{`Order ${ORDER.id}: ${euros(ORDER.total)}`}</Text>
      <Button title="Pay (axios)" onPress={() => pay(payWithAxios)} />
      <Button title="Pay (ky)" onPress={() => pay(payWithKy)} />
      <Text>{busy ? 'One moment…' : says && TEXTS[says]}</Text>
    </View>
  );
}

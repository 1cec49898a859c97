/** A checkout, and the banner of a payment that was under way when the app was killed. */
import { useOperation, usePending } from 'oncefetch/react';
import { useState } from 'react';
import { Button, SafeAreaView, Text, View } from 'react-native';
import { once } from './once';
import { payWithAxios } from './pay-with-axios';
import { payWithKy } from './pay-with-ky';
import type { Order, View as Says } from './view';

const ORDER: Order = { id: 'o-42', total: 4200 };

const TEXTS: Readonly<Record<Says, string>> = {
  paid: 'Paid.',
  offline: 'You are offline. Nothing was sent, and nothing will be.',
  declined: 'Not paid. Nothing was charged.',
  unsure: 'Not sure yet. Pay again: you will be charged once.',
};

/** Shown after a relaunch too: the name and the total are in the store. */
function Unsure() {
  const [last] = usePending(once, { prefix: ['pay'] });
  if (!last) return null;
  const { total } = last.meta as { total: number };
  const check = () =>
    void once
      .operation(last.name)
      .resume()
      .catch(() => {});
  return (
    <View accessibilityRole="alert">
      <Text>Your payment of €{(total / 100).toFixed(2)} is still being confirmed.</Text>
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
    <SafeAreaView>
      <Unsure />
      <Text>
        Order {ORDER.id}: €{(ORDER.total / 100).toFixed(2)}
      </Text>
      <Button title="Pay (axios)" onPress={() => pay(payWithAxios)} />
      <Button title="Pay (ky)" onPress={() => pay(payWithKy)} />
      <Text>{busy ? 'One moment…' : says && TEXTS[says]}</Text>
    </SafeAreaView>
  );
}

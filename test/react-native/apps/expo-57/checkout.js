/** The example's screen, rendered for a test that reads it and presses its buttons. Its native packages have stand-ins. */
import 'expo/virtual/streams';
import 'expo';
import { createElement } from 'react';
import { create } from 'react-test-renderer';
import { App } from '../../../../playground/react-native/src/App';

let shown;
globalThis.checkout = {
  open() {
    shown = create(createElement(App));
  },
  /** What a customer can read, without the labels of buttons. */
  texts: () => shown.root.findAllByType('Text').map(({ children }) => children.join('')),
  press: (title) => shown.root.findByProps({ title }).props.onPress(),
};

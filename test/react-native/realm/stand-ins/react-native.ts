/** Stands in for `react-native`: the names of components are enough to render. */
export const View = 'View';
export const Text = 'Text';
export const Button = 'Button';
export const AppState = { addEventListener: () => ({ remove() {} }) };

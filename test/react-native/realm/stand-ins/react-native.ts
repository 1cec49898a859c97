/** Of `react-native`: names are enough to render. */
export const View = 'View';
export const Text = 'Text';
export const Button = 'Button';
export const AppState = { addEventListener: () => ({ remove() {} }) };

import 'react-native/setup-env';
import '../../realm/scenarios';

import '../../realm/hermes/lent';
import 'react-native/setup-env';
import '../../realm/scenarios';
import '../../realm/hermes/play';

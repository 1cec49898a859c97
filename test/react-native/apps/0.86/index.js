import 'react-native/Libraries/Core/InitializeCore';
import '../../realm/scenarios';

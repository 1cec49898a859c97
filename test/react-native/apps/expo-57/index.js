// Expo's command line puts this import before all others, so this file does, too.
import 'expo/virtual/streams';
import 'expo';
import { fetch as reactNativesFetch } from 'react-native/Libraries/Network/fetch';
import '../../realm/scenarios';

globalThis.__otherFetch = reactNativesFetch;

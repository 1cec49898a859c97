// As Expo's own command line puts before everything.
import 'expo/virtual/streams';
import 'expo';
import { fetch as reactNativesFetch } from 'react-native/Libraries/Network/fetch';
import '../../realm/scenarios';

globalThis.__otherFetch = reactNativesFetch;

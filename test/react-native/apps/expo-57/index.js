// As Expo's own command line puts before everything.
import 'expo/virtual/streams';
import 'expo';
import '../../realm/scenarios.js';

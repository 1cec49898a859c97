import 'expo';
import '../../realm/scenarios.js';

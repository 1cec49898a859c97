import 'oncefetch/devtools';
import 'oncefetch/form';

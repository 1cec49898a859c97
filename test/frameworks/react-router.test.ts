/** Goal and method: those of `support/drive.ts`, with the app in the folder `react-router`. */
import { APPS } from './support/apps.ts';
import { drive } from './support/drive.ts';

drive(APPS.reactRouter);

// @vitest-environment happy-dom
/** Goal: under happy-dom, relative addresses and faults behave as for the fetch of that page. Method: MSW in that environment. */
import { pagesInNode } from './pages-in-node.js';

pagesInNode();

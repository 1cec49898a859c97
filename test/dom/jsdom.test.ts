// @vitest-environment jsdom
/** Goal: under jsdom, relative addresses and faults behave as for the fetch of that page. Method: MSW in that environment. */
import { pagesInNode } from './pages-in-node.js';

pagesInNode();

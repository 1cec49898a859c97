// @vitest-environment happy-dom
/** Goal: under happy-dom, relative addresses and faults behave as for the fetch of that page. Method: MSW in that environment. */
import { faultNames } from 'oncefetch/testing';
import { pagesInNode } from './pages-in-node.js';

// A clone of its answers never ends when the body breaks off, so that `truncate` takes as long as `limits.attemptMs` there.
pagesInNode(faultNames.filter((fault) => fault !== 'truncate'));

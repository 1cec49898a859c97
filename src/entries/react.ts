'use client';

export { useOperation, usePending } from '../integrations/react.js';

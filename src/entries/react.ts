'use client';

export { useNamespace, useOperation, usePending } from '../integrations/react.js';
